#include "toolbox/secrets.h"

#include "base/cleanup.h"
#include "base/memory.h"
#include "base/text.h"

#include <stdlib.h>
#include <string.h>

enum {
    SECRETS_TEXT_BYTES = 64 * 1024,
    SECRETS_PIECE_BYTES = 16 * 1024,
    SECRETS_TAIL_BYTES = 4, /* a shorter start of a value gives nothing away */
};

void secrets_deinit(struct secrets *secrets)
{
    for (size_t i = 0; i < secrets->count; i++) {
        explicit_bzero(secrets->items[i].value, secrets->items[i].length);
        free(secrets->items[i].value);
    }
    free(secrets->items);
    *secrets = (struct secrets){0};
}

/* A value that contains another one is replaced first. */
static int secrets_compare(const void *a, const void *b)
{
    const struct secret *one = a;
    const struct secret *other = b;

    return (one->length < other->length) - (one->length > other->length);
}

static void secrets_note(struct secrets *secrets, const char *value)
{
    const size_t length = strlen(value);

    secrets->were_named = true;
    if (length < SECRETS_LEAST_BYTES)
        return;
    secrets->items = memory_resize(secrets->items, (secrets->count + 1) * sizeof *secrets->items);
    secrets->items[secrets->count++] =
        (struct secret){.value = memory_copy_string(value), .length = length};
    qsort(secrets->items, secrets->count, sizeof *secrets->items, secrets_compare);
}

/* TEXT begins with "${". The bytes that the reference takes; 0 with ERR. */
static size_t secrets_expand_one(struct secrets *secrets, const char *text, struct buffer *expanded,
                                 struct error *err)
{
    const size_t length = strcspn(text, "}");
    AUTO_FREE char *name = memory_format("%.*s", (int)length - 2, text + 2);
    const char *value = getenv(name);

    if (!text[length]) {
        error_set(err, ERROR_CONFIG, "${ is not closed by }; write $${ for the text ${");
        return 0;
    }
    if (!value) {
        error_set(err, ERROR_CONFIG, "the server's environment has no variable %s", name);
        return 0;
    }
    if (buffer_append_string(expanded, value, err) < 0)
        return 0;
    secrets_note(secrets, value);
    return length + 1;
}

static int secrets_expand_all(struct secrets *secrets, const char *text, struct buffer *expanded,
                              struct error *err)
{
    while (*text) {
        const bool is_escaped = text_starts_with(text, "$${");
        const bool is_reference = text_starts_with(text, "${");
        const size_t taken = is_reference ? secrets_expand_one(secrets, text, expanded, err)
                             : is_escaped ? 2
                                          : 1;

        if (taken == 0 || (!is_reference && buffer_append(expanded, text, 1, err) < 0))
            return -1;
        text += taken;
    }
    return buffer_append(expanded, "", 1, err);
}

char *secrets_expand(struct secrets *secrets, const char *text, struct error *err)
{
    struct buffer expanded;
    char *ret = NULL;

    buffer_init(&expanded, SECRETS_TEXT_BYTES);
    if (secrets_expand_all(secrets, text, &expanded, err) == 0)
        ret = memory_copy_string(buffer_bytes(&expanded));
    if (buffer_bytes(&expanded))
        explicit_bzero(buffer_bytes(&expanded), buffer_length(&expanded));
    buffer_deinit(&expanded);
    return ret;
}

static size_t secrets_hide_one(const struct secret *secret, char *text, size_t length)
{
    const size_t mark = strlen(SECRETS_MARK);
    char *rest = text;
    char *found;

    while ((found = memmem(rest, (size_t)(text + length - rest), secret->value, secret->length))) {
        char *behind = found + secret->length;

        rest = mempcpy(found, SECRETS_MARK, mark);
        memmove(rest, behind, (size_t)(text + length - behind));
        length -= secret->length - mark;
    }
    return length;
}

size_t secrets_hide_text(const struct secrets *secrets, char *text, size_t length)
{
    for (size_t i = 0; i < secrets->count; i++)
        length = secrets_hide_one(&secrets->items[i], text, length);
    return length;
}

