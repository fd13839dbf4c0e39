/* pyexecd-picture: reads one picture from standard input and writes the picture for a model to
 * standard output, as picture_answer.h says. The server starts it, as a contained tree, for each
 * picture that a script has left.
 *
 * The whole picture is decoded even when it is then passed on as it is: after a broken picture in a
 * conversation the services of some models refuse every further message. */
#include "base/memory.h"
#include "environments/pictures/helper/bitmap.h"

#include <seccomp.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <unistd.h>

enum {
    SMALLER_TRIES = 4, /* each with about half of the pixels */
};

static const struct picture_codec *const picture_codecs[] = {
    &png_codec,
    &jpeg_codec,
    &webp_codec,
    &gif_codec,
};

static bool picture_write_all(const void *data, size_t length)
{
    const char *bytes = data;

    while (length > 0) {
        ssize_t count = write(STDOUT_FILENO, bytes, length);

        if (count <= 0)
            return false;
        bytes += count;
        length -= (size_t)count;
    }
    return true;
}

/* The one way out: ANSWER and its BYTES. */
static _Noreturn void picture_tell(const struct picture_answer *answer, const void *bytes)
{
    bool is_written =
        picture_write_all(answer, sizeof *answer) && picture_write_all(bytes, answer->length);

    _exit(is_written ? 0 : 1);
}

static _Noreturn void picture_refuse(enum picture_verdict verdict, struct picture_size size)
{
    const struct picture_answer answer = {
        .verdict = verdict, .file_width = size.width, .file_height = size.height};

    picture_tell(&answer, NULL);
}

/* Standard input, up to one byte more than a file may have. */
static struct picture_file picture_read_all(void)
{
    unsigned char *bytes = malloc(PICTURE_FILE_BYTES + 1);
    struct picture_file file = {.bytes = bytes};
    ssize_t count = bytes ? 1 : 0;

    while (count > 0) {
        count = read(STDIN_FILENO, bytes + file.length, PICTURE_FILE_BYTES + 1 - file.length);
        file.length += count > 0 ? (size_t)count : 0;
    }
    return file;
}

static bool picture_has_magic(const struct picture_file *file, const char *magic)
{
    size_t length = strlen(magic);

    if (file->length < length)
        return false;
    for (size_t i = 0; i < length; i++)
        if (magic[i] != '?' && (unsigned char)magic[i] != file->bytes[i])
            return false;
    return true;
}

static const struct picture_codec *picture_find_codec(const struct picture_file *file)
{
    for (size_t i = 0; i < ARRAY_SIZE(picture_codecs); i++)
        if (picture_has_magic(file, picture_codecs[i]->magic))
            return picture_codecs[i];
    return NULL;
}

static bool picture_decode(const struct picture_codec *codec, const struct picture_file *file,
                           struct picture_size size, WebPPicture *bitmap)
{
    if (!WebPPictureInit(bitmap))
        return false;
    bitmap->use_argb = 1;
    bitmap->width = (int)size.width;
    bitmap->height = (int)size.height;
    if (!WebPPictureAlloc(bitmap))
        return false;
    memset(bitmap->argb, 0, (size_t)bitmap->argb_stride * 4 * size.height);
    return codec->decode(file, bitmap);
}

/* Scales BITMAP down so that its longer side has at most SIDE pixels. */
static bool picture_shrink(WebPPicture *bitmap, int side)
{
    int longer = bitmap->width > bitmap->height ? bitmap->width : bitmap->height;
    int width = (int)((int64_t)bitmap->width * side / longer);
    int height = (int)((int64_t)bitmap->height * side / longer);

    if (longer <= side)
        return true;
    return WebPPictureRescale(bitmap, width > 0 ? width : 1, height > 0 ? height : 1);
}

static void *picture_encode(WebPPicture *bitmap, struct picture_answer *answer)
{
    size_t length = 0;
    void *bytes = NULL;

    if (answer->format == PICTURE_PNG)
        bytes = png_codec_encode(bitmap, PICTURE_BYTES, &length);
    if (!bytes) {
        answer->format = PICTURE_JPEG;
        bytes = jpeg_codec_encode(bitmap, PICTURE_BYTES, &length);
    }
    answer->width = (uint32_t)bitmap->width;
    answer->height = (uint32_t)bitmap->height;
    answer->length = (uint32_t)length;
    return bytes;
}

