/* A YAML document as a jansson tree, and the place in the file of each of its values and keys.
 *
 * Only the YAML that a configuration needs: one document, no anchors, aliases or tags, each key
 * once. Plain scalars follow the YAML 1.2 core schema in JSON's spelling: `yes`, `010` and `0x10`
 * are strings. Size, depth and count are limited before they can cost anything. */
#pragma once

#include <jansson.h>
#include <stddef.h>

enum {
    YAML_TEXT_BYTES = 256 * 1024,
    YAML_DEPTH = 32,
    YAML_VALUES = 10000,
    YAML_KEY_BYTES = 256, /* a path may be one */
};

/* Counted from 1; columns in characters. */
struct yaml_position {
    size_t line;
    size_t column;
};

struct yaml_place {
    char *pointer; /* JSON Pointer (RFC 6901) of the value; owned */
    struct yaml_position value;
    struct yaml_position key; /* of its key, or of the value where it has none */
};

struct yaml_tree {
    json_t *root;              /* owned; NULL when the text cannot be read to its end */
    struct yaml_place *places; /* owned; sorted by pointer */
    size_t place_count;
    size_t place_capacity;
};

/* Called for each fault. POINTER names the value that cannot be used because of it: "" when none
 * can. It and MESSAGE are borrowed until the call returns. */
typedef void (*yaml_fault_fn)(void *data, struct yaml_position position, const char *pointer,
                              const char *message);

/* Reads LENGTH bytes of UTF-8. A value that is at fault becomes null, and reading goes on as long
 * as there is a syntax to follow. */
void yaml_tree_init(struct yaml_tree *tree, const char *text, size_t length, yaml_fault_fn report,
                    void *data);
void yaml_tree_deinit(struct yaml_tree *tree);

/* The place of POINTER, or NULL when it is not in the text. Borrowed. */
const struct yaml_place *yaml_tree_find(const struct yaml_tree *tree, const char *pointer);

/* The JSON Pointer of member KEY of PARENT. Owned by the caller. */
char *yaml_pointer(const char *parent, const char *key);
