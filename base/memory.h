/* Allocation of our own small objects. Running out of memory for these ends the program with one
 * line on stderr: whatever a client can make large goes through `struct buffer`, which has a limit
 * and reports it as an error. */
#pragma once

#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

/* How many elements an array has; not for pointers. */
#define ARRAY_SIZE(ARRAY) (sizeof(ARRAY) / sizeof *(ARRAY))

/* A zeroed object of TYPE; released with free(). */
#define NEW(TYPE) ((TYPE *)memory_new(1, sizeof(TYPE)))

void *memory_new(size_t count, size_t size);
void *memory_resize(void *memory, size_t size);
char *memory_copy_string(const char *string);

/* A copy of NULL-terminated STRINGS and of each of them, for memory_free_strings; NULL for NULL. */
char **memory_copy_strings(const char *const *strings);
void memory_free_strings(char **strings);

char *memory_format(const char *format, ...) __attribute__((format(printf, 1, 2)));
char *memory_format_list(const char *format, va_list arguments)
    __attribute__((format(printf, 1, 0)));

/* How many of the A bytes that there are fit into B. */
static inline size_t size_min(uint64_t a, size_t b)
{
    return a < b ? (size_t)a : b;
}
