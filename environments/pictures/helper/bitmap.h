/* A decoded picture, and the codecs that read and write pictures.
 *
 * The pixels are libwebp's: words of alpha, red, green and blue, which the other libraries call
 * BGRA on a little-endian machine. So all of them decode into the same memory. */
#pragma once

#include "environments/pictures/picture_answer.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <webp/encode.h>

_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "the pixels are BGRA in memory");

/* A file in memory. */
struct picture_file {
    const unsigned char *bytes;
    size_t length;
};

struct picture_size {
    uint32_t width;
    uint32_t height;
};

/* A format that is read. */
struct picture_codec {
    const char *magic;          /* how a file of the format begins; a '?' stands for any byte */
    enum picture_format format; /* of the picture that is shown */
    bool is_shown_as_is;        /* clients take the format */

    /* The size in the header, before anything is decoded. False: unreadable. */
    bool (*measure)(const struct picture_file *file, struct picture_size *ret);

    /* Decodes the whole FILE into BITMAP, which has the size that was measured and is transparent.
     * False: unreadable. */
    bool (*decode)(const struct picture_file *file, WebPPicture *bitmap);
};

extern const struct picture_codec png_codec;
extern const struct picture_codec jpeg_codec;
extern const struct picture_codec webp_codec;
extern const struct picture_codec gif_codec;

/* BITMAP as a file of at most LIMIT bytes. Owned by the caller; NULL when it would be larger. */
unsigned char *png_codec_encode(const WebPPicture *bitmap, size_t limit, size_t *ret_length);

/* The same as JPEG; transparent pixels become white. */
unsigned char *jpeg_codec_encode(WebPPicture *bitmap, size_t limit, size_t *ret_length);

/* Makes the library look at the CPU, for which it may open files, while it still may. */
void jpeg_codec_warm_up(void);
