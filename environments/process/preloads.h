/* The modules that the Pythons of an environment import ahead of scripts: wished for by who knows
 * the scripts, and had by zygotes (nursery.h), which outlive it. */
#pragma once

#include <jansson.h>

struct preloads {
    json_t *names;   /* owned: an array, the most wanted first; replaced as a whole */
    json_t *refused; /* owned: by name, why it cannot be imported ahead of a script */
    json_t *failed;  /* owned: by name, those whose import has failed; cleared by who has seen it */
    unsigned holders;
};

/* Owned by the caller; NAMES is taken. */
struct preloads *preloads_new(json_t *names);

/* One more owner. Harmless for NULL, as the next. Returns PRELOADS. */
struct preloads *preloads_hold(struct preloads *preloads);

void preloads_drop(struct preloads *preloads);

/* NAME spoils the Python that imports it, because of WHY: no other one tries. */
void preloads_refuse(struct preloads *preloads, const char *name, const char *why);

/* NAME could not be imported, which spoils nothing. */
void preloads_fail(struct preloads *preloads, const char *name);
