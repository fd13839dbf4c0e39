/* A prompt: one or more messages with which a user may begin a conversation.
 *
 *     struct prompt prompt = {.name = "review", .arguments = ..., .start = review};
 *     prompt_register(registry, &prompt, &err);
 *
 * REVIEW gets a struct invocation and adds to its content with prompt_add_text or
 * prompt_add_message. */
#pragma once

#include "base/error.h"
#include "base/outcome.h"
#include "server/tools/invocation.h"
#include "server/tools/registry.h"

#include <jansson.h>
#include <stdbool.h>

struct principal;

enum { PROMPT_ARGUMENTS = 16 }; /* of one prompt at most */

/* Values of ARGUMENT that begin with VALUE and that PRINCIPAL may use, best first: an array of
 * strings, new reference. CONTEXT is an object of the arguments that are known already, or NULL.
 * DATA is the entry's. */
typedef json_t *(*completion_fn)(void *data, const struct principal *principal,
                                 const char *argument, const char *value, const json_t *context);

struct prompt_argument {
    const char *name; /* NULL ends the array */
    const char *title;
    const char *description;
    bool required;
};

struct prompt {
    const char *name;                                       /* as of a tool; copied */
    const char *title;                                      /* may be NULL; copied */
    const char *description;                                /* copied */
    struct prompt_argument arguments[PROMPT_ARGUMENTS + 1]; /* copied */
    json_t *icons;                                          /* may be NULL; taken */
    void *data;                                             /* invocation->data; borrowed */
    completion_fn complete;                                 /* may be NULL */

    /* As of a tool. The arguments are strings; the required ones are present. */
    enum outcome (*start)(struct invocation *invocation, struct error *err);
    void (*cancel)(struct invocation *invocation);
};

int prompt_register(struct registry *registry, const struct prompt *prompt, struct error *err);

/* The prompt of ENTRY, which is of REGISTRY_PROMPTS. Borrowed. */
const struct prompt *prompt_of(const struct registry_entry *entry);

/* Makes INVOCATION an invocation of the prompt NAME. -1 with ERROR_INVALID_PARAMS: there is no such
 * prompt, or the arguments do not fit. */
int prompt_prepare(struct invocation *invocation, const struct registry *registry, const char *name,
                   struct error *err);

/* Appends a message of ROLE ("user" or "assistant") to the result of INVOCATION. CONTENT (taken) is
 * one block in the form of the newest revision. */
void prompt_add_message(struct invocation *invocation, const char *role, json_t *content);

/* The same for text. */
void prompt_add_text(struct invocation *invocation, const char *role, const char *text);
