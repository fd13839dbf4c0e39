/* Input: a name of an image and, on a line of its own, a pattern. What a name is written out to in
 * full is a name that is written out to the same, and what a pattern stands for does not depend on
 * which of the two is asked about. */
#include "base/cleanup.h"
#include "environments/callers/image_reference.h"

#include <assert.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static bool matches(const char *name, const struct image_reference *pattern, char **ret_full)
{
    struct image_reference reference;
    struct error err = ERROR_INIT;
    bool does;

    if (image_reference_parse(&reference, name, &err) < 0)
        return false;
    does = image_reference_matches(&reference, pattern);
    *ret_full = image_reference_text(&reference);
    image_reference_deinit(&reference);
    return does;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    AUTO_FREE char *text = strndup((const char *)data, size);
    char *line = strchr(text, '\n');
    const char *wanted = line ? line + 1 : "python:*";
    AUTO_FREE char *full = NULL;
    AUTO_FREE char *again = NULL;
    struct image_reference pattern;
    struct error err = ERROR_INIT;
    bool does;

    if (line)
        *line = '\0';
    if (image_pattern_parse(&pattern, wanted, &err) < 0)
        return 0;
    does = matches(text, &pattern, &full);
    assert(!does || full);
    if (full) {
        assert(matches(full, &pattern, &again) == does);
        assert(strcmp(full, again) == 0);
        assert(!does || line || strncmp(full, "docker.io/library/python", 24) == 0);
    }
    image_reference_deinit(&pattern);
    return 0;
}
