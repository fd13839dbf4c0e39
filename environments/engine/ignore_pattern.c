#include "environments/engine/ignore_pattern.h"

#include "base/cleanup.h"
#include "base/memory.h"

#include <stdlib.h>
#include <string.h>

enum {
    CONTINUATION_MASK = 0xC0,
    CONTINUATION = 0x80,
};

enum ignore_kind {
    KIND_CHARACTER, /* `low` */
    KIND_ONE,       /* ?: any but a slash */
    KIND_MANY,      /* *: any number of these */
    KIND_FOLDERS,   /* ** with more behind it: any number of names, each with its slash */
    KIND_ALL,       /* ** at the end: anything */
    KIND_CLASS,     /* [...]: a character in the `count` ranges behind it or, if negated, in none */
    KIND_RANGE,     /* from `low` to `high`; never a state of its own */
};

struct ignore_token {
    enum ignore_kind kind;
    bool negated; /* of a class */
    size_t count; /* of a class */
    uint32_t low;
    uint32_t high;
};

/* One character: the bytes of a UTF-8 sequence as a number, which keeps their order. Ill-formed
 * bytes become numbers that equal only themselves. */
static uint32_t take_character(const char **text)
{
    const unsigned char *bytes = (const unsigned char *)*text;
    uint32_t value = bytes[0];
    size_t length = 1;

    while (bytes[0] >= CONTINUATION_MASK && length < 4 &&
           (bytes[length] & CONTINUATION_MASK) == CONTINUATION)
        value = value << 8 | bytes[length++];
    *text += length;
    return value;
}

static void ignore_pattern_append(struct ignore_pattern *pattern, struct ignore_token token)
{
    pattern->tokens[pattern->count++] = token;
}

static int ignore_pattern_incomplete(struct error *err)
{
    return error_set(err, ERROR_CONFIG, "the pattern is not complete");
}

/* One end of a range in a class. */
static int take_end(const char **text, uint32_t *ret, struct error *err)
{
    if (**text == '\\')
        (*text)++;
    if (!**text)
        return ignore_pattern_incomplete(err);
    *ret = take_character(text);
    return 0;
}

static int take_range(const char **text, struct ignore_pattern *pattern, struct error *err)
{
    struct ignore_token range = {.kind = KIND_RANGE};

    if (take_end(text, &range.low, err) < 0)
        return -1;
    range.high = range.low;
    if (**text == '-' && (*text)[1] != ']') {
        (*text)++;
        if (take_end(text, &range.high, err) < 0)
            return -1;
    }
    ignore_pattern_append(pattern, range);
    return 0;
}

/* TEXT is behind the bracket. */
static int take_class(const char **text, struct ignore_pattern *pattern, struct error *err)
{
    size_t at = pattern->count;
    bool negated = **text == '^';

    ignore_pattern_append(pattern, (struct ignore_token){.kind = KIND_CLASS, .negated = negated});
    if (negated)
        (*text)++;
    do {
        if (take_range(text, pattern, err) < 0)
            return -1;
    } while (**text != ']');
    (*text)++;
    pattern->tokens[at].count = pattern->count - at - 1;
    return 0;
}

static void take_stars(const char **text, struct ignore_pattern *pattern)
{
    size_t stars = strspn(*text, "*");

    *text += stars;
    if (stars == 1) {
        ignore_pattern_append(pattern, (struct ignore_token){.kind = KIND_MANY});
        return;
    }
    if (**text == '/')
        (*text)++;
    ignore_pattern_append(pattern, (struct ignore_token){.kind = **text ? KIND_FOLDERS : KIND_ALL});
}

static int take_token(const char **text, struct ignore_pattern *pattern, struct error *err)
{
    switch (**text) {
    case '*':
        take_stars(text, pattern);
        return 0;
    case '?':
        (*text)++;
        ignore_pattern_append(pattern, (struct ignore_token){.kind = KIND_ONE});
        return 0;
    case '[':
        (*text)++;
        return take_class(text, pattern, err);
    case '\\':
        (*text)++;
        if (!**text)
            return ignore_pattern_incomplete(err);
        break;
    default:
        break;
    }
    ignore_pattern_append(
        pattern, (struct ignore_token){.kind = KIND_CHARACTER, .low = take_character(text)});
    return 0;
}

