/* GIF, of which the first image is shown. Not every model takes the format, so it becomes PNG. */
#include "base/memory.h"
#include "environments/pictures/helper/bitmap.h"

#include <gif_lib.h>
#include <string.h>

/* How interlaced rows follow each other. */
static const struct gif_pass {
    int first;
    int step;
} gif_passes[] = {{0, 8}, {4, 8}, {2, 4}, {1, 2}}, gif_whole = {0, 1};

static int gif_codec_read(GifFileType *gif, GifByteType *place, int length)
{
    struct picture_file *rest = gif->UserData;
    size_t taken = (size_t)length < rest->length ? (size_t)length : rest->length;

    memcpy(place, rest->bytes, taken);
    rest->bytes += taken;
    rest->length -= taken;
    return (int)taken;
}

static bool gif_codec_measure(const struct picture_file *file, struct picture_size *ret)
{
    struct picture_file rest = *file;
    GifFileType *gif = DGifOpen(&rest, gif_codec_read, NULL);

    if (!gif)
        return false;
    *ret = (struct picture_size){.width = (uint32_t)gif->SWidth, .height = (uint32_t)gif->SHeight};
    DGifCloseFile(gif, NULL);
    return ret->width > 0 && ret->height > 0;
}

/* Notes in *TRANSPARENT the colour that an extension in front of the image names. */
static bool gif_codec_skip_extension(GifFileType *gif, int *transparent)
{
    GraphicsControlBlock control;
    GifByteType *block;
    int kind;

    if (DGifGetExtension(gif, &kind, &block) == GIF_ERROR)
        return false;
    if (kind == GRAPHICS_EXT_FUNC_CODE && block &&
        DGifExtensionToGCB(block[0], block + 1, &control) == GIF_OK)
        *transparent = control.TransparentColor;
    while (block)
        if (DGifGetExtensionNext(gif, &block) == GIF_ERROR)
            return false;
    return true;
}

/* Goes on to the first image. */
static bool gif_codec_find_image(GifFileType *gif, int *transparent)
{
    GifRecordType type = UNDEFINED_RECORD_TYPE;

    while (DGifGetRecordType(gif, &type) == GIF_OK && type == EXTENSION_RECORD_TYPE)
        if (!gif_codec_skip_extension(gif, transparent))
            return false;
    return type == IMAGE_DESC_RECORD_TYPE && DGifGetImageDesc(gif) == GIF_OK;
}

static uint32_t gif_codec_pixel(const ColorMapObject *colours, int index)
{
    const GifColorType *colour = &colours->Colors[index];

    return 0xff000000U | (uint32_t)colour->Red << 16 | (uint32_t)colour->Green << 8 | colour->Blue;
}

/* Reads the rows of PASS. */
static bool gif_codec_read_pass(GifFileType *gif, const struct gif_pass *pass, int transparent,
                                WebPPicture *bitmap)
{
    const GifImageDesc *image = &gif->Image;
    const ColorMapObject *colours = image->ColorMap ? image->ColorMap : gif->SColorMap;
    GifPixelType row[UINT16_MAX];

    for (int y = pass->first; y < image->Height; y += pass->step) {
        uint32_t *pixels = bitmap->argb + (image->Top + y) * bitmap->argb_stride + image->Left;

        if (DGifGetLine(gif, row, image->Width) == GIF_ERROR)
            return false;
        for (int x = 0; x < image->Width; x++)
            if (row[x] != transparent && row[x] < colours->ColorCount)
                pixels[x] = gif_codec_pixel(colours, row[x]);
    }
    return true;
}

static bool gif_codec_read_image(GifFileType *gif, WebPPicture *bitmap)
{
    const GifImageDesc *image = &gif->Image;
    int transparent = NO_TRANSPARENT_COLOR;

    if (!gif_codec_find_image(gif, &transparent) || !(image->ColorMap || gif->SColorMap) ||
        image->Left + image->Width > bitmap->width || image->Top + image->Height > bitmap->height)
        return false;
    if (!image->Interlace)
        return gif_codec_read_pass(gif, &gif_whole, transparent, bitmap);
    for (size_t i = 0; i < ARRAY_SIZE(gif_passes); i++)
        if (!gif_codec_read_pass(gif, &gif_passes[i], transparent, bitmap))
            return false;
    return true;
}

static bool gif_codec_decode(const struct picture_file *file, WebPPicture *bitmap)
{
    struct picture_file rest = *file;
    GifFileType *gif = DGifOpen(&rest, gif_codec_read, NULL);
    bool is_read = gif && gif_codec_read_image(gif, bitmap);

    if (gif)
        DGifCloseFile(gif, NULL);
    return is_read;
}

const struct picture_codec gif_codec = {
    .magic = "GIF8",
    .format = PICTURE_PNG,
    .measure = gif_codec_measure,
    .decode = gif_codec_decode,
};
