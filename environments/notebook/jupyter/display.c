/* Displays values by the same rules as rich.py. */
#include "environments/notebook/jupyter/display.h"

#include "base/base64.h"
#include "base/cleanup.h"
#include "base/json.h"
#include "base/memory.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
    DISPLAY_MOST_FILES = 32,       /* of a cell */
    DISPLAY_MOST_BYTES = 16 << 20, /* of a file */
    DISPLAY_MOST_NUMBER = 1000000, /* of the last file */
    DISPLAY_LONG_TEXT = 4000,      /* of a value that can also be a page */
};

static const struct display_picture {
    const char *type;
    const char *extension;
    bool is_text;
} display_pictures[] = {
    {"image/png", "png", false},
    {"image/jpeg", "jpg", false},
    {"image/svg+xml", "svg", true},
};

static void display_write(int fd, const char *text, size_t length)
{
    while (length > 0) {
        ssize_t count = write(fd, text, length);

        if (count < 0 && errno != EINTR)
            return; /* nobody reads it */
        text += count > 0 ? count : 0;
        length -= count > 0 ? (size_t)count : 0;
    }
}

void jupyter_display_print(int fd, const json_t *text)
{
    if (json_is_string(text))
        display_write(fd, json_string_value(text), json_string_length(text));
}

void jupyter_display_say(int fd, const char *format, ...)
{
    AUTO_FREE char *text = NULL;
    va_list arguments;

    va_start(arguments, format);
    text = memory_format_list(format, arguments);
    va_end(arguments);
    display_write(fd, text, strlen(text));
    display_write(fd, "\n", 1);
}

static void display_line(const json_t *text)
{
    jupyter_display_print(STDOUT_FILENO, text);
    if (json_is_string(text))
        display_write(STDOUT_FILENO, "\n", 1);
}

void jupyter_display_begin(struct jupyter_display *display)
{
    display->files = 0;
}

/* A new file, whose name is in *RET_NAME (owned by the caller). -1 with errno. */
static int display_new_file(struct jupyter_display *display, const char *extension, char **ret_name)
{
    while (display->number < DISPLAY_MOST_NUMBER) {
        AUTO_FREE char *name = memory_format("display-%u.%s", ++display->number, extension);
        int fd = openat(display->directory, name,
                        O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0644);

        if (fd >= 0)
            *ret_name = STEAL_PTR(name);
        if (fd >= 0 || errno != EEXIST)
            return fd;
    }
    errno = EEXIST;
    return -1;
}

/* False: the cell has had its share, or this is too large; the person is told. */
static bool display_may_save(struct jupyter_display *display, size_t length, const char *extension)
{
    if (length > DISPLAY_MOST_BYTES) {
        jupyter_display_say(STDERR_FILENO, "%zu bytes of %s are not saved: at most %d are", length,
                            extension, DISPLAY_MOST_BYTES);
        return false;
    }
    display->files++;
    if (display->files == DISPLAY_MOST_FILES + 1)
        jupyter_display_say(STDERR_FILENO,
                            "a cell saves at most %d of what it displays; the others are lost",
                            DISPLAY_MOST_FILES);
    return display->files <= DISPLAY_MOST_FILES;
}

/* True when it is a file now, whose name has been printed. */
static bool display_save(struct jupyter_display *display, const char *bytes, size_t length,
                         const char *extension)
{
    AUTO_FREE char *name = NULL;
    AUTO_CLOSE int fd = -1;

    if (!display_may_save(display, length, extension))
        return false;
    fd = display_new_file(display, extension, &name);
    if (fd < 0) {
        jupyter_display_say(STDERR_FILENO, "what is displayed cannot be saved: %s",
                            strerror(errno));
        return false;
    }
    display_write(fd, bytes, length);
    jupyter_display_say(STDOUT_FILENO, "[%s]", name);
    return true;
}

/* Base64 in lines, as kernels write it, is one line for us. The bytes are owned by the caller. */
static char *display_decode(const json_t *data, size_t *ret_length)
{
    AUTO_FREE char *text = memory_copy_string(json_string_value(data));
    size_t length = 0;

    for (const char *next = text; *next; next++)
        if (!strchr(" \t\r\n", *next))
            text[length++] = *next;
    return base64_decode(BASE64_STANDARD, text, length, ret_length);
}

static bool display_save_picture(struct jupyter_display *display, const json_t *data,
                                 const struct display_picture *picture)
{
    AUTO_FREE char *bytes = NULL;
    size_t length;

    if (picture->is_text)
        return display_save(display, json_string_value(data), json_string_length(data),
                            picture->extension);
    bytes = display_decode(data, &length);
    if (bytes)
        return display_save(display, bytes, length, picture->extension);
    jupyter_display_say(STDERR_FILENO, "%s is not base64", picture->type);
    return false;
}

/* Shows the best picture in DATA. False if there is none. */
static bool display_show_picture(struct jupyter_display *display, const json_t *data)
{
    for (size_t i = 0; i < ARRAY_SIZE(display_pictures); i++) {
        const json_t *form = json_object_get(data, display_pictures[i].type);

        if (json_is_string(form) && json_string_length(form) > 0)
            return display_save_picture(display, form, &display_pictures[i]);
    }
    return false;
}

/* True if TEXT is missing, or is only the default "<...>" of an object or the name of a figure that
 * is shown. */
static bool display_is_no_text(const json_t *text, bool has_picture)
{
    const char *string = json_string_value(text);
    size_t length = json_string_length(text);

    if (!string || length < 2 || string[0] != '<' || string[length - 1] != '>' ||
        strchr(string, '\n'))
        return !string;
    return has_picture || strstr(string, " object") || strstr(string, " at 0x");
}

static void display_show_text(struct jupyter_display *display, const json_t *data, bool has_picture)
{
    const json_t *text = json_object_get(data, "text/plain");
    const json_t *page = json_object_get(data, "text/html");
    const json_t *latex = json_object_get(data, "text/latex");

    if (display_is_no_text(text, has_picture) || json_string_length(text) > DISPLAY_LONG_TEXT) {
        if (has_picture || (json_is_string(page) && display_save(display, json_string_value(page),
                                                                 json_string_length(page), "html")))
            return;
        text = json_is_string(latex) ? latex : text;
    }
    display_line(text);
}

void jupyter_display_show(struct jupyter_display *display, const json_t *data)
{
    const bool has_picture = display_show_picture(display, data);
    const json_t *markdown = json_object_get(data, "text/markdown");

    if (json_is_string(markdown))
        display_line(markdown);
    else
        display_show_text(display, data, has_picture);
}