/* TEXT without the values, owned by the caller; NULL if there are none in it. */
static char *secrets_hidden(const struct secrets *secrets, const char *text, size_t length,
                            size_t *ret_length)
{
    char *copy;

    for (size_t i = 0; i < secrets->count; i++) {
        if (!memmem(text, length, secrets->items[i].value, secrets->items[i].length))
            continue;
        copy = memory_new(length + 1, 1);
        memcpy(copy, text, length);
        *ret_length = secrets_hide_text(secrets, copy, length);
        copy[*ret_length] = '\0';
        return copy;
    }
    return NULL;
}

static void secrets_hide_string(const struct secrets *secrets, json_t *string)
{
    size_t length;
    AUTO_FREE char *hidden =
        secrets_hidden(secrets, json_string_value(string), json_string_length(string), &length);

    if (hidden)
        json_string_setn_nocheck(string, hidden, length);
}

/* Names that have a value in them. */
static void secrets_hide_names(const struct secrets *secrets, json_t *object)
{
    const char *name;
    json_t *member;
    void *next;

    json_object_foreach_safe (object, next, name, member) {
        size_t length;
        AUTO_FREE char *hidden = secrets_hidden(secrets, name, strlen(name), &length);

        if (!hidden)
            continue;
        json_object_set(object, hidden, member);
        json_object_del(object, name);
    }
}

/* As deep as a message may be. */
static void secrets_hide_within(const struct secrets *secrets, json_t *value)
{
    const char *name;
    json_t *part;
    size_t i;

    if (json_is_string(value))
        secrets_hide_string(secrets, value);
    json_array_foreach (value, i, part)
        secrets_hide_within(secrets, part);
    json_object_foreach (value, name, part)
        secrets_hide_within(secrets, part);
    if (json_is_object(value))
        secrets_hide_names(secrets, value);
}

void secrets_hide(const struct secrets *secrets, json_t *value)
{
    if (secrets->count > 0)
        secrets_hide_within(secrets, value);
}

/* Returns how many bytes at the end of TEXT are a value, or the start of one. */
static size_t secrets_measure_tail(const struct secrets *secrets, const char *text, size_t length)
{
    size_t longest = 0;

    for (size_t i = 0; i < secrets->count; i++)
        for (size_t tail = size_min(length, secrets->items[i].length); tail > longest; tail--)
            if (memcmp(text + length - tail, secrets->items[i].value, tail) == 0)
                longest = tail;
    return longest;
}

/* A message that was cut may end within a value. */
void secrets_hide_error(const struct secrets *secrets, struct error *err)
{
    const enum error_code code = err->code;
    const int number = err->number;
    AUTO_FREE char *text = error_text(err);
    const size_t length = secrets_hide_text(secrets, text, strlen(text));
    const size_t tail = secrets_measure_tail(secrets, text, length);

    text[length - (tail >= SECRETS_TAIL_BYTES ? tail : 0)] = '\0';
    error_clear(err);
    error_set(err, code, "%s", text);
    err->number = number;
}

void secret_filter_init(struct secret_filter *filter, const struct secrets *secrets)
{
    filter->secrets = secrets;
    buffer_init(&filter->held, SECRETS_TEXT_BYTES + SECRETS_PIECE_BYTES);
}

void secret_filter_deinit(struct secret_filter *filter)
{
    buffer_deinit(&filter->held);
}

static void secret_filter_feed_piece(struct secret_filter *filter, const char *bytes, size_t length)
{
    struct buffer *held = &filter->held;
    struct error err = ERROR_INIT;
    size_t hidden;

    (void)buffer_append(held, bytes, length, &err);
    hidden = secrets_hide_text(filter->secrets, buffer_bytes(held), buffer_length(held));
    held->end = held->start + hidden;
    hidden -= secrets_measure_tail(filter->secrets, buffer_bytes(held), hidden);
    filter->passed(filter, buffer_bytes(held), hidden);
    buffer_consume(held, hidden);
}

void secret_filter_feed(struct secret_filter *filter, const char *bytes, size_t length)
{
    while (length > 0) {
        const size_t taken = size_min(length, SECRETS_PIECE_BYTES);

        secret_filter_feed_piece(filter, bytes, taken);
        bytes += taken;
        length -= taken;
    }
}
