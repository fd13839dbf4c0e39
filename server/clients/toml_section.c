#include "server/clients/toml_section.h"

#include "base/buffer.h"
#include "base/cleanup.h"
#include "base/json.h"
#include "base/memory.h"
#include "base/text.h"

#include <assert.h>
#include <stdbool.h>
#include <string.h>

enum {
    NAME_PARTS = 3,
    PLACE_PARTS = 2, /* a table, and the entry in it */
};

/* A dotted name, as far as it matters here: "a.'b'.c" has the parts a, b and c. */
struct toml_name {
    char *parts[NAME_PARTS]; /* owned; NULL behind the last */
    size_t count;            /* more than there are parts, if need be */
};

/* A reading of the text, line by line. */
struct toml_scan {
    const char *text;
    const struct settings_entry *entry;
    size_t at;
    struct toml_name table; /* of the lines that come */
    bool is_inside;         /* that is the entry's, or below it */
    bool is_there;
    size_t start; /* of the entry's lines, ... */
    size_t end;   /* ... behind the last of them */
};

static void toml_name_deinit(struct toml_name *name)
{
    for (size_t i = 0; i < NAME_PARTS; i++)
        free(name->parts[i]);
    *name = (struct toml_name){0};
}

static void toml_scan_deinit(struct toml_scan *scan)
{
    toml_name_deinit(&scan->table);
}

static size_t toml_pass_blanks(const char *text, size_t at)
{
    return at + strspn(text + at, " \t");
}

/* The end of the string at AT, or AT when it is not closed. */
static size_t toml_quoted_end(const char *text, size_t at)
{
    const char quote = text[at];
    const char three[] = {quote, quote, quote, '\0'};
    const bool is_long = text_starts_with(text + at, three);
    size_t i = at + (is_long ? 3 : 1);

    while (text[i]) {
        if (is_long ? text_starts_with(text + i, three) : text[i] == quote) {
            i += is_long ? 3 : 1;
            while (is_long && text[i] == quote)
                i++;
            return i;
        }
        if (text[i] == '\n' && !is_long)
            break;
        i += quote == '"' && text[i] == '\\' && text[i + 1] ? 2 : 1;
    }
    return at;
}

static void toml_name_add(struct toml_name *name, const char *bytes, size_t length)
{
    if (name->count < NAME_PARTS)
        name->parts[name->count] = memory_format("%.*s", (int)length, bytes);
    name->count++;
}

/* Reads the name at *AT and moves behind it. */
static int toml_read_name(const char *text, size_t *at, struct toml_name *name, struct error *err)
{
    do {
        size_t start = toml_pass_blanks(text, *at + (name->count > 0));
        const bool is_quoted = text[start] == '"' || text[start] == '\'';
        size_t end = is_quoted ? toml_quoted_end(text, start)
                               : start + strcspn(text + start, " \t\r\n.=[]{}#\"',");

        if (end == start)
            return settings_fault(err, text, start, "is not valid TOML: a name is expected");
        toml_name_add(name, text + start + is_quoted, end - start - 2 * is_quoted);
        *at = toml_pass_blanks(text, end);
    } while (text[*at] == '.');
    return 0;
}

/* Moves over a value: to the end of its line, or of the last one if it has several. */
static int toml_skip_value(struct toml_scan *scan, struct error *err)
{
    const char *text = scan->text;
    const size_t start = scan->at;
    size_t depth = 0;

    while (text[scan->at] && (depth > 0 || text[scan->at] != '\n')) {
        const char mark = text[scan->at];
        size_t end = scan->at + 1;

        if (mark == '#')
            end = scan->at + strcspn(text + scan->at, "\n");
        else if (mark == '"' || mark == '\'')
            end = toml_quoted_end(text, scan->at);
        else if (mark == '[' || mark == '{')
            depth++;
        else if ((mark == ']' || mark == '}') && depth-- == 0)
            return settings_fault(err, text, scan->at, "is not valid TOML: nothing is open here");
        if (end == scan->at)
            return settings_fault(err, text, scan->at, "is not valid TOML: a string is not closed");
        scan->at = end;
    }
    if (depth > 0)
        return settings_fault(err, text, start, "is not valid TOML: a bracket is not closed");
    return 0;
}

