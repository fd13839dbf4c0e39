/* A prompt: a message, or several, that a user may choose to begin with.
 *
 *     struct prompt prompt = {.name = "review", .arguments = ..., .start = review};
 *     prompt_register(registry, &prompt, &err);
 *
 * What REVIEW gets to work with is struct invocation; it fills in the content with
 * prompt_add_text or with messages of its own. */
#pragma once

#include "base/error.h"
#include "base/outcome.h"
#include "server/tools/invocation.h"
#include "server/tools/registry.h"

#include <jansson.h>
#include <stdbool.h>

enum { PROMPT_ARGUMENTS = 16 }; /* most of one prompt */

/* The strings that ARGUMENT may be, for one that begins with VALUE, best first: an array of
 * strings, new reference. CONTEXT: object of the arguments that are known already, or NULL. DATA is
 * what was registered. */
typedef json_t *(*completion_fn)(void *data, const char *argument, const char *value,
                                 const json_t *context);

struct prompt_argument {
    const char *name; /* NULL: behind the last */
    const char *title;
    const char *description;
    bool required;
};

struct prompt {
    const char *name;                                       /* as that of a tool; copied */
    const char *title;                                      /* may be NULL; copied */
    const char *description;                                /* copied */
    struct prompt_argument arguments[PROMPT_ARGUMENTS + 1]; /* copied */
    json_t *icons;                                          /* may be NULL; taken */
    void *data;                                             /* invocation->data; borrowed */
    completion_fn complete;                                 /* may be NULL */

    /* As a tool's. The arguments are strings; those that are required are there. */
    enum outcome (*start)(struct invocation *invocation, struct error *err);
    void (*cancel)(struct invocation *invocation);
};

int prompt_register(struct registry *registry, const struct prompt *prompt, struct error *err);

/* The prompt that ENTRY, of REGISTRY_PROMPTS, is. Borrowed. */
const struct prompt *prompt_of(const struct registry_entry *entry);

/* Makes INVOCATION one of the prompt NAME. -1 with ERROR_INVALID_PARAMS: there is none, or its
 * arguments do not fit. */
int prompt_prepare(struct invocation *invocation, const struct registry *registry, const char *name,
                   struct error *err);

/* Appends a message of ROLE ("user" or "assistant") with CONTENT (taken), one block in its newest
 * shape, to the result of INVOCATION. */
void prompt_add_message(struct invocation *invocation, const char *role, json_t *content);

/* The same for text. */
void prompt_add_text(struct invocation *invocation, const char *role, const char *text);
