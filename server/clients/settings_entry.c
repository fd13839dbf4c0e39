#include "server/clients/settings_entry.h"

#include "base/cleanup.h"
#include "base/memory.h"

#include <stdarg.h>
#include <string.h>

/* The bytes that go on a character of UTF-8 are in no column of their own. */
static bool utf8_goes_on(char character)
{
    return ((unsigned char)character & 0xc0) == 0x80;
}

int settings_fault(struct error *err, const char *text, size_t offset, const char *format, ...)
{
    AUTO_FREE char *message = NULL;
    size_t line = 1;
    size_t column = 1;
    va_list arguments;

    va_start(arguments, format);
    message = memory_format_list(format, arguments);
    va_end(arguments);
    for (size_t i = 0; i < offset && text[i]; i++) {
        if (text[i] == '\n') {
            line++;
            column = 1;
        } else if (!utf8_goes_on(text[i])) {
            column++;
        }
    }
    return error_set(err, ERROR_CONFIG, "%zu:%zu: %s", line, column, message);
}

char *settings_spliced(const char *text, const struct settings_splice *splices, size_t count)
{
    const size_t length = strlen(text);
    size_t room = length + 1;
    size_t at = 0;
    char *result;
    char *end;

    for (size_t i = 0; i < count; i++)
        room += strlen(splices[i].text);
    result = end = memory_new(room, 1);
    for (size_t i = 0; i < count; i++) {
        end = mempcpy(end, text + at, splices[i].start - at);
        end = stpcpy(end, splices[i].text);
        at = splices[i].end;
    }
    memcpy(end, text + at, length - at + 1);
    return result;
}

bool settings_is_space(char character)
{
    return character == ' ' || character == '\t' || character == '\n' || character == '\r';
}

size_t settings_trim(const char *text, size_t floor, size_t end)
{
    while (end > floor && settings_is_space(text[end - 1]))
        end--;
    return end;
}

int settings_check_line_ends(const char *text, struct error *err)
{
    for (size_t i = 0; text[i]; i++)
        if (text[i] == '\r' && text[i + 1] != '\n')
            return settings_fault(err, text, i, "a carriage return stands alone");
    return 0;
}

const char *settings_line_end(const char *text)
{
    const char *end = strchr(text, '\n');

    return end && end > text && end[-1] == '\r' ? "\r\n" : "\n";
}
