#include "environments/pictures/helper/bitmap.h"

#include <png.h>
#include <stdlib.h>

static bool png_codec_begin(const struct picture_file *file, png_image *image)
{
    *image = (png_image){.version = PNG_IMAGE_VERSION};
    return png_image_begin_read_from_memory(image, file->bytes, file->length);
}

static bool png_codec_measure(const struct picture_file *file, struct picture_size *ret)
{
    png_image image;

    if (!png_codec_begin(file, &image))
        return false;
    *ret = (struct picture_size){.width = image.width, .height = image.height};
    png_image_free(&image);
    return true;
}

static bool png_codec_decode(const struct picture_file *file, WebPPicture *bitmap)
{
    png_image image;

    if (!png_codec_begin(file, &image))
        return false;
    image.format = PNG_FORMAT_BGRA;
    return png_image_finish_read(&image, NULL, bitmap->argb, bitmap->argb_stride * 4, NULL);
}

unsigned char *png_codec_encode(const WebPPicture *bitmap, size_t limit, size_t *ret_length)
{
    png_image image = {
        .version = PNG_IMAGE_VERSION,
        .width = (png_uint_32)bitmap->width,
        .height = (png_uint_32)bitmap->height,
        .format = PNG_FORMAT_BGRA,
        .flags = PNG_IMAGE_FLAG_FAST,
    };
    png_alloc_size_t length = limit;
    unsigned char *file = malloc(limit);

    /* It fails at the limit, as it should. */
    if (file && png_image_write_to_memory(&image, file, &length, 0, bitmap->argb,
                                          bitmap->argb_stride * 4, NULL)) {
        *ret_length = length;
        return file;
    }
    free(file);
    return NULL;
}

const struct picture_codec png_codec = {
    .magic = "\x89PNG\r\n\x1a\n",
    .format = PICTURE_PNG,
    .is_shown_as_is = true,
    .measure = png_codec_measure,
    .decode = png_codec_decode,
};
