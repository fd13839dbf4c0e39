/* The objects that the files of the validator share: a compiled schema, and one validation.
 *
 * Every object or boolean that is a schema becomes a node; every keyword of it that does something
 * becomes a rule, in the order of the keyword tables, so that "unevaluated..." comes last. A
 * reference is a rule whose one member is the node it leads to. */
#pragma once

#include "base/error.h"
#include "base/pattern.h"
#include "base/schema/schema.h"

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

struct schema_node;
struct schema_rule;
struct schema_run;

/* A value of the instance as one schema looks at it. */
struct schema_place {
    const json_t *value;               /* borrowed */
    const struct schema_place *parent; /* borrowed; NULL at the root */
    const char *key;                   /* borrowed; name in the parent, NULL in an array */
    size_t index;                      /* in the parent array */
    bool is_key;                       /* VALUE is the name itself (propertyNames) */
    unsigned char *seen; /* borrowed: which items or members a schema has evaluated; may be NULL */
};

/* Whether PLACE obeys RULE; reports if not. Values of other types than the keyword's obey. */
typedef bool (*schema_check_fn)(struct schema_run *run, const struct schema_rule *rule,
                                struct schema_place *place);

/* The shape that the value of a keyword must have. */
enum schema_shape {
    SCHEMA_SHAPE_ANY,
    SCHEMA_SHAPE_BOOLEAN,
    SCHEMA_SHAPE_STRING,
    SCHEMA_SHAPE_NUMBER,
    SCHEMA_SHAPE_POSITIVE,
    SCHEMA_SHAPE_COUNT,
    SCHEMA_SHAPE_ARRAY,
    SCHEMA_SHAPE_TYPES,
    SCHEMA_SHAPE_NAMES,
    SCHEMA_SHAPE_NAMES_BY_NAME,
    SCHEMA_SHAPE_PATTERN,
    SCHEMA_SHAPE_SCHEMA,
    SCHEMA_SHAPE_SCHEMAS,
    SCHEMA_SHAPE_SCHEMAS_BY_NAME,
    SCHEMA_SHAPE_SCHEMAS_BY_PATTERN,
    SCHEMA_SHAPE_REFERENCE,
    SCHEMA_SHAPE_IDENTIFIER,
    SCHEMA_SHAPE_ANCHOR,
    SCHEMA_SHAPE_DIALECT,
};

struct schema_keyword {
    const char *name;
    enum schema_shape shape;
    schema_check_fn check; /* NULL: says nothing on its own */
};

struct schema_member {
    const char *name;         /* borrowed: of the document; NULL in a list */
    struct pattern *pattern;  /* owned; the compiled name, or NULL */
    struct schema_node *node; /* borrowed: of the schema */
};

struct schema_rule {
    const struct schema_keyword *keyword;
    const struct schema_node *node; /* borrowed: the schema it stands in */
    const json_t *value;            /* borrowed: of the document */
    struct pattern *pattern;        /* owned; of "pattern" */
    struct schema_member *members;  /* owned; the schemas in it, sorted by name if they have one */
    size_t member_count;
};

enum schema_walk { SCHEMA_WALK_AHEAD, SCHEMA_WALK_ON_PATH, SCHEMA_WALK_BEHIND };

struct schema_node {
    const json_t *source;               /* borrowed: of the document; an object or a boolean */
    char *pointer;                      /* owned: where SOURCE is in the document */
    const struct schema_node *resource; /* borrowed: the schema around it that has the URI */
    char *identifier;                   /* owned: that URI, in the resource itself if it has one */
    const char *base;                   /* borrowed: the same everywhere in it; "" without one */
    struct schema_rule *rules;          /* owned */
    size_t rule_count;
    enum schema_walk walk; /* of schema_check_loops: whether it has been here */
    bool sees;             /* has unevaluatedItems or unevaluatedProperties */
};

struct schema {
    json_t *document;           /* owned */
    struct schema_node **nodes; /* owned, and so are the nodes; the root is the first */
    size_t node_count;
};

enum { SCHEMA_DEPTH_LIMIT = 512 }; /* of schemas evaluated in each other */

