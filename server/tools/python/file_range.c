#include "server/tools/python/file_range.h"

#include "base/json.h"
#include "base/memory.h"
#include "base/utf8.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { DIGITS_MOST = 18 }; /* fit into 63 bits */

static int file_range_number(const json_t *values, const char *name, uint64_t *ret,
                             struct error *err)
{
    const char *text = json_object_get_string(values, name);
    size_t length = text ? strlen(text) : 0;

    if (!text)
        return 0;
    if (length == 0 || length > DIGITS_MOST || strspn(text, "0123456789") != length)
        return error_set(err, ERROR_INVALID_PARAMS, "%s must be a number of bytes", name);
    *ret = strtoull(text, NULL, 10);
    return 0;
}

int file_range_parse(struct file_range *range, const json_t *values, struct error *err)
{
    *range = (struct file_range){0};
    if (file_range_number(values, "offset", &range->offset, err) < 0 ||
        file_range_number(values, "length", &range->length, err) < 0)
        return -1;
    if (range->length == 0 && json_object_get(values, "length"))
        return error_set(err, ERROR_INVALID_PARAMS, "length must be at least 1");
    return 0;
}

static int file_range_measure(struct file_range *range, int fd, struct error *err)
{
    struct stat status;

    if (fstat(fd, &status) < 0)
        return error_set_errno(err, errno, "cannot look at the file");
    range->size = (uint64_t)status.st_size;
    if (range->offset > range->size)
        return error_set(err, ERROR_INVALID_PARAMS,
                         "offset %" PRIu64 " is behind the end of the file, which has %" PRIu64
                         " bytes",
                         range->offset, range->size);
    return 0;
}

/* The file may have become shorter. */
static int file_range_fill(struct file_range *range, int fd, size_t most, struct error *err)
{
    size_t done = 0;
    ssize_t count;

    range->bytes = memory_new(most + 1, 1);
    do {
        count = pread(fd, range->bytes + done, most - done, (off_t)(range->offset + done));
        done += count > 0 ? (size_t)count : 0;
    } while ((count > 0 && done < most) || (count < 0 && errno == EINTR));
    range->length = done;
    return count < 0 ? error_set_errno(err, errno, "cannot read the file") : 0;
}

/* How much of LENGTH bytes of text there is up to the end of the last whole line. */
static size_t file_range_whole_lines(const char *text, size_t length)
{
    const char *newline = memrchr(text, '\n', length);

    return newline ? (size_t)(newline + 1 - text) : length;
}

/* Shortens a piece that ends before the file does so that it ends well. */
static void file_range_cut(struct file_range *range, bool was_asked)
{
    size_t length = range->length;

    if (!was_asked && length > FILE_RANGE_TEXT)
        length = FILE_RANGE_TEXT;
    if (range->offset + length < range->size) {
        length = utf8_boundary_before(range->bytes, length);
        if (!was_asked)
            length = file_range_whole_lines(range->bytes, length);
    }
    range->is_text = utf8_is_valid(range->bytes, length) && !memchr(range->bytes, 0, length) &&
                     (length > 0 || range->length == 0);
    if (range->is_text)
        range->length = length;
}

int file_range_read(struct file_range *range, int fd, struct error *err)
{
    bool was_asked = range->length > 0;
    uint64_t most =
        was_asked && range->length < FILE_RANGE_BYTES ? range->length : FILE_RANGE_BYTES;

    if (file_range_measure(range, fd, err) < 0)
        return -1;
    if (most > range->size - range->offset)
        most = range->size - range->offset;
    if (file_range_fill(range, fd, (size_t)most, err) < 0)
        return -1;
    file_range_cut(range, was_asked);
    return 0;
}

bool file_range_has_more(const struct file_range *range)
{
    return range->offset + range->length < range->size;
}

void file_range_deinit(struct file_range *range)
{
    free(range->bytes);
    *range = (struct file_range){0};
}
