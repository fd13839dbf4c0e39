/* One invocation of a registered entry: a tool, a prompt or a resource.
 *
 * An entry is written once, in the form of the newest revision: if it needs something from the
 * client's user or model, it asks and ends, and is started again with the answers. The protocol
 * layer knows how each revision carries that.
 *
 * An invocation is not a `struct call`: that is a request of JSON-RPC, which it may outlive. */
#pragma once

#include "base/error.h"
#include "base/list.h"
#include "base/outcome.h"
#include "server/tools/caller.h"
#include "server/tools/registry.h"

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

struct invocation;

/* Severities of log messages, in syslog's order. */
enum log_severity {
    SEVERITY_EMERGENCY,
    SEVERITY_ALERT,
    SEVERITY_CRITICAL,
    SEVERITY_ERROR,
    SEVERITY_WARNING,
    SEVERITY_NOTICE,
    SEVERITY_INFO,
    SEVERITY_DEBUG,
};

/* The requests that the client supports. */
struct invocation_client {
    bool can_elicit;       /* a form for its user */
    bool can_elicit_aside; /* the same while an invocation goes on */
    bool can_elicit_url;   /* a page that its user opens */
    bool can_sample;       /* its model */
    bool can_list_roots;   /* the directories that it works in */
    bool knows_links;      /* content of type resource_link */
    bool sends_code_alone; /* its model writes the code of a call, and a program all else */
};

/* The form of a tool's results: text for a model alone, or the structured form for a program too.
 */
enum result_form {
    RESULT_FORM_UNSAID, /* of a request: as the tool has it; of a tool: its only form */
    RESULT_FORM_TEXT,
    RESULT_FORM_STRUCTURED,
    RESULT_FORMS,
};

/* The form called NAME, "text" or "structured"; RESULT_FORM_UNSAID for any other. */
enum result_form result_form_find(const char *name);

/* The result of an invocation. */
struct invocation_result {
    json_t *content; /* array in the form of the newest revision: content blocks of a tool, messages
                        of a prompt, contents of a resource; owned */
    json_t *structured;  /* tools: fits the output schema; NULL for none; owned */
    bool is_error;       /* tools: a failure that the model can act on */
    const char *failure; /* tools: the kind of a failure, for a program; static storage; or NULL */
    json_t *requests;    /* object: the questions to the client by key, or NULL; owned */
    json_t *state;       /* kept for the next round, or NULL; owned */
};

/* A question to the client's user while the invocation goes on; embedded in the work of the entry.
 */
struct invocation_aside {
    /* ANSWER is the result of elicitation/create, borrowed. NULL: there is none, because of WHY_NOT
     * (static storage). Never from inside invocation_ask_aside. */
    void (*answered)(struct invocation_aside *aside, const json_t *answer, const char *why_not);

    /* Of who asks, while the questions of others come first. */
    struct list link;
    json_t *question; /* owned; or NULL */
};

enum invocation_phase {
    INVOCATION_NEW,
    INVOCATION_FOUND,   /* its entry is known */
    INVOCATION_STARTED, /* its work has begun */
    INVOCATION_ENDED,   /* with a result, with an error, or cancelled */
};

struct invocation {
    /* Inputs, set before it is started. Borrowed. */
    struct tool_caller *caller;
    struct invocation_client client;
    json_t *arguments;       /* an object; NULL counts as {} */
    const json_t *answers;   /* object: the answers of the client by key; NULL in the first round */
    const json_t *state;     /* kept by the round before, or NULL */
    const char *trace;       /* W3C traceparent that the work belongs to, or NULL */
    const char *trace_state; /* W3C tracestate beside it, or NULL */
    enum result_form form;   /* tools: of the result, as the client asks for it */
    bool wants_progress;     /* else `progress` need not be called */
    bool wants_output;       /* else the next two must not be called */

    /* Whether the client takes what is sent to it. Output waits until it does. */
    bool (*has_room)(struct invocation *invocation);

    /* Output of a program as it comes; PROGRESS as below. PIECE (taken) is an object. */
    void (*output)(struct invocation *invocation, double progress, json_t *piece);

    /* PROGRESS rises strictly; TOTAL < 0: unknown; MESSAGE may be NULL. */
    void (*progress)(struct invocation *invocation, double progress, double total,
                     const char *message);

    /* A log message for the client; DATA (taken) is any JSON. NULL: nobody listens. */
    void (*log)(struct invocation *invocation, enum log_severity level, const char *logger,
                json_t *data);

    /* Lets the client disconnect and come back for the result. NULL: it cannot. */
    void (*release)(struct invocation *invocation);

    /* The user is done with the page ID. NULL: the client does not want to know. */
    void (*page_done)(struct invocation *invocation, const char *id);

