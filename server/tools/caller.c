#include "server/tools/caller.h"

#include "base/memory.h"
#include "base/text.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Principals */

struct principals {
    struct list open;      /* of struct principal */
    struct limits *limits; /* owned */
};

struct principals *principals_new(void)
{
    struct principals *principals = NEW(struct principals);

    list_init(&principals->open);
    principals->limits = limits_new();
    return principals;
}

void principals_free(struct principals *principals)
{
    if (!principals)
        return;
    assert(list_is_empty(&principals->open));
    limits_free(principals->limits);
    free(principals);
}

struct limits *principals_limits(const struct principals *principals)
{
    return principals->limits;
}

struct principal *principal_open(struct principals *principals, const char *name)
{
    struct principal *principal;

    LIST_FOR_EACH (&principals->open, link) {
        principal = CONTAINER_OF(link, struct principal, link);
        if (strcmp(principal->name, name) == 0) {
            principal->references++;
            return principal;
        }
    }
    principal = NEW(struct principal);
    principal->name = memory_copy_string(name);
    principal->limits = principals->limits;
    principal->references = 1;
    list_init(&principal->states);
    list_append(&principals->open, &principal->link);
    return principal;
}

/* Kept state */

struct caller_kept_state {
    struct list link;
    char *key;   /* owned */
    void *state; /* owned: freed by RELEASE */
    void (*release)(void *state);
};

static void release_states(struct list *states)
{
    LIST_FOR_EACH_SAFE (states, link) {
        struct caller_kept_state *kept = CONTAINER_OF(link, struct caller_kept_state, link);

        list_remove(link);
        kept->release(kept->state);
        free(kept->key);
        free(kept);
    }
}

void principal_close(struct principal *principal)
{
    if (--principal->references > 0)
        return;
    list_remove(&principal->link);
    release_states(&principal->states);
    free(principal->name);
    free(principal);
}

/* Callers */

struct tool_caller *tool_caller_new(struct principals *principals, const char *name, bool lasting)
{
    struct tool_caller *caller = NEW(struct tool_caller);

    caller->principal = principal_open(principals, name);
    caller->lasting = lasting;
    caller->references = 1;
    list_init(&caller->states);
    return caller;
}

void tool_caller_set_label(struct tool_caller *caller, const char *label)
{
    snprintf(caller->label, sizeof caller->label, "%s", text_or_none(label));
}

struct tool_caller *tool_caller_ref(struct tool_caller *caller)
{
    caller->references++;
    return caller;
}

void tool_caller_unref(struct tool_caller *caller)
{
    if (!caller || --caller->references > 0)
        return;
    release_states(&caller->states);
    principal_close(caller->principal);
    free(caller);
}

void *tool_caller_get(const struct tool_caller *caller, const char *key)
{
    const struct list *states = caller->lasting ? &caller->states : &caller->principal->states;

    LIST_FOR_EACH (states, link) {
        const struct caller_kept_state *kept = CONTAINER_OF(link, struct caller_kept_state, link);

        if (strcmp(kept->key, key) == 0)
            return kept->state;
    }
    return NULL;
}

void tool_caller_keep(struct tool_caller *caller, const char *key, void *state,
                      void (*release)(void *state))
{
    struct caller_kept_state *kept = NEW(struct caller_kept_state);

    assert(!tool_caller_get(caller, key));
    *kept = (struct caller_kept_state){
        .key = memory_copy_string(key), .state = state, .release = release};
    list_append(caller->lasting ? &caller->states : &caller->principal->states, &kept->link);
}
