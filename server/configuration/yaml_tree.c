#include "server/configuration/yaml_tree.h"

#include "base/cleanup.h"
#include "base/json.h"
#include "base/memory.h"

#include <assert.h>
#include <math.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <yaml.h>

/* libyaml's events, not its documents: its document loader has no limits, and its scanner takes
 * time quadratic in the depth that it is allowed to reach. */
struct yaml_reader {
    yaml_parser_t parser;
    const char *text; /* borrowed */
    size_t length;
    struct yaml_tree *tree;
    yaml_fault_fn report;
    void *data;
    unsigned depth;
    unsigned values;
};

static json_t *read_value(struct yaml_reader *reader, const yaml_event_t *event,
                          const char *pointer);

static struct yaml_position position_of(yaml_mark_t mark)
{
    return (struct yaml_position){.line = mark.line + 1, .column = mark.column + 1};
}

static void yaml_tree_complain(struct yaml_reader *reader, yaml_mark_t mark, const char *pointer,
                               const char *format, ...) __attribute__((format(printf, 4, 5)));

static void yaml_tree_complain(struct yaml_reader *reader, yaml_mark_t mark, const char *pointer,
                               const char *format, ...)
{
    AUTO_FREE char *message = NULL;
    va_list arguments;

    va_start(arguments, format);
    message = memory_format_list(format, arguments);
    va_end(arguments);
    reader->report(reader->data, position_of(mark), pointer, message);
}

/* The line and column of the byte at OFFSET: libyaml gives no more for ill-formed characters. */
static struct yaml_position position_of_byte(const char *text, size_t offset)
{
    struct yaml_position position = {.line = 1, .column = 1};

    for (size_t i = 0; i < offset; i++) {
        if (text[i] == '\n') {
            position.line++;
            position.column = 1;
        } else if (((unsigned char)text[i] & 0xc0) != 0x80) {
            position.column++;
        }
    }
    return position;
}

/* True when libyaml has stopped at a tab in the indentation. */
static bool is_tab_indented(const struct yaml_reader *reader)
{
    const yaml_parser_t *parser = &reader->parser;
    size_t at = parser->problem_mark.index;

    return parser->error == YAML_SCANNER_ERROR && at < reader->length && reader->text[at] == '\t';
}

static void complain_about_syntax(struct yaml_reader *reader)
{
    const yaml_parser_t *parser = &reader->parser;
    const char *problem = parser->problem ? parser->problem : "cannot be read";

    if (is_tab_indented(reader))
        yaml_tree_complain(reader, parser->problem_mark, "",
                           "line %zu is indented with a tab; indent with spaces",
                           parser->problem_mark.line + 1);
    else if (parser->error == YAML_READER_ERROR)
        reader->report(reader->data, position_of_byte(reader->text, parser->problem_offset), "",
                       problem);
    else if (!parser->context)
        yaml_tree_complain(reader, parser->problem_mark, "", "%s%s", problem,
                           strstr(problem, "mapping values are not allowed")
                               ? ": has the line before it a colon and a space?"
                               : "");
    else if (parser->context_mark.line == parser->problem_mark.line)
        yaml_tree_complain(reader, parser->problem_mark, "", "%s, %s", problem, parser->context);
    else
        yaml_tree_complain(reader, parser->problem_mark, "", "%s, %s that begins in line %zu",
                           problem, parser->context, parser->context_mark.line + 1);
}

static bool next_event(struct yaml_reader *reader, yaml_event_t *ret)
{
    if (yaml_parser_parse(&reader->parser, ret))
        return true;
    complain_about_syntax(reader);
    return false;
}

static void add_place(struct yaml_tree *tree, const char *pointer, yaml_mark_t value,
                      yaml_mark_t key)
{
    if (tree->place_count == tree->place_capacity) {
        tree->place_capacity = tree->place_capacity ? tree->place_capacity * 2 : 64;
        tree->places = memory_resize(tree->places, tree->place_capacity * sizeof *tree->places);
    }
    tree->places[tree->place_count++] = (struct yaml_place){
        .pointer = memory_copy_string(pointer),
        .value = position_of(value),
        .key = position_of(key),
    };
}

static void remove_places(struct yaml_tree *tree, size_t count)
{
    while (tree->place_count > count)
        free(tree->places[--tree->place_count].pointer);
}

