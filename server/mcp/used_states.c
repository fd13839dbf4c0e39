#include "server/mcp/used_states.h"

#include "base/list.h"
#include "base/memory.h"

#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct used_state {
    struct list link;
    char nonce[USED_STATES_NONCE_DIGITS + 1];
    int64_t made;
};

/* The used states of one principal; it goes when nothing of it matters any more. */
struct used_states_owner {
    struct list link;
    char *principal;    /* owned */
    struct list states; /* of struct used_state: owned; first used first */
    size_t count;
    int64_t floor; /* states that were made then or before are refused */
};

struct used_states {
    struct list owners; /* of struct used_states_owner: owned */
    size_t count;       /* of states */
    int64_t seconds;
};

struct used_states *used_states_new(int64_t seconds)
{
    struct used_states *states = NEW(struct used_states);

    list_init(&states->owners);
    states->seconds = seconds;
    return states;
}

static struct used_states_owner *used_states_owner_of(struct list *link)
{
    return CONTAINER_OF(link, struct used_states_owner, link);
}

static struct used_state *used_state_of(struct list *link)
{
    return CONTAINER_OF(link, struct used_state, link);
}

static void used_states_drop(struct used_states *states, struct used_states_owner *owner,
                             struct used_state *state)
{
    list_remove(&state->link);
    owner->count--;
    states->count--;
    free(state);
}

/* Drops the states of OWNER that have expired. */
static void used_states_expire(struct used_states *states, struct used_states_owner *owner,
                               int64_t now)
{
    LIST_FOR_EACH_SAFE (&owner->states, link) {
        if (used_state_of(link)->made + states->seconds < now)
            used_states_drop(states, owner, used_state_of(link));
    }
}

static void used_states_free_owner(struct used_states *states, struct used_states_owner *owner)
{
    LIST_FOR_EACH_SAFE (&owner->states, link) {
        used_states_drop(states, owner, used_state_of(link));
    }
    list_remove(&owner->link);
    free(owner->principal);
    free(owner);
}

void used_states_free(struct used_states *states)
{
    if (!states)
        return;
    LIST_FOR_EACH_SAFE (&states->owners, link) {
        used_states_free_owner(states, used_states_owner_of(link));
    }
    free(states);
}

/* The owner of the states of PRINCIPAL, made if there is none. Expired states are forgotten. */
static struct used_states_owner *used_states_open(struct used_states *states, const char *principal,
                                                  int64_t now)
{
    struct used_states_owner *found = NULL;

    LIST_FOR_EACH_SAFE (&states->owners, link) {
        struct used_states_owner *owner = used_states_owner_of(link);

        used_states_expire(states, owner, now);
        if (strcmp(owner->principal, principal) == 0)
            found = owner;
        else if (owner->count == 0 && owner->floor + states->seconds < now)
            used_states_free_owner(states, owner);
    }
    if (found)
        return found;
    found = NEW(struct used_states_owner);
    found->principal = memory_copy_string(principal);
    list_init(&found->states);
    list_append(&states->owners, &found->link);
    return found;
}

static bool used_states_has(const struct used_states_owner *owner, const char *nonce)
{
    LIST_FOR_EACH (&owner->states, link) {
        if (strcmp(used_state_of(link)->nonce, nonce) == 0)
            return true;
    }
    return false;
}

static void used_states_forget_one(struct used_states *states)
{
    struct used_states_owner *most = used_states_owner_of(states->owners.next);
    struct used_state *oldest;

    LIST_FOR_EACH (&states->owners, link) {
        if (used_states_owner_of(link)->count > most->count)
            most = used_states_owner_of(link);
    }
    oldest = used_state_of(most->states.next);
    if (oldest->made > most->floor)
        most->floor = oldest->made;
    used_states_drop(states, most, oldest);
}

bool used_states_take(struct used_states *states, const char *principal, const char *nonce,
                      int64_t made, int64_t now)
{
    struct used_states_owner *owner = used_states_open(states, principal, now);
    struct used_state *state;

    if (made + states->seconds < now || made <= owner->floor || used_states_has(owner, nonce))
        return false;
    if (states->count >= USED_STATES)
        used_states_forget_one(states);
    state = NEW(struct used_state);
    snprintf(state->nonce, sizeof state->nonce, "%s", nonce);
    state->made = made;
    list_append(&owner->states, &state->link);
    owner->count++;
    states->count++;
    return true;
}
