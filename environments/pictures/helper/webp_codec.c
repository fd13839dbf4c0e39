#include "environments/pictures/helper/bitmap.h"

#include <webp/decode.h>

/* An animation is refused, because not every model reads it. */
static bool webp_codec_measure(const struct picture_file *file, struct picture_size *ret)
{
    WebPBitstreamFeatures features;

    if (WebPGetFeatures(file->bytes, file->length, &features) != VP8_STATUS_OK ||
        features.has_animation)
        return false;
    *ret = (struct picture_size){.width = (uint32_t)features.width,
                                 .height = (uint32_t)features.height};
    return true;
}

static bool webp_codec_decode(const struct picture_file *file, WebPPicture *bitmap)
{
    size_t room = (size_t)bitmap->argb_stride * 4 * (size_t)bitmap->height;

    return WebPDecodeBGRAInto(file->bytes, file->length, (uint8_t *)bitmap->argb, room,
                              bitmap->argb_stride * 4);
}

const struct picture_codec webp_codec = {
    .magic = "RIFF????WEBP",
    .format = PICTURE_WEBP,
    .is_shown_as_is = true,
    .measure = webp_codec_measure,
    .decode = webp_codec_decode,
};
