/* The answer of pyexecd-picture, the helper that decodes pictures, on its standard output about the
 * picture on its standard input: a struct picture_answer and `length` bytes. Both sides are built
 * together, so the struct is sent as it is. The server trusts none of it: a hostile picture may
 * have taken the helper over. */
#pragma once

#include <stdint.h>

enum {
    /* Models look at no more pixels: Anthropic's scale a longer side down to 1568 pixels, OpenAI's
     * a shorter side to 768, Gemini's cut tiles of 768. A larger picture costs time and shows no
     * more. */
    PICTURE_SIDE_PIXELS = 1568,
    PICTURE_BYTES = 750 * 1024, /* below 1 MiB as base64, the lowest limit of agents */

    PICTURE_FILE_BYTES = 32 * 1024 * 1024, /* a larger file is not read, ... */
    PICTURE_FILE_PIXELS = 40 * 1000000,    /* ... nor a picture of more pixels: a second's work */
};

enum picture_verdict {
    PICTURE_UNREADABLE, /* broken, or of a format or kind that is not read */
    PICTURE_TOO_LARGE,
    PICTURE_SHOWN,
};

/* The formats that clients and models take. */
enum picture_format {
    PICTURE_PNG,
    PICTURE_JPEG,
    PICTURE_WEBP,
    PICTURE_FORMATS,
};

struct picture_answer {
    uint32_t verdict;     /* of enum picture_verdict */
    uint32_t format;      /* of enum picture_format; this and the next only if it is shown */
    uint32_t width;       /* pixels */
    uint32_t height;      /* likewise */
    uint32_t length;      /* bytes that follow */
    uint32_t file_width;  /* of the file; 0: not known */
    uint32_t file_height; /* likewise */
};
