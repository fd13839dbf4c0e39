#include "server/clients/yaml_section.h"

#include "base/buffer.h"
#include "base/cleanup.h"
#include "base/json.h"
#include "base/memory.h"
#include "base/text.h"
#include "server/configuration/yaml_tree.h"

#include <stdbool.h>
#include <string.h>

enum {
    MADE_INDENT = 2, /* of the entry in a mapping that was made for it ... */
    LEFT_INDENT = 4, /* ... and in a mapping that was there without a value */
    INNER_INDENT = 2,
};

/* A text, and the places of the mapping and the entry in it. */
struct yaml_section {
    const char *text; /* borrowed */
    const struct settings_entry *entry;
    struct yaml_tree tree;
    json_t *mapping; /* borrowed; NULL when there is none */
    size_t line;     /* where the line of its name begins */
    bool is_flow;    /* it is written in brackets */
};

struct yaml_first_fault {
    struct yaml_position position; /* line 0: none */
    char *message;                 /* owned */
};

static void yaml_on_fault(void *data, struct yaml_position position, const char *pointer,
                          const char *message)
{
    struct yaml_first_fault *first = data;

    (void)pointer;
    if (first->message)
        return;
    first->position = position;
    first->message = memory_copy_string(message);
}

static void yaml_section_deinit(struct yaml_section *section)
{
    yaml_tree_deinit(&section->tree);
}

static size_t yaml_line_start(const char *text, size_t line)
{
    size_t at = 0;

    while (--line > 0 && text[at + strcspn(text + at, "\n")])
        at += strcspn(text + at, "\n") + 1;
    return at;
}

static size_t yaml_line_behind(const char *text, size_t at)
{
    at += strcspn(text + at, "\n");
    return at + (text[at] == '\n');
}

/* The place of the member NAME of the mapping, or of the mapping itself for NULL. */
static const struct yaml_place *yaml_section_find(const struct yaml_section *section,
                                                  const char *name)
{
    AUTO_FREE char *outer = yaml_pointer("", section->entry->path[0]);
    AUTO_FREE char *inner = name ? yaml_pointer(outer, name) : NULL;

    return yaml_tree_find(&section->tree, inner ? inner : outer);
}

static int yaml_section_check(struct yaml_section *section, struct error *err)
{
    const struct yaml_place *place = yaml_section_find(section, NULL);
    json_t *root = section->tree.root;

    if (root && !json_is_object(root) && !json_is_null(root))
        return settings_fault(err, section->text, 0, "must be a mapping");
    if (!place)
        return 0;
    section->mapping = json_object_get(root, section->entry->path[0]);
    section->line = yaml_line_start(section->text, place->key.line);
    section->is_flow = section->text[yaml_line_start(section->text, place->value.line) +
                                     place->value.column - 1] == '{';
    if (!json_is_object(section->mapping) && !json_is_null(section->mapping))
        return settings_fault(err, section->text, section->line, "%s must be a mapping",
                              section->entry->path[0]);
    return 0;
}

static bool is_without_values(const char *text)
{
    for (size_t at = 0; text[at]; at = yaml_line_behind(text, at))
        if (!strchr("\r\n#", text[at + strspn(text + at, " ")]))
            return false;
    return true;
}

static int yaml_section_init(struct yaml_section *section, const char *text,
                             const struct settings_entry *entry, struct error *err)
{
    struct yaml_first_fault fault = {{0}};
    AUTO_FREE char *message = NULL;

    *section = (struct yaml_section){.text = text, .entry = entry};
    if (settings_check_line_ends(text, err) < 0)
        return -1;
    if (is_without_values(text))
        return 0;
    yaml_tree_init(&section->tree, text, strlen(text), yaml_on_fault, &fault);
    message = fault.message;
    if (message)
        return error_set(err, ERROR_CONFIG, "%zu:%zu: %s", fault.position.line,
                         fault.position.column, message);
    return yaml_section_check(section, err);
}

/* The lines of the entry, without a line end behind the last. */
static char *yaml_lines(const struct settings_entry *entry, size_t indent, const char *line_end)
{
    char *text = memory_format("%*s%s:", (int)indent, "", entry->name);
    const char *name;
    json_t *value;

    json_object_foreach ((json_t *)entry->value, name, value) {
        AUTO_FREE char *dumped = json_dumps(value, JSON_ENCODE_ANY | JSON_REAL_PRECISION(15));
        AUTO_FREE char *before = text;

        text = memory_format("%s%s%*s%s: %s", before, line_end, (int)indent + INNER_INDENT, "",
                             name, dumped);
    }
    return text;
}

