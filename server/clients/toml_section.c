#include "server/clients/toml_section.h"

#include "base/ascii.h"
#include "base/cleanup.h"
#include "base/json.h"
#include "base/memory.h"
#include "base/text.h"
#include "base/toml_reader.h"

#include <stdbool.h>
#include <string.h>

/* A reading of the text, item by item. */
struct toml_scan {
    const char *text;
    const struct settings_entry *entry;
    json_t *table;  /* owned: the name of the table that the items are in, an array of strings */
    bool is_inside; /* the table is the entry's, or below it */
    bool is_there;
    size_t start; /* of the entry's lines, ... */
    size_t end;   /* ... behind the last of them */
};

static void toml_scan_deinit(struct toml_scan *scan)
{
    json_decref(scan->table);
}

/* The part at INDEX of TABLE's name followed by NAME, or "". */
static const char *toml_part(const json_t *table, const json_t *name, size_t index)
{
    const size_t parts = json_array_size(table);
    const json_t *part =
        index < parts ? json_array_get(table, index) : json_array_get(name, index - parts);

    return text_or_none(json_string_value(part));
}

static bool is_below_path(const struct toml_scan *scan, const json_t *table, const json_t *name)
{
    return strcmp(toml_part(table, name, 0), scan->entry->path[0]) == 0;
}

/* True when TABLE's name followed by NAME begins with the place of the entry. */
static bool is_of_entry(const struct toml_scan *scan, const json_t *table, const json_t *name)
{
    return is_below_path(scan, table, name) &&
           strcmp(toml_part(table, name, 1), scan->entry->name) == 0;
}

static int toml_scan_table(struct toml_scan *scan, struct toml_item *item, struct error *err)
{
    size_t line = item->start;

    while (line > 0 && ascii_is_blank(scan->text[line - 1]))
        line--;
    json_decref(scan->table);
    scan->table = STEAL_PTR(item->name);
    scan->is_inside = is_of_entry(scan, NULL, scan->table);
    if (scan->is_inside && scan->is_there && settings_trim(scan->text, scan->end, line) > scan->end)
        return settings_fault(err, scan->text, line, "the tables of %s are not together",
                              scan->entry->name);
    if (scan->is_inside && !scan->is_there)
        scan->start = line;
    scan->is_there |= scan->is_inside;
    return 0;
}

/* The place of the entry must be a table that stands by itself. */
static int toml_scan_pair(struct toml_scan *scan, const struct toml_item *item, struct error *err)
{
    const char *path = scan->entry->path[0];

    if (!scan->is_inside && is_of_entry(scan, scan->table, item->name))
        return settings_fault(err, scan->text, item->start, "%s must be a table: [%s.%s]",
                              scan->entry->name, path, scan->entry->name);
    if (!scan->table && json_array_size(item->name) == 1 && is_below_path(scan, NULL, item->name))
        return settings_fault(err, scan->text, item->start, "%s must have tables: [%s.NAME]", path,
                              path);
    return 0;
}

static int toml_scan_item(struct toml_scan *scan, struct toml_item *item, struct error *err)
{
    const int result =
        item->is_table ? toml_scan_table(scan, item, err) : toml_scan_pair(scan, item, err);

    if (scan->is_inside)
        scan->end = item->end;
    return result;
}

static int toml_scan_text(struct toml_scan *scan, struct error *err)
{
    AUTO(toml_reader_deinit) struct toml_reader reader;
    int result;

    toml_reader_init(&reader, scan->text, strlen(scan->text));
    if (settings_check_line_ends(scan->text, err) < 0)
        return -1;
    do {
        AUTO(toml_item_deinit) struct toml_item item;

        result = toml_reader_next(&reader, &item);
        if (result < 0)
            return settings_fault(err, scan->text, reader.fault_at, "is not valid TOML: %s",
                                  reader.fault);
        if (result > 0 && toml_scan_item(scan, &item, err) < 0)
            return -1;
    } while (result > 0);
    return 0;
}

/* The table of the entry, with a line end behind each line but the last. */
static char *toml_table(const struct settings_entry *entry, const char *line_end)
{
    char *text = memory_format("[%s.%s]", entry->path[0], entry->name);
    const char *name;
    json_t *value;

    json_object_foreach ((json_t *)entry->value, name, value) {
        AUTO_FREE char *dumped = json_dumps(value, JSON_ENCODE_ANY | JSON_REAL_PRECISION(15));
        AUTO_FREE char *before = text;

        text = memory_format("%s%s%s = %s", before, line_end, name, dumped);
    }
    return text;
}

/* The line ends around TABLE show whether the text was there, was empty, and had an end of its last
 * line. */
static char *toml_append(const char *text, const char *table)
{
    const char *line_end = settings_line_end(text_or_none(text));
    const size_t length = strlen(text_or_none(text));

    if (!text)
        return memory_format("%s\n", table);
    if (length > 0 && text[length - 1] != '\n')
        return memory_format("%s%s%s%s", text, line_end, line_end, table);
    return memory_format("%s%s%s%s", text, line_end, table, line_end);
}

int toml_section_put(const char *text, const struct settings_entry *entry, char **ret_text,
                     struct error *err)
{
    AUTO(toml_scan_deinit)
    struct toml_scan scan = {.text = text_or_none(text), .entry = entry};
    AUTO_FREE char *table = toml_table(entry, settings_line_end(scan.text));
    size_t end;

    if (toml_scan_text(&scan, err) < 0)
        return -1;
    end = settings_trim(scan.text, scan.start, scan.end);
    if (!scan.is_there)
        *ret_text = toml_append(text, table);
    else if (strlen(table) == end - scan.start &&
             memcmp(table, scan.text + scan.start, end - scan.start) == 0)
        return SETTINGS_SAME;
    else
        *ret_text = settings_spliced(text, &(struct settings_splice){scan.start, end, table}, 1);
    return SETTINGS_CHANGED;
}

/* Where the line end begins that stands before AT, or AT. */
static size_t before_line_end(const char *text, size_t at)
{
    if (at > 0 && text[at - 1] == '\n')
        at -= at > 1 && text[at - 2] == '\r' ? 2 : 1;
    return at;
}

int toml_section_take(const char *text, const struct settings_entry *entry, char **ret_text,
                      struct error *err)
{
    AUTO(toml_scan_deinit)
    struct toml_scan scan = {.text = text_or_none(text), .entry = entry};
    size_t start;

    if (toml_scan_text(&scan, err) < 0)
        return -1;
    if (!scan.is_there)
        return SETTINGS_SAME;
    if (scan.start == 0 && !scan.text[scan.end])
        return SETTINGS_GONE;
    start = before_line_end(scan.text, scan.start);
    if (start > 0 && scan.text[start - 1] != '\n' && scan.text[scan.end - 1] == '\n')
        start = scan.start; /* there is no empty line before it */
    if (scan.text[scan.end - 1] != '\n')
        start = before_line_end(scan.text, start);
    *ret_text = settings_spliced(text, &(struct settings_splice){start, scan.end, ""}, 1);
    return SETTINGS_CHANGED;
}