/* False when NAME leads elsewhere than to PARTS, of which *FOUND are passed already. */
static bool toml_name_leads_to(const struct toml_name *name, const char *const parts[PLACE_PARTS],
                               size_t *found)
{
    for (size_t i = 0; i < size_min(name->count, NAME_PARTS) && *found < PLACE_PARTS; i++) {
        assert(name->parts[i]);
        if (strcmp(name->parts[i], parts[(*found)++]) != 0)
            return false;
    }
    return true;
}

/* True when TABLE, followed by the first parts of NAME, is the place of the entry. */
static bool is_of_entry(const struct toml_scan *scan, const struct toml_name *table,
                        const struct toml_name *name)
{
    const char *const parts[PLACE_PARTS] = {scan->entry->path[0], scan->entry->name};
    size_t found = 0;

    return toml_name_leads_to(table, parts, &found) && toml_name_leads_to(name, parts, &found) &&
           found == PLACE_PARTS;
}

static int toml_scan_table(struct toml_scan *scan, size_t line, struct error *err)
{
    const bool is_array = scan->text[scan->at + 1] == '[';
    struct toml_name none = {0};

    toml_name_deinit(&scan->table);
    scan->at += is_array ? 2 : 1;
    if (toml_read_name(scan->text, &scan->at, &scan->table, err) < 0)
        return -1;
    if (!text_starts_with(scan->text + scan->at, is_array ? "]]" : "]"))
        return settings_fault(err, scan->text, scan->at, "is not valid TOML: ] is expected");
    scan->at += is_array ? 2 : 1;
    scan->is_inside = is_of_entry(scan, &none, &scan->table);
    if (scan->is_inside && scan->is_there && settings_trim(scan->text, scan->end, line) > scan->end)
        return settings_fault(err, scan->text, line, "the tables of %s are not together",
                              scan->entry->name);
    if (scan->is_inside && !scan->is_there)
        scan->start = line;
    scan->is_there |= scan->is_inside;
    return 0;
}

/* NAME = VALUE. The place of the entry must be a table that stands by itself. */
static int toml_scan_pair(struct toml_scan *scan, struct error *err)
{
    AUTO(toml_name_deinit) struct toml_name name = {0};
    const size_t start = scan->at;

    if (toml_read_name(scan->text, &scan->at, &name, err) < 0)
        return -1;
    if (scan->text[scan->at] != '=')
        return settings_fault(err, scan->text, scan->at, "is not valid TOML: = is expected");
    scan->at = toml_pass_blanks(scan->text, scan->at + 1);
    if (strchr("\r\n#", scan->text[scan->at]))
        return settings_fault(err, scan->text, scan->at, "is not valid TOML: a value is expected");
    if (!scan->is_inside && is_of_entry(scan, &scan->table, &name))
        return settings_fault(err, scan->text, start, "%s must be a table: [%s.%s]",
                              scan->entry->name, scan->entry->path[0], scan->entry->name);
    if (scan->table.count == 0 && name.count == 1 &&
        strcmp(name.parts[0], scan->entry->path[0]) == 0)
        return settings_fault(err, scan->text, start, "%s must have tables: [%s.NAME]",
                              scan->entry->path[0], scan->entry->path[0]);
    return toml_skip_value(scan, err);
}

static int toml_scan_line(struct toml_scan *scan, struct error *err)
{
    const size_t line = scan->at;
    int ret = 0;

    scan->at = toml_pass_blanks(scan->text, scan->at);
    if (scan->text[scan->at] == '[')
        ret = toml_scan_table(scan, line, err);
    else if (!strchr("\r\n#", scan->text[scan->at]))
        ret = toml_scan_pair(scan, err);
    else
        return toml_skip_value(scan, err);
    if (ret == 0 && scan->text[scan->at = toml_pass_blanks(scan->text, scan->at)] &&
        !strchr("\r\n#", scan->text[scan->at]))
        return settings_fault(err, scan->text, scan->at, "is not valid TOML: the line goes on");
    if (ret == 0 && toml_skip_value(scan, err) < 0)
        return -1;
    if (scan->is_inside)
        scan->end = scan->at + (scan->text[scan->at] == '\n');
    return ret;
}

static int toml_scan_text(struct toml_scan *scan, struct error *err)
{
    if (settings_check_line_ends(scan->text, err) < 0)
        return -1;
    while (scan->text[scan->at]) {
        if (toml_scan_line(scan, err) < 0)
            return -1;
        scan->at += scan->text[scan->at] == '\n';
    }
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