char *yaml_pointer(const char *parent, const char *key)
{
    AUTO_FREE char *escaped = memory_new(strlen(key) * 2 + 1, 1);
    char *end = escaped;

    for (; *key; key++) {
        if (*key == '~' || *key == '/') {
            *end++ = '~';
            *end++ = *key == '~' ? '0' : '1';
        } else {
            *end++ = *key;
        }
    }
    return memory_format("%s/%s", parent, escaped);
}

static bool is_whole(double number)
{
    return fabs(number) < 9e15 && number == (double)(json_int_t)number;
}

/* The number that TEXT is, JSON's way of writing one; or NULL. `64.0` and `1e3` are integers. */
static json_t *yaml_tree_read_number(const char *text, size_t length, bool *ret_overflow)
{
    json_error_t error;
    json_t *number = NULL;

    if (*text != '-' && (*text < '0' || *text > '9'))
        return NULL;
    number = json_loadb(text, length, JSON_DECODE_ANY, &error);
    if (!number)
        *ret_overflow = json_error_code(&error) == json_error_numeric_overflow;
    if (json_is_real(number) && is_whole(json_real_value(number))) {
        double whole = json_real_value(number);

        json_decref(number);
        return json_integer((json_int_t)whole);
    }
    return number;
}

static json_t *read_plain(struct yaml_reader *reader, const yaml_event_t *event,
                          const char *pointer)
{
    static const struct {
        const char *text;
        json_type type;
    } words[] = {
        {"", JSON_NULL},       {"~", JSON_NULL},      {"null", JSON_NULL},   {"Null", JSON_NULL},
        {"NULL", JSON_NULL},   {"true", JSON_TRUE},   {"True", JSON_TRUE},   {"TRUE", JSON_TRUE},
        {"false", JSON_FALSE}, {"False", JSON_FALSE}, {"FALSE", JSON_FALSE},
    };
    const char *text = (const char *)event->data.scalar.value;
    bool overflow = false;
    json_t *number;

    for (size_t i = 0; i < ARRAY_SIZE(words); i++) {
        if (strcmp(text, words[i].text) == 0)
            return words[i].type == JSON_NULL ? json_null()
                                              : json_boolean(words[i].type == JSON_TRUE);
    }
    number = yaml_tree_read_number(text, event->data.scalar.length, &overflow);
    if (number)
        return number;
    if (overflow)
        yaml_tree_complain(reader, event->start_mark, pointer, "the number is too large");
    return json_stringn_nocheck(text, event->data.scalar.length);
}

static json_t *read_scalar(struct yaml_reader *reader, const yaml_event_t *event,
                           const char *pointer)
{
    const char *text = (const char *)event->data.scalar.value;
    size_t length = event->data.scalar.length;

    if (memchr(text, '\0', length)) {
        yaml_tree_complain(reader, event->start_mark, pointer, "must not contain a NUL character");
        return json_null();
    }
    if (event->data.scalar.style == YAML_PLAIN_SCALAR_STYLE)
        return read_plain(reader, event, pointer);
    return json_stringn_nocheck(text, length);
}

static void refuse_anchor(struct yaml_reader *reader, yaml_mark_t mark, const char *pointer,
                          const yaml_char_t *anchor)
{
    if (anchor)
        yaml_tree_complain(reader, mark, pointer, "anchor &%s: anchors and aliases are not read",
                           (const char *)anchor);
}

static void refuse_tag(struct yaml_reader *reader, yaml_mark_t mark, const char *pointer,
                       bool tagged)
{
    if (tagged)
        yaml_tree_complain(reader, mark, pointer,
                           "tags are not read, a value has the type it is written as");
}

static void refuse_scalar_properties(struct yaml_reader *reader, const yaml_event_t *event,
                                     const char *pointer)
{
    /* `! text` has no tag, but its style does not decide its type either. */
    bool odd =
        event->data.scalar.style == YAML_PLAIN_SCALAR_STYLE && !event->data.scalar.plain_implicit;

    refuse_anchor(reader, event->start_mark, pointer, event->data.scalar.anchor);
    refuse_tag(reader, event->start_mark, pointer, event->data.scalar.tag || odd);
}

static json_t *read_sequence(struct yaml_reader *reader, const char *pointer)
{
    AUTO_JSON json_t *array = json_array();

    for (;;) {
        AUTO(yaml_event_delete) yaml_event_t event = {0};
        AUTO_FREE char *item = memory_format("%s/%zu", pointer, json_array_size(array));
        json_t *value;

        if (!next_event(reader, &event))
            return NULL;
        if (event.type == YAML_SEQUENCE_END_EVENT)
            return STEAL_PTR(array);
        add_place(reader->tree, item, event.start_mark, event.start_mark);
        value = read_value(reader, &event, item);
        if (!value)
            return NULL;
        json_array_append_new(array, value);
    }
}

