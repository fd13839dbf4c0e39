#include "environments/interpreter/named_paths.h"

#include "base/memory.h"

#include <string.h>

#define WORD_ENDS  " \t\r\n\"'`=,;()[]{}<>|&"
#define URL_SCHEME "file://"

/* The path in the LENGTH bytes at WORD, or NULL. Owned by the caller. */
static char *named_path_in(const char *word, size_t length)
{
    const size_t scheme = strlen(URL_SCHEME);

    if (length > scheme && strncmp(word, URL_SCHEME, scheme) == 0) {
        word += scheme;
        length -= scheme;
    }
    return length > 1 && word[0] == '/' && word[1] != '/'
               ? memory_format("%.*s", (int)strcspn(word, "#" WORD_ENDS), word)
               : NULL;
}

char **named_paths_find(const char *text)
{
    char **paths = memory_new(NAMED_PATHS_MOST + 1, sizeof *paths);
    size_t count = 0;

    while (*text && count < NAMED_PATHS_MOST) {
        const size_t length = strcspn(text, WORD_ENDS);
        char *path = named_path_in(text, length);

        if (path)
            paths[count++] = path;
        text += length;
        text += strspn(text, WORD_ENDS);
    }
    return paths;
}