int ignore_pattern_init(struct ignore_pattern *pattern, const char *text, struct error *err)
{
    pattern->tokens = memory_new(strlen(text) + 1, sizeof *pattern->tokens);
    pattern->count = 0;
    while (*text)
        if (take_token(&text, pattern, err) < 0) {
            ignore_pattern_deinit(pattern);
            return -1;
        }
    return 0;
}

void ignore_pattern_deinit(struct ignore_pattern *pattern)
{
    free(pattern->tokens);
    *pattern = (struct ignore_pattern){0};
}

static bool is_in_class(const struct ignore_token *class, uint32_t character)
{
    for (size_t i = 1; i <= class->count; i++)
        if (character >= class[i].low && character <= class[i].high)
            return !class->negated;
    return class->negated && character != '/';
}

/* STATES[i]: the tokens before the I-th have matched. Tokens that may match an empty string are
 * passed at once. */
static void ignore_pattern_enter(const struct ignore_pattern *pattern, bool *states, size_t i)
{
    states[i] = true;
    for (; i < pattern->count && pattern->tokens[i].kind >= KIND_MANY &&
           pattern->tokens[i].kind <= KIND_ALL;
         i++)
        states[i + 1] = true;
}

static void step_from(const struct ignore_pattern *pattern, size_t i, uint32_t character,
                      bool *next)
{
    const struct ignore_token *token = &pattern->tokens[i];

    switch (token->kind) {
    case KIND_CHARACTER:
        if (character == token->low)
            ignore_pattern_enter(pattern, next, i + 1);
        break;
    case KIND_ONE:
        if (character != '/')
            ignore_pattern_enter(pattern, next, i + 1);
        break;
    case KIND_MANY:
        if (character != '/')
            ignore_pattern_enter(pattern, next, i);
        break;
    case KIND_FOLDERS: /* inside a name nothing behind it can begin */
        next[i] = true;
        if (character == '/')
            ignore_pattern_enter(pattern, next, i + 1);
        break;
    case KIND_ALL:
        ignore_pattern_enter(pattern, next, i);
        break;
    case KIND_CLASS:
        if (is_in_class(token, character))
            ignore_pattern_enter(pattern, next, i + 1 + token->count);
        break;
    case KIND_RANGE:
        break;
    }
}

static void ignore_pattern_step(const struct ignore_pattern *pattern, uint32_t character,
                                const bool *states, bool *next)
{
    memset(next, 0, pattern->count + 1);
    for (size_t i = 0; i < pattern->count; i++)
        if (states[i])
            step_from(pattern, i, character, next);
}

/* Runs PATTERN over PATH. True as soon as a directory matches that PATH is in. STATES has room for
 * twice the states; at the end its first half has the reached states. */
static bool ignore_pattern_run(const struct ignore_pattern *pattern, const char *path, bool *states)
{
    size_t size = pattern->count + 1;
    bool *next = states + size;

    ignore_pattern_enter(pattern, states, 0);
    while (*path) {
        if (*path == '/' && states[pattern->count])
            return true;
        ignore_pattern_step(pattern, take_character(&path), states, next);
        memcpy(states, next, size);
    }
    return false;
}

static bool *new_states(const struct ignore_pattern *pattern)
{
    return memory_new(2 * (pattern->count + 1), sizeof(bool));
}

bool ignore_pattern_matches(const struct ignore_pattern *pattern, const char *path)
{
    AUTO_FREE bool *states = new_states(pattern);

    return ignore_pattern_run(pattern, path, states) || states[pattern->count];
}

bool ignore_pattern_may_match_inside(const struct ignore_pattern *pattern, const char *path)
{
    AUTO_FREE bool *states = new_states(pattern);
    bool *next = states + pattern->count + 1;

    if (ignore_pattern_run(pattern, path, states) || states[pattern->count])
        return true;
    ignore_pattern_step(pattern, '/', states, next);
    return memchr(next, true, pattern->count + 1) != NULL;
}
