#include "base/error.h"

#include "base/utf8.h"

#include <assert.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* A message that is too long is cut between characters. */
__attribute__((format(printf, 3, 0))) static void format_text(char *text, size_t size,
                                                              const char *format, va_list arguments)
{
    int length = vsnprintf(text, size, format, arguments);

    if (length >= (int)size)
        text[utf8_boundary_before(text, size - 1)] = '\0';
}

/* Puts TEXT behind the message. */
static void error_append(struct error *err, const char *text)
{
    size_t used = strlen(err->message);
    size_t room = sizeof err->message - 1 - used;
    size_t length = strlen(text);

    if (length > room)
        length = utf8_boundary_before(text, room);
    memcpy(err->message + used, text, length);
    err->message[used + length] = '\0';
}

int error_set(struct error *err, enum error_code code, const char *format, ...)
{
    va_list arguments;

    assert(err->code == ERROR_NONE && code != ERROR_NONE);
    err->code = code;
    err->number = 0;
    va_start(arguments, format);
    format_text(err->message, sizeof err->message, format, arguments);
    va_end(arguments);
    return -1;
}

int error_set_errno(struct error *err, int number, const char *format, ...)
{
    va_list arguments;

    assert(err->code == ERROR_NONE);
    err->code = ERROR_SYSTEM;
    err->number = number;
    va_start(arguments, format);
    format_text(err->message, sizeof err->message, format, arguments);
    va_end(arguments);
    error_append(err, ": ");
    error_append(err, strerror(number));
    return -1;
}

int error_prefix(struct error *err, const char *format, ...)
{
    struct error before = *err;
    char prefix[ERROR_MESSAGE_BYTES / 2]; /* the other half is for what went wrong */
    va_list arguments;

    assert(err->code != ERROR_NONE);
    va_start(arguments, format);
    format_text(prefix, sizeof prefix, format, arguments);
    va_end(arguments);
    err->message[0] = '\0';
    error_append(err, prefix);
    error_append(err, ": ");
    error_append(err, before.message);
    return -1;
}

bool error_is_protocol(const struct error *err)
{
    return err->code >= ERROR_PARSE && err->code <= ERROR_INTERNAL;
}
