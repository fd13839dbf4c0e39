#define PCRE2_CODE_UNIT_WIDTH 8

#include "base/pattern.h"

#include "base/buffer.h"
#include "base/memory.h"
#include "base/pattern_translation.h"

#include <pcre2.h>
#include <stdlib.h>

enum {
    SOURCE_BYTES = 16 * 1024,
    TRANSLATED_BYTES = 256 * 1024,
    MATCH_LIMIT = 100000, /* backtracking points from one starting place */
    HEAP_KIBIBYTES = 16 * 1024,
    BYTES_PER_STEP = 16, /* scanned in about the time of one step */
};

struct pattern {
    pcre2_code *code; /* owned */
};

/* PCRE2_UCP is left out: ECMA-262's \d, \w and \b know ASCII only. The callouts count the work. */
static pcre2_code *pattern_compile(const struct buffer *translated, struct error *err)
{
    const uint32_t options = PCRE2_UTF | PCRE2_DOLLAR_ENDONLY | PCRE2_ALLOW_EMPTY_CLASS |
                             PCRE2_MATCH_UNSET_BACKREF | PCRE2_NEVER_BACKSLASH_C |
                             PCRE2_AUTO_CALLOUT;
    PCRE2_UCHAR reason[128];
    PCRE2_SIZE length = buffer_length(translated);
    PCRE2_SIZE offset;
    pcre2_code *code;
    int number;

    code = pcre2_compile((PCRE2_SPTR)(length > 0 ? buffer_bytes(translated) : ""), length, options,
                         &number, &offset, NULL);
    if (!code) {
        pcre2_get_error_message(number, reason, sizeof reason);
        error_set(err, ERROR_CONFIG, "%s", (const char *)reason);
    }
    return code;
}

struct pattern *pattern_new(const char *text, size_t length, struct error *err)
{
    struct buffer translated;
    struct pattern *pattern = NULL;
    pcre2_code *code = NULL;

    if (length > SOURCE_BYTES) {
        error_set(err, ERROR_CONFIG, "is longer than %d bytes", SOURCE_BYTES);
        return NULL;
    }
    buffer_init(&translated, TRANSLATED_BYTES);
    if (pattern_translate(text, length, &translated, err) == 0)
        code = pattern_compile(&translated, err);
    if (code) {
        pattern = NEW(struct pattern);
        pattern->code = code;
    }
    buffer_deinit(&translated);
    return pattern;
}

void pattern_free(struct pattern *pattern)
{
    if (!pattern)
        return;
    pcre2_code_free(pattern->code);
    free(pattern);
}

struct search {
    size_t *budget;      /* borrowed */
    PCRE2_SIZE position; /* at the last callout */
};

/* Called before each item of the pattern. The characters between two positions have been scanned,
 * too, which costs little for each. */
static int pattern_on_item(pcre2_callout_block *block, void *data)
{
    struct search *search = data;
    PCRE2_SIZE here = block->current_position;
    PCRE2_SIZE passed = here > search->position ? here - search->position : 0;
    PCRE2_SIZE work = 1 + passed / BYTES_PER_STEP;

    search->position = here;
    if (work >= *search->budget) {
        *search->budget = 0;
        return PCRE2_ERROR_CALLOUT;
    }
    *search->budget -= work;
    return 0;
}

static pcre2_match_context *pattern_limits_new(struct search *search)
{
    pcre2_match_context *limits = pcre2_match_context_create(NULL);

    if (!limits)
        return NULL;
    pcre2_set_match_limit(limits, MATCH_LIMIT);
    pcre2_set_heap_limit(limits, HEAP_KIBIBYTES);
    pcre2_set_callout(limits, pattern_on_item, search);
    return limits;
}

bool pattern_matches(const struct pattern *pattern, const char *text, size_t length, size_t *budget)
{
    struct search search = {.budget = budget};
    pcre2_match_context *limits = pattern_limits_new(&search);
    pcre2_match_data *match = pcre2_match_data_create(1, NULL);
    int found = PCRE2_ERROR_NOMEMORY;

    if (limits && match)
        found = pcre2_match(pattern->code, (PCRE2_SPTR)text, length, 0, 0, match, limits);
    pcre2_match_data_free(match);
    pcre2_match_context_free(limits);
    if (found < 0 && found != PCRE2_ERROR_NOMATCH)
        *budget = 0;
    return found >= 0;
}