/* NULL when EVENT cannot be a key: that has been reported. Borrowed from EVENT. */
static const char *yaml_tree_read_key(struct yaml_reader *reader, const yaml_event_t *event)
{
    if (event->type != YAML_SCALAR_EVENT)
        yaml_tree_complain(reader, event->start_mark, "", "a key must be a single word or string");
    else if (event->data.scalar.length > YAML_KEY_BYTES)
        yaml_tree_complain(reader, event->start_mark, "", "the key is longer than %d bytes",
                           YAML_KEY_BYTES);
    else if (memchr(event->data.scalar.value, '\0', event->data.scalar.length))
        yaml_tree_complain(reader, event->start_mark, "", "the key contains a NUL character");
    else
        return (const char *)event->data.scalar.value;
    return NULL;
}

static void complain_about_duplicate(struct yaml_reader *reader, const yaml_event_t *event,
                                     const char *pointer, const char *key)
{
    const struct yaml_tree *tree = reader->tree;

    for (size_t i = tree->place_count; i > 0; i--) {
        const struct yaml_place *place = &tree->places[i - 1];

        if (strcmp(place->pointer, pointer) != 0)
            continue;
        yaml_tree_complain(reader, event->start_mark, pointer,
                           "key \"%s\" is given twice, first in line %zu", key, place->key.line);
        return;
    }
}

/* Reads the value that begins with EVENT for its faults alone. False: the text has ended. */
static bool read_duplicate(struct yaml_reader *reader, const yaml_event_t *event,
                           const char *pointer)
{
    size_t places = reader->tree->place_count;
    AUTO_JSON json_t *value = read_value(reader, event, pointer);

    remove_places(reader->tree, places);
    return value;
}

/* Reads the value that belongs to the key of KEY_EVENT into OBJECT. False: the text has ended. */
static bool read_member(struct yaml_reader *reader, const yaml_event_t *key_event,
                        const char *pointer, json_t *object)
{
    AUTO(yaml_event_delete) yaml_event_t event = {0};
    const char *key = yaml_tree_read_key(reader, key_event);
    AUTO_FREE char *member = NULL;
    json_t *value;

    if (!key) /* if the key is a collection, its rest follows */
        return false;
    if (!next_event(reader, &event))
        return false;
    member = yaml_pointer(pointer, key);
    refuse_scalar_properties(reader, key_event, member);
    if (json_object_get(object, key)) {
        complain_about_duplicate(reader, key_event, member, key);
        return read_duplicate(reader, &event, member);
    }
    add_place(reader->tree, member, event.start_mark, key_event->start_mark);
    value = read_value(reader, &event, member);
    return value && json_object_set_new_nocheck(object, key, value) == 0;
}

static json_t *read_mapping(struct yaml_reader *reader, const char *pointer)
{
    AUTO_JSON json_t *object = json_object();

    for (;;) {
        AUTO(yaml_event_delete) yaml_event_t event = {0};

        if (!next_event(reader, &event))
            return NULL;
        if (event.type == YAML_MAPPING_END_EVENT)
            return STEAL_PTR(object);
        if (!read_member(reader, &event, pointer, object))
            return NULL;
    }
}

static json_t *read_alias(struct yaml_reader *reader, const yaml_event_t *event,
                          const char *pointer)
{
    yaml_tree_complain(reader, event->start_mark, pointer,
                       "alias *%s: write the value out, aliases are not read",
                       (const char *)event->data.alias.anchor);
    return json_null();
}

static json_t *read_node(struct yaml_reader *reader, const yaml_event_t *event, const char *pointer)
{
    switch (event->type) {
    case YAML_ALIAS_EVENT:
        return read_alias(reader, event, pointer);
    case YAML_SCALAR_EVENT:
        refuse_scalar_properties(reader, event, pointer);
        return read_scalar(reader, event, pointer);
    case YAML_SEQUENCE_START_EVENT:
        refuse_anchor(reader, event->start_mark, pointer, event->data.sequence_start.anchor);
        refuse_tag(reader, event->start_mark, pointer, event->data.sequence_start.tag);
        return read_sequence(reader, pointer);
    case YAML_MAPPING_START_EVENT:
        refuse_anchor(reader, event->start_mark, pointer, event->data.mapping_start.anchor);
        refuse_tag(reader, event->start_mark, pointer, event->data.mapping_start.tag);
        return read_mapping(reader, pointer);
    case YAML_NO_EVENT:
    case YAML_STREAM_START_EVENT:
    case YAML_STREAM_END_EVENT:
    case YAML_DOCUMENT_START_EVENT:
    case YAML_DOCUMENT_END_EVENT:
    case YAML_SEQUENCE_END_EVENT:
    case YAML_MAPPING_END_EVENT:
        break;
    }
    assert(!"libyaml promises a node here");
    return NULL;
}

