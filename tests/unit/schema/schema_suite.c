/* Measures the validator with the official test suite of JSON Schema, draft 2020-12: every *.json
 * of the folder named on the command line. Prints "N passed, N failed, N refused": refused are the
 * tests of a schema that we do not compile, which must be because of a keyword, by its name. */
#include "base/json.h"
#include "base/memory.h"
#include "base/schema/schema.h"

#include <dirent.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SKIPPED = 77 };

struct score {
    size_t passed;
    size_t failed;
    size_t refused;
};

static void print_problem(void *data, enum schema_problem_place place, const char *pointer,
                          const char *message)
{
    (void)data;
    printf("        %s%s: %s\n", place == SCHEMA_AT_KEY ? "key " : "", pointer, message);
}

static void run_test(struct score *score, const struct schema *schema, const char *where,
                     const json_t *test)
{
    const json_t *instance = json_object_get(test, "data");
    bool valid = json_is_true(json_object_get(test, "valid"));

    if (schema_validate(schema, instance, NULL, NULL) == valid) {
        score->passed++;
        return;
    }
    score->failed++;
    printf("FAILED %s / %s: should be %s\n", where, json_object_get_string(test, "description"),
           valid ? "valid" : "invalid");
    schema_validate(schema, instance, print_problem, NULL);
}

/* The keywords, and the value of one, that docs/schema.md says are refused. */
static bool names_what_is_refused(const char *message)
{
    static const char *const refused[] = {
        "keyword \"$dynamicRef\" is not supported",
        "keyword \"$dynamicAnchor\" is not supported",
        "keyword \"$vocabulary\" is not supported",
        "keyword \"definitions\" is not supported",
        "keyword \"dependencies\" is not supported",
        "leads out of this document",
        "$schema: must be \"https://json-schema.org/draft/2020-12/schema\"",
    };

    for (size_t i = 0; i < ARRAY_SIZE(refused); i++)
        if (strstr(message, refused[i]))
            return true;
    return false;
}

static void run_group(struct score *score, const char *file, const json_t *group)
{
    const json_t *tests = json_object_get(group, "tests");
    struct error err = ERROR_INIT;
    struct schema *schema = schema_new(json_object_get(group, "schema"), &err);
    AUTO_FREE char *where =
        memory_format("%s / %s", file, json_object_get_string(group, "description"));

    if (!schema && names_what_is_refused(err.message)) {
        score->refused += json_array_size(tests);
        printf("refused %s: %s\n", where, err.message);
        return;
    }
    if (!schema) {
        score->failed += json_array_size(tests);
        printf("FAILED %s: %s\n", where, err.message);
        return;
    }
    for (size_t i = 0; i < json_array_size(tests); i++)
        run_test(score, schema, where, json_array_get(tests, i));
    schema_free(schema);
}

static void run_file(struct score *score, const char *folder, const char *name)
{
    AUTO_FREE char *path = memory_format("%s/%s", folder, name);
    json_error_t err;
    AUTO_JSON json_t *groups = json_load_file(path, JSON_ALLOW_NUL, &err);

    if (!groups) {
        score->failed++;
        printf("FAILED %s: %s\n", path, err.text);
    }
    for (size_t i = 0; i < json_array_size(groups); i++)
        run_group(score, name, json_array_get(groups, i));
}

static int is_json(const struct dirent *entry)
{
    const char *dot = strrchr(entry->d_name, '.');

    return dot && strcmp(dot, ".json") == 0;
}

int main(int argc, char **argv)
{
    const char *folder = argc > 1 ? argv[1] : "";
    struct score score = {0};
    struct dirent **entries;
    int count;

    setvbuf(stdout, NULL, _IOLBF, 0);
    count = scandir(folder, &entries, is_json, alphasort);
    if (count <= 0) {
        printf("skipped: no test suite in %s\n", folder);
        return SKIPPED;
    }
    for (int i = 0; i < count; i++) {
        run_file(&score, folder, entries[i]->d_name);
        free(entries[i]);
    }
    free(entries);
    printf("%zu passed, %zu failed, %zu refused\n", score.passed, score.failed, score.refused);
    return score.failed > 0;
}
