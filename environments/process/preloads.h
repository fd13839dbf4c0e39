/* The modules that the Pythons of an environment import ahead of scripts: the environment lists the
 * modules that its scripts import, zygotes (nursery.h) import them, and may outlive it. */
#pragma once

#include <jansson.h>

struct preloads {
    json_t *names;   /* owned: an array, the most wanted first; replaced as a whole */
    json_t *refused; /* owned: by name, the reason why it is not imported ahead of a script */
    json_t *failed;  /* owned: by name, the modules whose import has failed; the reader clears it */
    unsigned holders;
};

/* Owned by the caller; NAMES is taken. */
struct preloads *preloads_new(json_t *names);

/* Adds an owner. Harmless for NULL, as preloads_drop. Returns PRELOADS. */
struct preloads *preloads_hold(struct preloads *preloads);

void preloads_drop(struct preloads *preloads);

/* NAME spoils the Python that imports it, because of WHY: no other Python tries it. */
void preloads_refuse(struct preloads *preloads, const char *name, const char *why);

/* NAME could not be imported, which spoils nothing. */
void preloads_fail(struct preloads *preloads, const char *name);