/* The last line gets an end if the one before had one, or if there was no file. */
static char *yaml_append(const char *text, const struct settings_entry *entry)
{
    const char *line_end = settings_line_end(text_or_none(text));
    const size_t length = strlen(text_or_none(text));
    AUTO_FREE char *lines = yaml_lines(entry, MADE_INDENT, line_end);
    const bool is_ended = !text || (length > 0 && text[length - 1] == '\n');

    return memory_format("%s%s%s:%s%s%s", text_or_none(text),
                         is_ended || length == 0 ? "" : line_end, entry->path[0], line_end, lines,
                         is_ended ? line_end : "");
}

/* Where the first member of the mapping stands; NULL when it has none. */
static const struct yaml_place *yaml_first_member(const struct yaml_section *section)
{
    const struct yaml_place *first = NULL;
    const char *name;
    json_t *value;

    json_object_foreach (section->mapping, name, value) {
        const struct yaml_place *place = yaml_section_find(section, name);

        if (place && (!first || place->key.line < first->key.line))
            first = place;
    }
    return first;
}

/* The entry as the only member of empty brackets. */
static char *yaml_fill_brackets(const struct yaml_section *section)
{
    const struct yaml_place *place = yaml_section_find(section, NULL);
    const size_t open = yaml_line_start(section->text, place->value.line) + place->value.column;
    AUTO_FREE char *value = json_dumps(section->entry->value, JSON_ENCODE_ANY);
    AUTO_FREE char *member = memory_format("\"%s\": %s", section->entry->name, value);

    return settings_spliced(section->text, &(struct settings_splice){open, open, member}, 1);
}

/* The entry as the first member of a block. FIRST: the present first member, or NULL. */
static char *yaml_insert_lines(const struct yaml_section *section, const struct yaml_place *first)
{
    const char *text = section->text;
    const char *line_end = settings_line_end(text);
    const size_t at =
        first ? yaml_line_start(text, first->key.line) : yaml_line_behind(text, section->line);
    const bool is_ended = text[at > 0 ? at - 1 : 0] == '\n';
    AUTO_FREE char *lines =
        yaml_lines(section->entry, first ? first->key.column - 1 : LEFT_INDENT, line_end);
    AUTO_FREE char *whole =
        memory_format("%s%s%s", is_ended ? "" : line_end, lines, is_ended ? line_end : "");

    return settings_spliced(text, &(struct settings_splice){at, at, whole}, 1);
}

static char *yaml_insert(const struct yaml_section *section)
{
    const struct yaml_place *first = yaml_first_member(section);

    if (section->is_flow && !first)
        return yaml_fill_brackets(section);
    return yaml_insert_lines(section, first);
}

/* The values of the text without the entry, and without the name of a mapping that has become
 * empty. Owned. */
static json_t *yaml_others(const struct yaml_section *section)
{
    json_t *root =
        json_is_object(section->tree.root) ? json_deep_copy(section->tree.root) : json_object();
    json_t *mapping = json_object_get(root, section->entry->path[0]);

    json_object_del(mapping, section->entry->name);
    if (json_object_size(mapping) == 0)
        json_object_del(root, section->entry->path[0]);
    return root;
}

/* TEXT, which was made, has the entry with VALUE, or none for NULL; nothing else has changed. */
static int yaml_check_result(const struct yaml_section *section, const char *text,
                             const json_t *value, struct error *err)
{
    AUTO(yaml_section_deinit) struct yaml_section made = {0};
    AUTO_JSON json_t *expected = yaml_others(section);
    AUTO_JSON json_t *others = NULL;
    struct error ignored = ERROR_INIT;

    if (yaml_section_init(&made, text, section->entry, &ignored) == 0) {
        const json_t *written = json_object_get(made.mapping, section->entry->name);

        others = yaml_others(&made);
        if (json_equal(others, expected) && (value ? json_equal(written, value) : !written))
            return 0;
    }
    return settings_fault(err, section->text, section->line,
                          "%s is not written as a block: one member in each line",
                          section->entry->path[0]);
}

static int yaml_put_new(const struct yaml_section *section, const char *text, char **ret_text,
                        struct error *err)
{
    AUTO_FREE char *made =
        section->mapping ? yaml_insert(section) : yaml_append(text, section->entry);

    if (yaml_check_result(section, made, section->entry->value, err) < 0)
        return -1;
    *ret_text = STEAL_PTR(made);
    return SETTINGS_CHANGED;
}

