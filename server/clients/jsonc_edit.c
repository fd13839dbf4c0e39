#include "server/clients/jsonc_edit.h"

#include "base/buffer.h"
#include "base/cleanup.h"
#include "base/json.h"
#include "base/memory.h"
#include "base/text.h"
#include "server/clients/jsonc_text.h"

#include <assert.h>
#include <stdbool.h>
#include <string.h>

enum { VALUE_FLAGS = JSON_ENCODE_ANY | JSON_REAL_PRECISION(15) };

/* Where an entry stands, or where it has to go. */
struct jsonc_place {
    size_t depth;                     /* how many of its containers are there */
    size_t opens[SETTINGS_DEPTH + 1]; /* their brackets, outermost first */
    /* In each container the next one; in the last the entry, if it is there. */
    struct jsonc_item items[SETTINGS_DEPTH + 1];
    bool is_there;
};

/* How lines look where something is inserted. */
struct jsonc_style {
    bool is_broken;       /* it gets lines of its own */
    const char *line_end; /* static storage */
    char *indent;         /* of the new line; owned */
    char *unit;           /* of one level more; owned */
};

static void jsonc_style_deinit(struct jsonc_style *style)
{
    free(style->indent);
    free(style->unit);
}

/* The blanks that the line of OFFSET begins with. Owned by the caller. */
static char *indent_at(const char *text, size_t offset)
{
    size_t start = offset;

    while (start > 0 && text[start - 1] != '\n')
        start--;
    return memory_format("%.*s", (int)strspn(text + start, " \t"), text + start);
}

/* True when the item has a line of its own. */
static bool is_on_new_line(const struct jsonc_text *jsonc, const struct jsonc_item *item)
{
    const size_t before = jsonc_before(jsonc, item->start);

    return memchr(jsonc->text + before, '\n', item->start - before);
}

/* One level of indentation: the indentation of the root's first member, if it has a line of its
 * own. */
static char *jsonc_unit(const struct jsonc_text *jsonc)
{
    struct jsonc_item first;
    AUTO_FREE char *unit = NULL;

    if (jsonc->root && jsonc_first(jsonc, jsonc->open, &first) && is_on_new_line(jsonc, &first))
        unit = indent_at(jsonc->text, first.start);
    return unit && *unit ? STEAL_PTR(unit) : memory_copy_string("  ");
}

static char *take_text(struct buffer *buffer)
{
    return memory_format("%.*s", (int)buffer_length(buffer), text_or_none(buffer_bytes(buffer)));
}

/* VALUE with the line ends and the indentation of STYLE. Owned by the caller. */
static char *break_lines(const json_t *value, const struct jsonc_style *style)
{
    AUTO_FREE char *dumped = json_dumps(value, VALUE_FLAGS | JSON_INDENT(1));
    AUTO(buffer_deinit) struct buffer buffer;
    char *rest = dumped;
    const char *line = strsep(&rest, "\n");

    buffer_init(&buffer, SETTINGS_BYTES);
    buffer_print(&buffer, "%s", line);
    while ((line = strsep(&rest, "\n"))) {
        const size_t level = strspn(line, " ");

        buffer_print(&buffer, "%s%s", style->line_end, style->indent);
        for (size_t i = 0; i < level; i++)
            buffer_print(&buffer, "%s", style->unit);
        buffer_print(&buffer, "%s", line + level);
    }
    return take_text(&buffer);
}

static size_t count_containers(const struct settings_entry *entry)
{
    size_t count = 0;

    while (entry->path[count])
        count++;
    assert(count <= SETTINGS_DEPTH);
    return count;
}

/* The value of the member FROM of the path: the containers that are missing around the entry. */
static json_t *jsonc_wrap(const struct settings_entry *entry, size_t from)
{
    const size_t count = count_containers(entry);
    json_t *value = json_deep_copy(entry->value);

    if (from < count)
        value = entry->name ? json_pack("{s:o}", entry->name, value) : json_pack("[o]", value);
    for (size_t i = count; i > from + 1; i--)
        value = json_pack("{s:o}", entry->path[i - 1], value);
    return value;
}

/* The text of the item that goes into the container FROM of the path: `"name": value`. */
static char *jsonc_item_text(const struct settings_entry *entry, size_t from,
                             const struct jsonc_style *style)
{
    AUTO_JSON json_t *value = jsonc_wrap(entry, from);
    const bool is_made = entry->path[from];
    const char *name = is_made ? entry->path[from] : entry->name;
    AUTO_FREE char *text =
        style->is_broken || is_made ? break_lines(value, style) : json_dumps(value, VALUE_FLAGS);

    return name ? memory_format("\"%s\": %s", name, text) : STEAL_PTR(text);
}

