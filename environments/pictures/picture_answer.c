#include "environments/pictures/picture_answer.h"

#include <string.h>

static const char *const picture_mime_types[] = {
    [PICTURE_PNG] = "image/png",
    [PICTURE_JPEG] = "image/jpeg",
    [PICTURE_WEBP] = "image/webp",
};

static bool picture_answer_is_side(uint32_t side)
{
    return side > 0 && side <= PICTURE_SIDE_PIXELS;
}

bool picture_answer_read(struct picture_answer *ret, const char *data, size_t length)
{
    if (length < sizeof *ret)
        return false;
    memcpy(ret, data, sizeof *ret);
    if (ret->verdict != PICTURE_SHOWN)
        return ret->verdict < PICTURE_SHOWN;
    return ret->format < PICTURE_FORMATS && picture_answer_is_side(ret->width) &&
           picture_answer_is_side(ret->height) && ret->length > 0 && ret->length <= PICTURE_BYTES &&
           ret->length == length - sizeof *ret;
}

const char *picture_format_mime_type(enum picture_format format)
{
    return picture_mime_types[format];
}
