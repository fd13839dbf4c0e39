#include "base/error.h"

#include "base/memory.h"
#include "base/printable.h"
#include "base/utf8.h"

#include <assert.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* A text that is too long is cut between characters. */
__attribute__((format(printf, 3, 0))) static size_t
format_text(char *text, size_t size, const char *format, va_list arguments)
{
    int length = vsnprintf(text, size, format, arguments);

    if (length >= (int)size) {
        length = (int)utf8_boundary_before(text, size - 1);
        text[length] = '\0';
    }
    return length > 0 ? (size_t)length : 0;
}

/* The same for TEXT as it is. Returns how much of it was copied. */
static size_t error_copy_text(char *to, size_t size, const char *text)
{
    size_t length = strlen(text);

    if (length >= size)
        length = utf8_boundary_before(text, size - 1);
    memcpy(to, text, length);
    to[length] = '\0';
    return length;
}

static void error_read(const struct error *err, char text[static ERROR_FULL_BYTES])
{
    snprintf(text, ERROR_FULL_BYTES, "%s%s", err->message, err->rest ? err->rest->text : "");
}

/* TEXT may hold words of others: an engine, a registry, an installer. */
static void error_write(struct error *err, char *text)
{
    size_t length;

    printable_clean_lines(text);
    length = error_copy_text(err->message, sizeof err->message, text);
    if (err->rest)
        (void)error_copy_text(err->rest->text, sizeof err->rest->text, text + length);
}

static size_t error_room(const struct error *err)
{
    return err->rest ? ERROR_FULL_BYTES : ERROR_MESSAGE_BYTES;
}

int error_set(struct error *err, enum error_code code, const char *format, ...)
{
    char text[ERROR_FULL_BYTES];
    va_list arguments;

    assert(err->code == ERROR_NONE && code != ERROR_NONE);
    err->code = code;
    err->number = 0;
    va_start(arguments, format);
    (void)format_text(text, sizeof text, format, arguments);
    va_end(arguments);
    error_write(err, text);
    return -1;
}

int error_set_errno(struct error *err, int number, const char *format, ...)
{
    char text[ERROR_FULL_BYTES];
    const char *reason = strerror(number);
    size_t room = error_room(err) - strlen(": ") - strlen(reason);
    size_t length;
    va_list arguments;

    assert(err->code == ERROR_NONE);
    err->code = ERROR_SYSTEM;
    err->number = number;
    va_start(arguments, format);
    length = format_text(text, room, format, arguments);
    va_end(arguments);
    snprintf(text + length, sizeof text - length, ": %s", reason);
    error_write(err, text);
    return -1;
}

int error_prefix(struct error *err, const char *format, ...)
{
    char before[ERROR_FULL_BYTES];
    char text[ERROR_FULL_BYTES];
    size_t length;
    va_list arguments;

    assert(err->code != ERROR_NONE);
    error_read(err, before);
    va_start(arguments, format);
    /* The other half is for the message before. */
    length = format_text(text, error_room(err) / 2, format, arguments);
    va_end(arguments);
    length += error_copy_text(text + length, sizeof text - length, ": ");
    (void)error_copy_text(text + length, sizeof text - length, before);
    error_write(err, text);
    return -1;
}

void error_copy(struct error *err, const struct error *other)
{
    char text[ERROR_FULL_BYTES];

    assert(other->code != ERROR_NONE);
    err->code = other->code;
    err->number = other->number;
    error_read(other, text);
    error_write(err, text);
}

void error_clear(struct error *err)
{
    err->code = ERROR_NONE;
    err->number = 0;
}

char *error_text(const struct error *err)
{
    assert(err->code != ERROR_NONE);
    return memory_format("%s%s", err->message, err->rest ? err->rest->text : "");
}

bool error_is_protocol(const struct error *err)
{
    return err->code >= ERROR_PARSE && err->code <= ERROR_INTERNAL;
}