/* Shows BITMAP as large as it can be. */
static _Noreturn void picture_show_scaled(WebPPicture *bitmap, struct picture_answer *answer)
{
    int side = PICTURE_SIDE_PIXELS;

    for (int tries = 0; tries < SMALLER_TRIES && picture_shrink(bitmap, side); tries++) {
        void *bytes = picture_encode(bitmap, answer);

        if (bytes)
            picture_tell(answer, bytes);
        side = side * 7 / 10;
    }
    picture_refuse(PICTURE_TOO_LARGE,
                   (struct picture_size){answer->file_width, answer->file_height});
}

static _Noreturn void picture_show(const struct picture_codec *codec,
                                   const struct picture_file *file, WebPPicture *bitmap)
{
    struct picture_answer answer = {
        .verdict = PICTURE_SHOWN,
        .format = codec->format,
        .width = (uint32_t)bitmap->width,
        .height = (uint32_t)bitmap->height,
        .length = (uint32_t)file->length,
        .file_width = (uint32_t)bitmap->width,
        .file_height = (uint32_t)bitmap->height,
    };

    if (codec->is_shown_as_is && file->length <= PICTURE_BYTES &&
        answer.width <= PICTURE_SIDE_PIXELS && answer.height <= PICTURE_SIDE_PIXELS)
        picture_tell(&answer, file->bytes);
    picture_show_scaled(bitmap, &answer);
}

/* A system call that is allowed when an argument compares so. */
struct picture_rule {
    int number;
    unsigned count; /* of conditions: 0 or 1 */
    struct scmp_arg_cmp condition;
};

static const struct picture_rule picture_rules[] = {
    {SCMP_SYS(read), 1, SCMP_CMP64(0, SCMP_CMP_EQ, STDIN_FILENO)},
    {SCMP_SYS(write), 1, SCMP_CMP64(0, SCMP_CMP_EQ, STDOUT_FILENO)},
    {SCMP_SYS(mmap), 1, SCMP_CMP64(2, SCMP_CMP_MASKED_EQ, PROT_EXEC, 0)},
    {SCMP_SYS(brk), 0, {0}},
    {SCMP_SYS(mremap), 0, {0}},
    {SCMP_SYS(munmap), 0, {0}},
    {SCMP_SYS(exit_group), 0, {0}},
};

static int picture_load_filter(scmp_filter_ctx filter)
{
    int ret = 0;

    for (size_t i = 0; ret >= 0 && i < ARRAY_SIZE(picture_rules); i++)
        ret = seccomp_rule_add_array(filter, SCMP_ACT_ALLOW, picture_rules[i].number,
                                     picture_rules[i].count, &picture_rules[i].condition);
    return ret < 0 ? ret : seccomp_load(filter);
}

/* From now on this process can read its standard input, write its standard output and have memory
 * that is not executable, and do nothing else: any other system call ends it. -1 when the kernel
 * cannot filter. */
static int picture_confine(void)
{
    scmp_filter_ctx filter = seccomp_init(SCMP_ACT_KILL_PROCESS);
    int ret;

    if (!filter || prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0)
        return -1;
    ret = picture_load_filter(filter);
    seccomp_release(filter);
    return ret < 0 ? -1 : 0;
}

int main(void)
{
    const struct picture_codec *codec;
    struct picture_size size = {0};
    struct picture_file file;
    WebPPicture bitmap;

    jpeg_codec_warm_up();
    if (picture_confine() < 0)
        return 1;
    file = picture_read_all();
    if (file.length > PICTURE_FILE_BYTES)
        picture_refuse(PICTURE_TOO_LARGE, size);
    codec = picture_find_codec(&file);
    if (!codec || !codec->measure(&file, &size))
        picture_refuse(PICTURE_UNREADABLE, size);
    if ((uint64_t)size.width * size.height > PICTURE_FILE_PIXELS)
        picture_refuse(PICTURE_TOO_LARGE, size);
    if (!picture_decode(codec, &file, size, &bitmap))
        picture_refuse(PICTURE_UNREADABLE, size);
    picture_show(codec, &file, &bitmap);
}