    /* See invocation_ask_aside; QUESTION (taken) is {method, params}. NULL: the client cannot be
     * asked. */
    const char *(*ask_aside)(struct invocation *invocation, struct invocation_aside *aside,
                             json_t *question);
    void (*withdraw_aside)(struct invocation *invocation, struct invocation_aside *aside);

    /* The end of a pending invocation. ERR: the work could not be done; else NULL. */
    void (*done)(struct invocation *invocation, const struct error *err);

    /* Output, valid when start answered READY and in `done`. */
    struct invocation_result result;

    /* For the entry. */
    const char *name; /* of the entry; borrowed */
    void *data;       /* of the entry; borrowed */
    void *work;       /* of this invocation; borrowed */

    /* Private. */
    enum invocation_phase phase;
    struct registry_entry *entry; /* owned reference */
    json_t *normalised;           /* owned: the object that `arguments` points to after
                                     preparation */
    json_t *notes;                /* owned: see account_note; or NULL */
    double started;               /* monotonic seconds */
    double progressed;            /* milliseconds: the last invocation_next_progress */
};

/* Finds the entry KEY of KIND in REGISTRY and sets name and data of INVOCATION, which holds the
 * entry until invocation_deinit, even if it leaves the registry. Borrowed, or NULL. */
struct registry_entry *invocation_find(struct invocation *invocation,
                                       const struct registry *registry, enum registry_kind kind,
                                       const char *key);

/* Starts INVOCATION, whose entry is found and whose arguments are checked. See outcome.h and struct
 * tool. */
enum outcome invocation_start(struct invocation *invocation, struct error *err);

/* Ends a pending INVOCATION; `done` does not come. */
void invocation_cancel(struct invocation *invocation);

/* Releases INVOCATION, which must not be pending. */
void invocation_deinit(struct invocation *invocation);

/* Releases the result only, so that INVOCATION can be started again with its inputs. */
void invocation_reset(struct invocation *invocation);

/* For the entry: ends a pending INVOCATION whose result or questions are filled in. */
void invocation_finish(struct invocation *invocation);

/* For the entry: ends a pending INVOCATION that could not do its work. */
void invocation_fail(struct invocation *invocation, const struct error *err);

/* For the entry: how far a pending INVOCATION is now, in seconds. It rises with each call. */
double invocation_next_progress(struct invocation *invocation);

/* Appends a text block to the content of INVOCATION's result. */
void invocation_add_text(struct invocation *invocation, const char *text, size_t length);

/* Sends a log message to the client, if it listens at LEVEL. LOGGER names the part of the program;
 * NULL stands for the entry. DATA (taken) is any JSON, usually a string. */
void invocation_log(struct invocation *invocation, enum log_severity level, const char *logger,
                    json_t *data);

/* Lets the client disconnect if it can come back for the result (2025-11-25 over HTTP). */
void invocation_release(struct invocation *invocation);

/* Asks the client: METHOD is elicitation/create, sampling/createMessage or roots/list, with PARAMS
 * (taken). The invocation then ends, and is started again when all its questions are answered;
 * invocation_answer finds the answer by KEY. */
void invocation_ask(struct invocation *invocation, const char *key, const char *method,
                    json_t *params);

/* Asks the client's user to fill in a form. SCHEMA (taken) describes a flat object of strings,
 * numbers, booleans and enumerations; MESSAGE is the question. */
void invocation_ask_form(struct invocation *invocation, const char *key, const char *message,
                         json_t *schema);

/* Asks the client's user to open the page URL, for data that must not pass through the client. ID
 * names the page. */
void invocation_ask_page(struct invocation *invocation, const char *key, const char *message,
                         const char *url, const char *id);

/* Tells the client of a pending INVOCATION that its user is done with the page ID. */
void invocation_finish_page(struct invocation *invocation, const char *id);

/* Asks the client's user to fill in a form while INVOCATION goes on; questions of several ASIDEs
 * come one after the other. NULL: ASIDE is answered, unless it is withdrawn, which it is before it
 * ends. Else why the client is not asked; static storage. */
const char *invocation_ask_aside(struct invocation *invocation, struct invocation_aside *aside,
                                 const char *message, json_t *schema);
void invocation_withdraw_aside(struct invocation *invocation, struct invocation_aside *aside);

/* The answer to the question KEY: the result of its method, an object; NULL: none yet. Borrowed. */
const json_t *invocation_answer(const struct invocation *invocation, const char *key);

/* Keeps STATE (taken), any JSON, for the next round, which finds it in invocation->state. The
 * client can read it, but not change it. */
void invocation_keep(struct invocation *invocation, json_t *state);
