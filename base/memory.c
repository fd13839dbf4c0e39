#include "base/memory.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void *memory_check(void *memory)
{
    if (!memory) {
        fputs("pyexecd: out of memory\n", stderr);
        abort();
    }
    return memory;
}

void *memory_new(size_t count, size_t size)
{
    return memory_check(calloc(count ? count : 1, size ? size : 1));
}

void *memory_resize(void *memory, size_t size)
{
    return memory_check(realloc(memory, size ? size : 1));
}

char *memory_copy_string(const char *string)
{
    return (char *)memory_check(strdup(string));
}

char *memory_format_list(const char *format, va_list arguments)
{
    char *string = NULL;

    return (char *)memory_check(vasprintf(&string, format, arguments) < 0 ? NULL : string);
}

char **memory_copy_strings(const char *const *strings)
{
    size_t count = 0;
    char **copy;

    if (!strings)
        return NULL;
    while (strings[count])
        count++;
    copy = memory_new(count + 1, sizeof *copy);
    for (size_t i = 0; i < count; i++)
        copy[i] = memory_format("%s", strings[i]);
    return copy;
}

void memory_free_strings(char **strings)
{
    for (size_t i = 0; strings && strings[i]; i++)
        free(strings[i]);
    free(strings);
}

char *memory_format(const char *format, ...)
{
    va_list arguments;
    char *string;

    va_start(arguments, format);
    string = memory_format_list(format, arguments);
    va_end(arguments);
    return string;
}
