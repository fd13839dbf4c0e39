#include "base/spelling.h"

#include "base/memory.h"

#include <assert.h>
#include <stdbool.h>
#include <string.h>

/* Names that other programs use for our members. */
static const struct {
    const char *wrong;
    const char *right;
} other_words[] = {
    {"env", "environment"},
    {"environment", "env"},
    {"env_vars", "environment"},
    {"variables", "environment"},
    {"packages", "pip_packages"},
    {"packages", "environment_definition"},
    {"packages", "with"},
    {"package", "with"},
    {"libraries", "pip_packages"},
    {"libraries", "environment_definition"},
    {"dependencies", "pip_packages"},
    {"dependencies", "environment_definition"},
    {"pip_packages", "environment_definition"},
    {"requirements", "requirements_file"},
    {"python", "python_path"},
    {"interpreter", "executable"},
    {"cwd", "working_directory"},
    {"work_dir", "working_directory"},
    {"cwd", "working-directory"},
    {"workdir", "working-directory"},
    {"script", "code"},
    {"mounts", "volumes"},
};

static bool spelling_is_other_word(const char *wrong, const char *candidate)
{
    for (size_t i = 0; i < ARRAY_SIZE(other_words); i++)
        if (strcmp(other_words[i].wrong, wrong) == 0 &&
            strcmp(other_words[i].right, candidate) == 0)
            return true;
    return false;
}

static size_t spelling_least(size_t a, size_t b)
{
    return a < b ? a : b;
}

size_t spelling_distance(const char *from, const char *to)
{
    size_t rows[3][SPELLING_LONGEST + 1];
    size_t from_length = strlen(from);
    size_t to_length = strlen(to);

    assert(from_length <= SPELLING_LONGEST && to_length <= SPELLING_LONGEST);
    for (size_t j = 0; j <= to_length; j++)
        rows[0][j] = j;
    for (size_t i = 1; i <= from_length; i++) {
        size_t *row = rows[i % 3];
        const size_t *above = rows[(i - 1) % 3];
        const size_t *two_above = rows[(i + 1) % 3];

        row[0] = i;
        for (size_t j = 1; j <= to_length; j++) {
            row[j] = spelling_least(spelling_least(above[j], row[j - 1]) + 1,
                                    above[j - 1] + (from[i - 1] != to[j - 1]));
            if (i > 1 && j > 1 && from[i - 1] == to[j - 2] && from[i - 2] == to[j - 1])
                row[j] = spelling_least(row[j], two_above[j - 2] + 1);
        }
    }
    return rows[from_length % 3][to_length];
}

void spelling_try(struct spelling *spelling, const char *candidate)
{
    size_t wrong = strnlen(spelling->wrong, SPELLING_LONGEST + 1);
    size_t length = strnlen(candidate, SPELLING_LONGEST + 1);
    size_t edits;

    if (spelling_is_other_word(spelling->wrong, candidate)) {
        spelling->nearest = candidate;
        spelling->distance = 0;
        return;
    }
    if (wrong > SPELLING_LONGEST || length > SPELLING_LONGEST ||
        wrong > length + SPELLING_DISTANCE || length > wrong + SPELLING_DISTANCE)
        return;
    edits = spelling_distance(spelling->wrong, candidate);
    if (edits >= spelling->distance || edits >= length)
        return;
    spelling->nearest = candidate;
    spelling->distance = edits;
}