int yaml_section_put(const char *text, const struct settings_entry *entry, char **ret_text,
                     struct error *err)
{
    AUTO(yaml_section_deinit) struct yaml_section section = {0};
    AUTO_FREE char *rest = NULL;
    const json_t *old;

    if (yaml_section_init(&section, text_or_none(text), entry, err) < 0)
        return -1;
    old = json_object_get(section.mapping, entry->name);
    if (!old)
        return yaml_put_new(&section, text, ret_text, err);
    if (json_equal(old, entry->value))
        return SETTINGS_SAME;
    if (yaml_section_take(text, entry, &rest, err) < 0)
        return -1;
    return yaml_section_put(rest, entry, ret_text, err);
}

/* Behind the last line that is further in than the one at START. */
static size_t yaml_block_end(const char *text, size_t start)
{
    const size_t indent = strspn(text + start, " ");
    size_t end = yaml_line_behind(text, start);

    for (size_t at = end; text[at]; at = yaml_line_behind(text, at)) {
        const size_t inner = strspn(text + at, " ");

        if (strchr("\r\n#", text[at + inner]))
            continue;
        if (inner <= indent)
            break;
        end = yaml_line_behind(text, at);
    }
    return end;
}

static enum settings_outcome yaml_cut(const char *text, size_t start, size_t end, char **ret_text)
{
    const bool is_ended = end > 0 && text[end - 1] == '\n';

    if (start == 0 && !text[end] && is_ended)
        return SETTINGS_GONE;
    if (!is_ended && start > 0)
        start -= start > 1 && text[start - 2] == '\r' ? 2 : 1;
    *ret_text = settings_spliced(text, &(struct settings_splice){start, end, ""}, 1);
    return SETTINGS_CHANGED;
}

/* Brackets that hold the entry alone. */
static int yaml_empty_brackets(const struct yaml_section *section, char **ret_text,
                               struct error *err)
{
    const struct yaml_place *place = yaml_section_find(section, NULL);
    const size_t open = yaml_line_start(section->text, place->value.line) + place->value.column;
    AUTO_FREE char *value =
        json_dumps(json_object_get(section->mapping, section->entry->name), JSON_ENCODE_ANY);
    AUTO_FREE char *member = memory_format("\"%s\": %s", section->entry->name, value);

    if (!text_starts_with(section->text + open, member) || json_object_size(section->mapping) > 1)
        return settings_fault(err, section->text, open - 1,
                              "%s is not written as a block: one member in each line",
                              section->entry->path[0]);
    *ret_text = settings_spliced(section->text,
                                 &(struct settings_splice){open, open + strlen(member), ""}, 1);
    return SETTINGS_CHANGED;
}

/* The line of the mapping's name is as yaml_append writes it, and the one at ENTRY is the next. */
static bool yaml_is_made_for(const struct yaml_section *section, size_t entry)
{
    const char *line = section->text + section->line;
    const size_t length = strlen(section->entry->path[0]);

    return text_starts_with(line, section->entry->path[0]) && line[length] == ':' &&
           strchr("\r\n", line[length + 1]) &&
           yaml_line_behind(section->text, section->line) == entry;
}

static int yaml_take_lines(const struct yaml_section *section, char **ret_text, struct error *err)
{
    const struct yaml_place *place = yaml_section_find(section, section->entry->name);
    size_t start = yaml_line_start(section->text, place->key.line);
    AUTO_FREE char *rest = NULL;
    enum settings_outcome outcome;

    if (json_object_size(section->mapping) == 1 && place->key.column == MADE_INDENT + 1 &&
        yaml_is_made_for(section, start))
        start = section->line;
    outcome = yaml_cut(section->text, start, yaml_block_end(section->text, start), &rest);
    if (yaml_check_result(section, text_or_none(rest), NULL, err) < 0)
        return -1;
    *ret_text = STEAL_PTR(rest);
    return outcome;
}

int yaml_section_take(const char *text, const struct settings_entry *entry, char **ret_text,
                      struct error *err)
{
    AUTO(yaml_section_deinit) struct yaml_section section = {0};

    if (yaml_section_init(&section, text_or_none(text), entry, err) < 0)
        return -1;
    if (!json_object_get(section.mapping, entry->name))
        return SETTINGS_SAME;
    if (section.is_flow)
        return yaml_empty_brackets(&section, ret_text, err);
    return yaml_take_lines(&section, ret_text, err);
}