static int jsonc_enter(const struct jsonc_text *jsonc, struct jsonc_place *place, bool is_array,
                       const char *name, struct error *err)
{
    const struct jsonc_item *item = &place->items[place->depth - 1];

    if (jsonc->bare[item->value] != (is_array ? '[' : '{'))
        return settings_fault(err, jsonc->text, item->value, "%s must be %s", name,
                              is_array ? "an array" : "an object");
    place->opens[place->depth++] = item->value;
    return 0;
}

static int jsonc_locate(const struct jsonc_text *jsonc, const struct settings_entry *entry,
                        struct jsonc_place *ret_place, struct error *err)
{
    struct jsonc_place *place = ret_place;
    size_t open = jsonc->open;

    *place = (struct jsonc_place){.depth = 1, .opens = {open}};
    for (const char *const *name = entry->path; *name; name++) {
        if (!jsonc_find_member(jsonc, open, *name, &place->items[place->depth - 1]))
            return 0;
        if (jsonc_enter(jsonc, place, !name[1] && !entry->name, *name, err) < 0)
            return -1;
        open = place->opens[place->depth - 1];
    }
    place->is_there =
        entry->name
            ? jsonc_find_member(jsonc, open, entry->name, &place->items[place->depth - 1])
            : jsonc_find_element(jsonc, open, entry->value, &place->items[place->depth - 1]);
    return 0;
}

/* A text of white space, or none, becomes an object with the entry. */
static enum settings_outcome jsonc_begin(const char *text, const struct settings_entry *entry,
                                         char **ret_text)
{
    AUTO(jsonc_style_deinit)
    struct jsonc_style style = {
        .line_end = "\n",
        .indent = memory_copy_string(""),
        .unit = memory_copy_string("  "),
    };
    AUTO_JSON json_t *value = jsonc_wrap(entry, 0);
    AUTO_JSON json_t *root = json_pack("{s:O}", entry->path[0], value);
    AUTO_FREE char *object = break_lines(root, &style);

    *ret_text = memory_format("%s%s%s", text_or_none(text), object, text ? "" : "\n");
    return SETTINGS_CHANGED;
}

static enum settings_outcome jsonc_replace(const struct jsonc_text *jsonc,
                                           const struct settings_entry *entry,
                                           const struct jsonc_item *item, char **ret_text)
{
    AUTO_JSON json_t *old = jsonc_read_value(jsonc->bare + item->value, item->end - item->value);
    AUTO_FREE char *plain = json_dumps(entry->value, VALUE_FLAGS);
    AUTO_JSON json_t *value = jsonc_read_value(plain, strlen(plain));
    AUTO(jsonc_style_deinit)
    struct jsonc_style style = {
        .line_end = settings_line_end(jsonc->text),
        .indent = indent_at(jsonc->text, item->start),
        .unit = jsonc_unit(jsonc),
    };
    AUTO_FREE char *broken = break_lines(entry->value, &style);

    if (json_equal(old, value))
        return SETTINGS_SAME;
    *ret_text =
        settings_spliced(jsonc->text,
                         &(struct settings_splice){item->value, item->end,
                                                   is_on_new_line(jsonc, item) ? broken : plain},
                         1);
    return SETTINGS_CHANGED;
}

/* LAST: the last item of the container at OPEN, or NULL. POINT: where the new one goes. */
static struct jsonc_style jsonc_style_of(const struct jsonc_text *jsonc, size_t open,
                                         const struct jsonc_item *last, bool is_after_comment)
{
    const bool is_aligned = last && is_on_new_line(jsonc, last);
    struct jsonc_style style = {
        .is_broken = is_after_comment || is_aligned,
        .line_end = settings_line_end(jsonc->text),
        .unit = jsonc_unit(jsonc),
    };
    AUTO_FREE char *outer = indent_at(jsonc->text, is_aligned ? last->start : open);

    style.indent = is_aligned || !style.is_broken ? STEAL_PTR(outer)
                                                  : memory_format("%s%s", outer, style.unit);
    return style;
}

static enum settings_outcome jsonc_insert(const struct jsonc_text *jsonc,
                                          const struct settings_entry *entry,
                                          const struct jsonc_place *place, char **ret_text)
{
    const size_t open = place->opens[place->depth - 1];
    const size_t close = jsonc_close(jsonc, open);
    const size_t before = jsonc_before(jsonc, close);
    const size_t point = settings_trim(jsonc->text, before, close);
    struct jsonc_item last;
    const bool has_last = jsonc_last(jsonc, open, &last);
    AUTO(jsonc_style_deinit)
    struct jsonc_style style = jsonc_style_of(jsonc, open, has_last ? &last : NULL, point > before);
    AUTO_FREE char *item = jsonc_item_text(entry, place->depth - 1, &style);
    AUTO_FREE char *line = memory_format("%s%s%s%s", style.is_broken ? style.line_end : "",
                                         style.is_broken ? style.indent
                                         : has_last      ? " "
                                                         : "",
                                         item, has_last && last.comma ? "," : "");
    const struct settings_splice splices[] = {
        {has_last ? last.end : point, has_last ? last.end : point,
         has_last && !last.comma ? "," : ""},
        {point, point, line},
    };

    *ret_text = settings_spliced(jsonc->text, splices, ARRAY_SIZE(splices));
    return SETTINGS_CHANGED;
}

