#include "environments/pictures/helper/bitmap.h"

#include <stdlib.h>
#include <turbojpeg.h>

enum { JPEG_QUALITY = 85 };

/* A file of tables only is a success for the library, and has no size. */
static bool jpeg_codec_measure(const struct picture_file *file, struct picture_size *ret)
{
    tjhandle reader = tjInitDecompress();
    int width = 0;
    int height = 0;
    int sampling;
    int colours;
    bool is_read = reader &&
                   tjDecompressHeader3(reader, file->bytes, file->length, &width, &height,
                                       &sampling, &colours) == 0 &&
                   width > 0 && height > 0;

    if (is_read)
        *ret = (struct picture_size){.width = (uint32_t)width, .height = (uint32_t)height};
    tjDestroy(reader);
    return is_read;
}

/* A warning, as of a file that ends too early, counts as an error: other decoders may refuse it. */
static bool jpeg_codec_decode(const struct picture_file *file, WebPPicture *bitmap)
{
    tjhandle reader = tjInitDecompress();
    bool is_read =
        reader && tjDecompress2(reader, file->bytes, file->length, (unsigned char *)bitmap->argb,
                                bitmap->width, bitmap->argb_stride * 4, bitmap->height, TJPF_BGRA,
                                TJFLAG_STOPONWARNING) == 0;

    tjDestroy(reader);
    return is_read;
}

unsigned char *jpeg_codec_encode(WebPPicture *bitmap, size_t limit, size_t *ret_length)
{
    tjhandle writer = tjInitCompress();
    unsigned char *file = NULL;
    unsigned long length = 0;
    bool is_written;

    WebPBlendAlpha(bitmap, 0xffffff);
    is_written = writer &&
                 tjCompress2(writer, (const unsigned char *)bitmap->argb, bitmap->width,
                             bitmap->argb_stride * 4, bitmap->height, TJPF_BGRX, &file, &length,
                             TJSAMP_420, JPEG_QUALITY, 0) == 0 &&
                 length <= limit;
    tjDestroy(writer);
    if (is_written) {
        *ret_length = length;
        return file;
    }
    tjFree(file);
    return NULL;
}

void jpeg_codec_warm_up(void)
{
    uint32_t pixel = 0;
    WebPPicture bitmap;
    size_t length;

    if (!WebPPictureInit(&bitmap))
        return;
    bitmap.use_argb = bitmap.width = bitmap.height = bitmap.argb_stride = 1;
    bitmap.argb = &pixel;
    tjFree(jpeg_codec_encode(&bitmap, PICTURE_BYTES, &length));
}

const struct picture_codec jpeg_codec = {
    .magic = "\xff\xd8\xff",
    .format = PICTURE_JPEG,
    .is_shown_as_is = true,
    .measure = jpeg_codec_measure,
    .decode = jpeg_codec_decode,
};