/* One validation. */
struct schema_run {
    schema_problem_fn report;
    void *data;           /* borrowed */
    size_t budget;        /* steps left */
    size_t depth;         /* of schemas being evaluated */
    size_t silent;        /* > 0: only the answer is wanted, no problems */
    size_t problems;      /* reported so far */
    const char *given_up; /* why there is no answer; NULL while there will be one */
};

/* The keywords by kind, each table ended by a name that is NULL; in the order in which the rules of
 * a schema are checked. */
enum { SCHEMA_KEYWORD_TABLES = 4 };
extern const struct schema_keyword schema_assertions[];
extern const struct schema_keyword schema_applicators[];
extern const struct schema_keyword schema_part_keywords[];
extern const struct schema_keyword *const schema_keyword_tables[SCHEMA_KEYWORD_TABLES];

/* Borrowed; NULL when NAME is no keyword. */
const struct schema_keyword *schema_keyword_find(const char *name);

/* The rule of keyword NAME in NODE, or NULL. Borrowed. */
const struct schema_rule *schema_rule_find(const struct schema_node *node, const char *name);

/* The member called NAME, or NULL. Borrowed. */
const struct schema_member *schema_rule_find_member(const struct schema_rule *rule,
                                                    const char *name);

/* Orders members by name, for qsort and bsearch. */
int schema_member_compare(const void *left, const void *right);

/* Whether VALUE has SHAPE, and the name of SHAPE in "must be ...". */
bool schema_shape_fits(enum schema_shape shape, const json_t *value);
const char *schema_shape_name(enum schema_shape shape);

/* Makes the nodes of SCHEMA from its document. */
int schema_compile(struct schema *schema, struct error *err);

/* Puts the nodes that SCHEMA's references lead to into their rules. */
int schema_link(struct schema *schema, struct error *err);

/* Refuses schemas that apply themselves to the same value over and over. */
int schema_check_loops(struct schema *schema, struct error *err);

/* REFERENCE resolved against the absolute URI BASE (RFC 3986, 5.2). Owned by the caller. */
char *schema_uri_resolve(const char *base, const char *reference);

/* Whether PLACE fits NODE. Reports each problem unless the run is silent, when it stops at the
 * first. */
bool schema_evaluate(struct schema_run *run, const struct schema_node *node,
                     struct schema_place *place);

/* The same without reports; members and items that were evaluated are marked in PLACE only when it
 * fits. */
bool schema_fits(struct schema_run *run, const struct schema_node *node,
                 struct schema_place *place);

/* Takes STEPS from the budget; false when that was all of it, and the run is given up. */
bool schema_spend(struct schema_run *run, size_t steps);

/* pattern_matches() from the budget of RUN, which is given up when it does not suffice. */
bool schema_matches(struct schema_run *run, const struct pattern *pattern, const char *text,
                    size_t length);

/* Gives the run up: there will be no answer, and REASON (static) says why. Returns false. */
bool schema_give_up(struct schema_run *run, const char *reason);

/* False when a report would be dropped: then its message need not be made, and the search for
 * problems can stop at the first. */
bool schema_listens(const struct schema_run *run);

/* Reports a problem and returns false. */
bool schema_problem(struct schema_run *run, const struct schema_place *place, const char *format,
                    ...) __attribute__((format(printf, 3, 4)));

/* The same, when the name of PLACE is what should not be there. */
bool schema_problem_at_key(struct schema_run *run, const struct schema_place *place,
                           const char *format, ...) __attribute__((format(printf, 3, 4)));

/* Reports that PLACE is none of VALUES, an array. Returns false. */
bool schema_problem_with_choice(struct schema_run *run, const struct schema_place *place,
                                const json_t *values);

/* Reports that PLACE has no member NAME, which would be one of VALUES, an array, unless that is
 * NULL. Returns false. */
bool schema_problem_of_missing(struct schema_run *run, const struct schema_place *place,
                               const char *name, const json_t *values);

/* PLACE fits none of the schemas of RULE (anyOf, oneOf): reports the problems of the schema that is
 * meant, or the choice. Returns false. */
bool schema_problem_with_forms(struct schema_run *run, const struct schema_rule *rule,
                               struct schema_place *place);

/* The demand of NODE, in a few words. Owned by the caller. */
char *schema_describe(const struct schema_node *node);

/* VALUE as a message shows it: JSON, cut when long. Owned by the caller. */
char *schema_quote(const json_t *value);
char *schema_quote_name(const char *name);