static int jsonc_put_into(const struct jsonc_text *jsonc, const struct settings_entry *entry,
                          char **ret_text, struct error *err)
{
    struct jsonc_place place;

    if (jsonc_locate(jsonc, entry, &place, err) < 0)
        return -1;
    if (!place.is_there)
        return jsonc_insert(jsonc, entry, &place, ret_text);
    return jsonc_replace(jsonc, entry, &place.items[place.depth - 1], ret_text);
}

int jsonc_put(const char *text, const struct settings_entry *entry, char **ret_text,
              struct error *err)
{
    AUTO(jsonc_text_deinit) struct jsonc_text jsonc = JSONC_TEXT_INIT;

    if (jsonc_text_init(&jsonc, text_or_none(text), err) < 0)
        return -1;
    if (!jsonc.root)
        return jsonc_begin(text, entry, ret_text);
    return jsonc_put_into(&jsonc, entry, ret_text, err);
}

/* True when nothing but white space and the item is in the container at OPEN, which was made so. */
static bool is_made_for(const struct jsonc_text *jsonc, size_t open, const struct jsonc_item *item)
{
    const size_t close = jsonc_close(jsonc, open);
    const size_t end = item->comma ? item->comma + 1 : item->end;

    return settings_is_space(jsonc->text[open + 1]) &&
           settings_trim(jsonc->text, open + 1, item->start) == open + 1 &&
           settings_trim(jsonc->text, end, close) == end;
}

/* True when a cut of the text between START and END would pull what follows into a comment. */
static bool is_needed_line_end(const struct jsonc_text *jsonc, size_t before, size_t start,
                               size_t end)
{
    const char *rest = jsonc->text + end + strspn(jsonc->text + end, " \t\r");

    return start > before && *rest != '\n' && jsonc_is_line_comment(jsonc, before, start);
}

static enum settings_outcome jsonc_cut(const struct jsonc_text *jsonc,
                                       const struct jsonc_item *item, char **ret_text)
{
    const size_t before = jsonc_before(jsonc, item->start);
    const size_t start = settings_trim(jsonc->text, before, item->start);
    const size_t end = item->comma ? item->comma + 1 : item->end;
    const bool is_after_comma = !item->comma && before > 0 && jsonc->text[before - 1] == ',';
    const struct settings_splice splices[] = {
        {is_after_comma ? before - 1 : before, before, ""},
        {is_needed_line_end(jsonc, before, start, end) ? item->start : start, item->end, ""},
        {item->comma ? item->comma : item->end, end, ""},
    };

    *ret_text = settings_spliced(jsonc->text, splices, ARRAY_SIZE(splices));
    return SETTINGS_CHANGED;
}

/* Takes the whole object out, if it was made for the entry. */
static enum settings_outcome jsonc_end(const struct jsonc_text *jsonc,
                                       const struct jsonc_item *item, char **ret_text)
{
    const size_t end = jsonc_close(jsonc, jsonc->open) + 1;

    if (!is_made_for(jsonc, jsonc->open, item) || settings_trim(jsonc->text, 0, jsonc->open) > 0 ||
        settings_trim(jsonc->text, end, strlen(jsonc->text)) > end)
        return jsonc_cut(jsonc, item, ret_text);
    if (jsonc->open == 0 && strcmp(jsonc->text + end, "\n") == 0)
        return SETTINGS_GONE;
    *ret_text = settings_spliced(jsonc->text, &(struct settings_splice){jsonc->open, end, ""}, 1);
    return SETTINGS_CHANGED;
}

static int jsonc_take_from(const struct jsonc_text *jsonc, const struct settings_entry *entry,
                           char **ret_text, struct error *err)
{
    struct jsonc_place place;
    size_t level;

    if (jsonc_locate(jsonc, entry, &place, err) < 0)
        return -1;
    if (!place.is_there)
        return SETTINGS_SAME;
    level = place.depth - 1;
    while (level > 0 && is_made_for(jsonc, place.opens[level], &place.items[level]))
        level--;
    if (level == 0)
        return jsonc_end(jsonc, &place.items[0], ret_text);
    return jsonc_cut(jsonc, &place.items[level], ret_text);
}

int jsonc_take(const char *text, const struct settings_entry *entry, char **ret_text,
               struct error *err)
{
    AUTO(jsonc_text_deinit) struct jsonc_text jsonc = JSONC_TEXT_INIT;

    if (jsonc_text_init(&jsonc, text_or_none(text), err) < 0)
        return -1;
    return jsonc.root ? jsonc_take_from(&jsonc, entry, ret_text, err) : SETTINGS_SAME;
}
