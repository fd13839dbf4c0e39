#include "environments/engine/dockerignore.h"

#include "base/cleanup.h"
#include "base/memory.h"
#include "environments/engine/ignore_pattern.h"

#include <stdlib.h>
#include <string.h>

struct rule {
    struct ignore_pattern pattern;
    bool takes_back;
};

struct dockerignore {
    struct rule *rules; /* owned */
    size_t count;
};

static const char BYTE_ORDER_MARK[] = "\xEF\xBB\xBF";

/* Cuts blanks off both ends of TEXT. */
static char *dockerignore_trim(char *text)
{
    size_t length;

    text += strspn(text, " \t\r\v\f");
    length = strlen(text);
    while (length > 0 && strchr(" \t\r\v\f", text[length - 1]))
        length--;
    text[length] = '\0';
    return text;
}

/* Drops the last name of CLEANED, if it has one. */
static bool drop_name(char *cleaned)
{
    char *slash = strrchr(cleaned, '/');
    char *name = slash ? slash + 1 : cleaned;

    if (name[0] == '\0' || strcmp(name, "..") == 0)
        return false;
    *(slash ? slash : cleaned) = '\0';
    return true;
}

/* Resolves `.`, `..` and empty names in TEXT by their text alone, and makes it relative. */
static void dockerignore_clean(char *text)
{
    AUTO_FREE char *copy = memory_copy_string(text);
    char *state = NULL;

    text[0] = '\0';
    for (char *name = strtok_r(copy, "/", &state); name; name = strtok_r(NULL, "/", &state)) {
        size_t length = strlen(text);

        if (strcmp(name, ".") == 0 || (strcmp(name, "..") == 0 && drop_name(text)))
            continue;
        if (length > 0)
            text[length++] = '/';
        memcpy(text + length, name, strlen(name) + 1);
    }
}

static int add_rule(struct dockerignore *ignore, char *line, struct error *err)
{
    struct rule rule = {.takes_back = line[0] == '!'};

    if (rule.takes_back)
        line = dockerignore_trim(line + 1);
    if (rule.takes_back && line[0] == '\0')
        return error_set(err, ERROR_CONFIG, "nothing follows the exclamation mark");
    dockerignore_clean(line);
    if (line[0] == '\0') /* the context itself: matches no file in it */
        return 0;
    if (ignore_pattern_init(&rule.pattern, line, err) < 0)
        return -1;
    ignore->rules = memory_resize(ignore->rules, (ignore->count + 1) * sizeof *ignore->rules);
    ignore->rules[ignore->count++] = rule;
    return 0;
}

static int dockerignore_add_lines(struct dockerignore *ignore, char *text, struct error *err)
{
    unsigned number = 1;

    for (char *line = text, *next; line; line = next, number++) {
        char *end = strchr(line, '\n');

        next = end ? end + 1 : NULL;
        if (end)
            *end = '\0';
        if (line[0] == '#')
            continue;
        line = dockerignore_trim(line);
        if (line[0] && add_rule(ignore, line, err) < 0)
            return error_prefix(err, ".dockerignore: line %u", number);
    }
    return 0;
}

struct dockerignore *dockerignore_new(const char *text, size_t length, struct error *err)
{
    struct dockerignore *ignore = NEW(struct dockerignore);
    AUTO_FREE char *copy = memory_new(length + 1, 1);
    char *start = copy;

    if (length > DOCKERIGNORE_BYTES) {
        error_set(err, ERROR_LIMIT, ".dockerignore has more than %d bytes", DOCKERIGNORE_BYTES);
        dockerignore_free(ignore);
        return NULL;
    }
    if (length > 0)
        memcpy(copy, text, length);
    if (strncmp(start, BYTE_ORDER_MARK, sizeof BYTE_ORDER_MARK - 1) == 0)
        start += sizeof BYTE_ORDER_MARK - 1;
    if (dockerignore_add_lines(ignore, start, err) < 0) {
        dockerignore_free(ignore);
        return NULL;
    }
    return ignore;
}

void dockerignore_free(struct dockerignore *ignore)
{
    if (!ignore)
        return;
    for (size_t i = 0; i < ignore->count; i++)
        ignore_pattern_deinit(&ignore->rules[i].pattern);
    free(ignore->rules);
    free(ignore);
}

bool dockerignore_matches(const struct dockerignore *ignore, const char *path)
{
    for (size_t i = ignore->count; i-- > 0;)
        if (ignore_pattern_matches(&ignore->rules[i].pattern, path))
            return !ignore->rules[i].takes_back;
    return false;
}

bool dockerignore_may_take_back(const struct dockerignore *ignore, const char *path)
{
    for (size_t i = 0; i < ignore->count; i++)
        if (ignore->rules[i].takes_back &&
            ignore_pattern_may_match_inside(&ignore->rules[i].pattern, path))
            return true;
    return false;
}
