/* JSON Schema, draft 2020-12, on jansson.
 *
 * A schema is compiled once: an unknown or unsupported keyword, a bad regular expression or a
 * reference that leads nowhere is an error that names it, at compile time, never silence at
 * validation time. References are local to the document; nothing is fetched. Validation reports
 * every problem, not only the first, and is bounded in depth and in regular expression work. */
#pragma once

#include "base/error.h"

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

struct schema;

/* Compiles DOCUMENT, of which a reference is kept. NULL with ERROR_CONFIG and a message that holds
 * the JSON Pointer (RFC 6901) of the place that is wrong. */
struct schema *schema_new(json_t *document, struct error *err);
void schema_free(struct schema *schema);

enum schema_problem_place {
    SCHEMA_AT_VALUE, /* the value at the pointer is wrong */
    SCHEMA_AT_KEY,   /* the last member of the pointer should not be there */
};

/* Called once for each problem. POINTER is the JSON Pointer of the offending value in the instance,
 * "" for the root (for a missing member: of the object that lacks it); MESSAGE is a fragment such
 * as "must be number, not string" or "unknown key \"imagee\", did you mean \"image\"?". Both are
 * borrowed until the call returns. */
typedef void (*schema_problem_fn)(void *data, enum schema_problem_place place, const char *pointer,
                                  const char *message);

/* True when INSTANCE fits; otherwise REPORT (may be NULL) is called for each problem. */
bool schema_validate(const struct schema *schema, const json_t *instance, schema_problem_fn report,
                     void *data);

enum { MISFITS_BYTES = 800 }; /* leaves room in a long error for the text around them */

/* The misfits of a value that was sent, in one error: every problem in the order of discovery, as
 * far as there is room. */
struct misfits {
    const char *whole;  /* the name of the whole: "the call"; borrowed */
    const char *prefix; /* before the path of each part: "", or "definition."; borrowed */

    /* Private. */
    char text[MISFITS_BYTES];
    size_t length;
    size_t unnamed;
};

/* MISFIT is a fragment such as "timeout must be number, not string". */
void misfits_add(struct misfits *misfits, const char *misfit);

/* A schema_problem_fn; MISFITS is a struct misfits. */
void misfits_on_problem(void *misfits, enum schema_problem_place place, const char *pointer,
                        const char *message);

/* 0 when there is none; else -1 with ERR: "INTRODUCTION: " and all of them. */
int misfits_tell(const struct misfits *misfits, const char *introduction, struct error *err);

/* The keyword NAME of NODE in DOCUMENT, or of the node that NODE refers to, for callers that need
 * the texts of a schema and no verdict. References are "#/..." without escapes, as embed.py writes
 * them. Borrowed, or NULL. */
const json_t *schema_document_keyword(const json_t *document, const json_t *node, const char *name);
