/* Input: a .dockerignore, NUL, a path. What matches a directory matches what is in it, unless some
 * of it may be taken back; a last line with the path's own name decides. */
#undef NDEBUG
#include "base/cleanup.h"
#include "base/memory.h"
#include "environments/engine/dockerignore.h"

#include <assert.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_inside(const struct dockerignore *ignore, const char *path)
{
    AUTO_FREE char *inside = memory_format("%s/x", path);

    if (dockerignore_matches(ignore, path) && !dockerignore_may_take_back(ignore, path))
        assert(dockerignore_matches(ignore, inside));
}

/* TEXT with a line more, in which PATH stands for itself. */
static void check_last_line(const char *text, const char *path, const char *mark)
{
    AUTO_FREE char *line = memory_new(2 * strlen(path) + 1, 1);
    AUTO_FREE char *rules = NULL;
    struct error err = ERROR_INIT;
    struct dockerignore *ignore;
    char *end = line;

    for (const char *next = path; *next; next++) {
        if (*next != '/')
            *end++ = '\\';
        *end++ = *next;
    }
    rules = memory_format("%s\n%s%s", text, mark, line);
    ignore = dockerignore_new(rules, strlen(rules), &err);
    assert(!ignore || dockerignore_matches(ignore, path) == (mark[0] == '\0'));
    dockerignore_free(ignore);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    AUTO_FREE char *text = memory_new(size + 2, 1);
    struct error err = ERROR_INIT;
    struct dockerignore *ignore;
    const char *path;

    if (size > 0)
        memcpy(text, data, size);
    path = text + strlen(text) + 1;
    ignore = dockerignore_new(text, strlen(text), &err);
    assert(!ignore == (err.code != ERROR_NONE));
    if (ignore) {
        check_inside(ignore, path);
        dockerignore_free(ignore);
    }
    if (path[0] && path[strspn(path, "abcdefghijklmnopqrstuvwxyz*?[]-^_0123456789")] == '\0') {
        check_last_line(text, path, "");
        check_last_line(text, path, "!");
    }
    return 0;
}