/* The value that begins with EVENT, new; NULL when the text cannot be read any further. */
static json_t *read_value(struct yaml_reader *reader, const yaml_event_t *event,
                          const char *pointer)
{
    json_t *value;

    if (++reader->values > YAML_VALUES) {
        yaml_tree_complain(reader, event->start_mark, "", "there are more than %d values",
                           YAML_VALUES);
        return NULL;
    }
    if (reader->depth == YAML_DEPTH) {
        yaml_tree_complain(reader, event->start_mark, "", "values are nested more than %d deep",
                           YAML_DEPTH);
        return NULL;
    }
    reader->depth++;
    value = read_node(reader, event, pointer);
    reader->depth--;
    return value;
}

/* True for the event of an empty document: `---` and then the end. */
static bool is_nothing(const yaml_event_t *event)
{
    return event->type == YAML_SCALAR_EVENT && event->data.scalar.length == 0 &&
           event->data.scalar.style == YAML_PLAIN_SCALAR_STYLE;
}

/* The one document of the stream, new; NULL after a fault that was reported. A file of comments
 * only is an empty object. */
static json_t *read_stream(struct yaml_reader *reader)
{
    AUTO(yaml_event_delete) yaml_event_t stream_start = {0};
    AUTO(yaml_event_delete) yaml_event_t document_start = {0};
    AUTO(yaml_event_delete) yaml_event_t root = {0};
    AUTO(yaml_event_delete) yaml_event_t document_end = {0};
    AUTO(yaml_event_delete) yaml_event_t after = {0};
    AUTO_JSON json_t *value = NULL;

    if (!next_event(reader, &stream_start) || !next_event(reader, &document_start))
        return NULL;
    if (document_start.type == YAML_DOCUMENT_START_EVENT && !next_event(reader, &root))
        return NULL;
    add_place(reader->tree, "", root.start_mark, root.start_mark);
    if (root.type == YAML_NO_EVENT)
        return json_object();
    value = is_nothing(&root) ? json_object() : read_value(reader, &root, "");
    if (!value || !next_event(reader, &document_end) || !next_event(reader, &after))
        return NULL;
    if (after.type != YAML_STREAM_END_EVENT) {
        yaml_tree_complain(reader, after.start_mark, "",
                           "a second document begins here, there can be one");
        return NULL;
    }
    return STEAL_PTR(value);
}

static int compare_places(const void *left, const void *right)
{
    return strcmp(((const struct yaml_place *)left)->pointer,
                  ((const struct yaml_place *)right)->pointer);
}

void yaml_tree_init(struct yaml_tree *tree, const char *text, size_t length, yaml_fault_fn report,
                    void *data)
{
    struct yaml_reader reader = {
        .text = text, .length = length, .tree = tree, .report = report, .data = data};

    *tree = (struct yaml_tree){0};
    if (length > YAML_TEXT_BYTES) {
        yaml_tree_complain(&reader, (yaml_mark_t){0}, "", "the file is larger than %d bytes",
                           YAML_TEXT_BYTES);
        return;
    }
    if (!yaml_parser_initialize(&reader.parser)) {
        yaml_tree_complain(&reader, (yaml_mark_t){0}, "", "out of memory");
        return;
    }
    yaml_parser_set_encoding(&reader.parser, YAML_UTF8_ENCODING);
    yaml_parser_set_input_string(&reader.parser, (const unsigned char *)text, length);
    tree->root = read_stream(&reader);
    yaml_parser_delete(&reader.parser);
    if (tree->place_count > 0)
        qsort(tree->places, tree->place_count, sizeof *tree->places, compare_places);
}

void yaml_tree_deinit(struct yaml_tree *tree)
{
    json_decref(tree->root);
    remove_places(tree, 0);
    free(tree->places);
    *tree = (struct yaml_tree){0};
}

const struct yaml_place *yaml_tree_find(const struct yaml_tree *tree, const char *pointer)
{
    const struct yaml_place key = {.pointer = (char *)pointer};

    if (tree->place_count == 0)
        return NULL;
    return bsearch(&key, tree->places, tree->place_count, sizeof key, compare_places);
}
