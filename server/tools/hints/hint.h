/* A hint: one line for a model about the real event, with the next step.
 *
 * A hint is a function of the facts. It answers only when it is certain: a hint that might be wrong
 * is not given. A new hint is a function, a line in the table of hints.c, and two cases in the unit
 * test: in the first it applies, in the second only nearly. */
#pragma once

#include "environments/environment.h"
#include "server/tools/code/code_cleaning.h"
#include "server/tools/hints/run_facts.h"
#include "server/tools/hints/traceback.h"

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

struct caller_rules;

/* The facts that a hint may use. Everything is borrowed. */
struct hint_facts {
    const struct run_facts *run;
    const char *output;               /* NUL-terminated: the output that the reader is shown */
    const char *errors;               /* NUL-terminated: the error output that he is shown */
    bool is_silent;                   /* both are empty */
    const json_t *arguments;          /* of the call */
    const struct code_cleaning *code; /* as it ran */
    const char *directory;            /* the path of the working directory; NULL: it is not known */
    bool is_project;       /* the operator has chosen the directory; it is no directory of ours */
    const json_t *earlier; /* its keys are the names that earlier calls have defined there; or
                              NULL */

    const struct environment *environment;    /* where it ran */
    const struct environment *const *offered; /* NULL-terminated: the environments that the caller
                                                 may name */
    const struct caller_rules *rules;         /* NULL: his calls may define no environment */
    bool has_code_alone; /* the model has written the code of the call, and no other argument */
    bool reads_installs; /* see struct invocation_client */
    bool is_at_terminal; /* a person reads the hint and has made no call (`pyexecd run`) */

    struct traceback failure; /* how the script ended; hints_find() fills it in */
};

/* The line without its newline, owned by the caller; NULL: it does not apply. */
typedef char *(*hint_fn)(const struct hint_facts *facts);

/* True when the script has failed with an exception of TYPE that it did not catch. */
bool hint_is_about(const struct hint_facts *facts, const char *type);

/* The text between the first pair of single quotes in MESSAGE, owned by the caller; NULL: there is
 * none, or it would not fit into a line of a hint. */
char *hint_quoted(const char *message);

/* True when the output of the script contains WORDS. */
bool hint_prints(const struct hint_facts *facts, const char *words);

/* True when the code has WORDS outside of strings and comments. */
bool hint_code_has(const struct hint_facts *facts, const char *words);

/* True when the run was in a container. */
bool hint_is_contained(const struct hint_facts *facts);

/* True when the call has a program, and no code blocks. */
bool hint_is_program(const struct hint_facts *facts);

/* True when whoever has written the code can add `files` to its call. */
bool hint_takes_files(const struct hint_facts *facts);

/* The other places that scripts can read, by absolute paths only; the folder in which the server
 * was started, too: a sentence. Owned by the caller; "" if there is nothing. */
char *hint_readable_places(const struct hint_facts *facts);

/* `, session: "new"` behind another environment in a call to a session, which keeps its own; else
 * "". */
const char *hint_new_session(const struct hint_facts *facts);

/* True when LAYER of a sandbox held the run. */
bool hint_is_enforced(const struct hint_facts *facts, enum process_layer layer);

/* True when the run was to have LAYER, and went without. */
bool hint_is_absent(const struct hint_facts *facts, enum process_layer layer);

/* True when the script is kept from the files of the machine. */
bool hint_has_own_files(const struct hint_facts *facts);

/* The name of the person who can lift restrictions: "The operator". */
const char *hint_operator(const struct hint_facts *facts);

/* ", /srv/a, /srv/b"; PLACES may be NULL. Owned by the caller. */
char *hint_list_places(char *const *places);

/* Where the threads of the script were when the time was over: "it was at line 3 (time.sleep(9))".
 * NULL: that is not known. Owned by the caller. */
char *hint_last_places(const struct hint_facts *facts);
