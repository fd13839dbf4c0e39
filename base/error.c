#include "base/error.h"

#include <assert.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

int error_set(struct error *err, enum error_code code, const char *format, ...)
{
    va_list arguments;

    assert(err->code == ERROR_NONE && code != ERROR_NONE);
    err->code = code;
    err->number = 0;
    va_start(arguments, format);
    vsnprintf(err->message, sizeof err->message, format, arguments);
    va_end(arguments);
    return -1;
}

int error_set_errno(struct error *err, int number, const char *format, ...)
{
    va_list arguments;
    size_t used;

    assert(err->code == ERROR_NONE);
    err->code = ERROR_SYSTEM;
    err->number = number;
    va_start(arguments, format);
    vsnprintf(err->message, sizeof err->message, format, arguments);
    va_end(arguments);
    used = strlen(err->message);
    snprintf(err->message + used, sizeof err->message - used, ": %s", strerror(number));
    return -1;
}

int error_prefix(struct error *err, const char *format, ...)
{
    char prefix[ERROR_MESSAGE_BYTES / 2];
    char message[ERROR_MESSAGE_BYTES];
    va_list arguments;
    size_t used;

    assert(err->code != ERROR_NONE);
    va_start(arguments, format);
    vsnprintf(prefix, sizeof prefix, format, arguments);
    va_end(arguments);
    memcpy(message, err->message, sizeof message);
    snprintf(err->message, sizeof err->message, "%s: ", prefix);
    used = strlen(err->message);
    snprintf(err->message + used, sizeof err->message - used, "%.*s",
             (int)(sizeof err->message - used - 1), message);
    return -1;
}

bool error_is_protocol(const struct error *err)
{
    return err->code >= ERROR_PARSE && err->code <= ERROR_INTERNAL;
}
