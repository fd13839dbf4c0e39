#include "server/tools/trace.h"

#include "base/cleanup.h"
#include "base/memory.h"
#include "base/random.h"
#include "server/tools/invocation.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    TRACE_AT = 3,
    SPAN_AT = 36,
    SPAN_DIGITS = 16,
    FLAGS_AT = 53,
    PARENT_LENGTH = 55,
    STATE_MEMBERS = 32,
    KEY_LENGTH = 256,
    VALUE_LENGTH = 256,
    SAMPLED = 1, /* the only flag of version 00; others are not passed on */
};

static const char hexadecimal[] = "0123456789abcdef";

static bool are_digits(const char *text, size_t count)
{
    return strspn(text, hexadecimal) >= count;
}

static bool is_id(const char *text, size_t digits)
{
    return are_digits(text, digits) && strspn(text, "0") < digits;
}

/* Later versions may append more after another dash. */
static bool is_length_right(const char *parent, size_t length)
{
    if (strncmp(parent, "00", 2) == 0)
        return length == PARENT_LENGTH;
    return length == PARENT_LENGTH || (length > PARENT_LENGTH && parent[PARENT_LENGTH] == '-');
}

static bool is_parent(const char *parent)
{
    size_t length = strlen(parent);

    return length >= PARENT_LENGTH && is_length_right(parent, length) && are_digits(parent, 2) &&
           strncmp(parent, "ff", 2) != 0 && parent[TRACE_AT - 1] == '-' &&
           is_id(parent + TRACE_AT, TRACE_ID_DIGITS) && parent[SPAN_AT - 1] == '-' &&
           is_id(parent + SPAN_AT, SPAN_DIGITS) && parent[FLAGS_AT - 1] == '-' &&
           are_digits(parent + FLAGS_AT, 2);
}

static bool is_sampled(const char *parent)
{
    const char *digit = strchr(hexadecimal, parent[FLAGS_AT + 1]);

    return (digit - hexadecimal) & SAMPLED;
}

/* tracestate: members "key=value", with commas between them */

static bool is_key(const char *text, size_t length)
{
    static const char begin[] = "abcdefghijklmnopqrstuvwxyz0123456789";
    static const char rest[] = "abcdefghijklmnopqrstuvwxyz0123456789_-*/@";

    return length > 0 && length <= KEY_LENGTH && strchr(begin, *text) &&
           strspn(text, rest) >= length;
}

static bool trace_is_value(const char *text, size_t length)
{
    if (length == 0 || length > VALUE_LENGTH)
        return false;
    for (size_t i = 0; i < length; i++)
        if (text[i] < ' ' || text[i] > '~' || text[i] == '=')
            return false;
    return true;
}

/* A member may be empty. */
static bool is_member(const char *text, size_t length)
{
    const char *equals;

    while (length > 0 && strchr(" \t", text[length - 1]))
        length--;
    while (length > 0 && strchr(" \t", *text)) {
        text++;
        length--;
    }
    if (length == 0)
        return true;
    equals = memchr(text, '=', length);
    if (!equals)
        return false;
    return is_key(text, (size_t)(equals - text)) &&
           trace_is_value(equals + 1, length - (size_t)(equals + 1 - text));
}

static bool is_state(const char *state)
{
    if (strlen(state) >= TRACE_STATE_BYTES)
        return false;
    for (unsigned members = 0; members < STATE_MEMBERS; members++) {
        size_t length = strcspn(state, ",");

        if (!is_member(state, length))
            return false;
        if (!state[length])
            return true;
        state += length + 1;
    }
    return false;
}

/* An id must not be all zeros, which chance could produce. */
static char *make_span(void)
{
    char *digits = random_digits(SPAN_DIGITS);

    if (!is_id(digits, SPAN_DIGITS))
        digits[0] = '1';
    return digits;
}

bool trace_follow(struct trace *trace, const char *parent, const char *state)
{
    AUTO_FREE char *span = NULL;

    *trace = (struct trace){0};
    if (!parent || !is_parent(parent))
        return false;
    span = make_span();
    snprintf(trace->parent, sizeof trace->parent, "00-%.*s-%s-%02x", TRACE_ID_DIGITS,
             parent + TRACE_AT, span, is_sampled(parent) ? SAMPLED : 0U);
    if (state && is_state(state))
        snprintf(trace->state, sizeof trace->state, "%s", state);
    return true;
}

void trace_read_id(const char *parent, char ret_id[TRACE_ID_DIGITS + 1])
{
    memcpy(ret_id, parent + TRACE_AT, TRACE_ID_DIGITS);
    ret_id[TRACE_ID_DIGITS] = '\0';
}

/* For scripts */

void trace_variables_init(struct trace_variables *variables, const struct invocation *invocation)
{
    *variables = (struct trace_variables){0};
    if (!invocation->trace)
        return;
    variables->parent = memory_format("TRACEPARENT=%s", invocation->trace);
    variables->list[0] = variables->parent;
    if (!invocation->trace_state)
        return;
    variables->state = memory_format("TRACESTATE=%s", invocation->trace_state);
    variables->list[1] = variables->state;
}

void trace_variables_deinit(struct trace_variables *variables)
{
    free(variables->parent);
    free(variables->state);
}
