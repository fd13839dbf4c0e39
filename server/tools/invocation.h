/* One invocation of something that is registered: a tool, a prompt, a resource.
 *
 * Whatever is invoked is written once, in the modern form: what it needs from its client's user or
 * model it asks for and ends, and it is started again with the answers. The protocol layer knows
 * how each revision carries that. */
#pragma once

#include "base/error.h"
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

/* What the client can be asked for. */
struct invocation_client {
    bool can_elicit;     /* its user, by a form */
    bool can_elicit_url; /* its user, by a page to open */
    bool can_sample;     /* its model */
    bool can_list_roots; /* which directories it works in */
};

/* What an invocation answers. */
struct invocation_result {
    json_t *content; /* array in its newest shape: a tool's content blocks, a prompt's messages, a
                        resource's contents; owned */
    json_t *structured; /* tools: fits the output schema; NULL for none; owned */
    bool is_error;      /* tools: a failure that the model can act on */
    json_t *requests;   /* object: what is asked of the client, by key; NULL for nothing; owned */
    json_t *state;      /* what was kept for the next round; NULL for nothing; owned */
};

enum invocation_phase {
    INVOCATION_NEW,
    INVOCATION_FOUND,   /* it is known what is invoked */
    INVOCATION_STARTED, /* the work goes on */
    INVOCATION_ENDED,   /* there is a result, an error, or nobody wants one */
};

struct invocation {
    /* Inputs, set before it is started. Borrowed. */
    struct tool_caller *caller;
    struct invocation_client client;
    json_t *arguments;       /* an object; NULL counts as {} */
    const json_t *answers;   /* object: what the client answered, by key; NULL at first */
    const json_t *state;     /* what the round before has kept; NULL for nothing */
    const char *trace;       /* W3C traceparent that the work belongs to, or NULL */
    const char *trace_state; /* W3C tracestate beside it, or NULL */
    bool wants_progress;     /* else `progress` need not be called */

    /* PROGRESS rises strictly; TOTAL < 0: unknown; MESSAGE may be NULL. */
    void (*progress)(struct invocation *invocation, double progress, double total,
                     const char *message);

    /* A log message for the client; DATA (taken) is any JSON. NULL: nobody listens. */
    void (*log)(struct invocation *invocation, enum log_severity level, const char *logger,
                json_t *data);

    /* The client may be let go for now; it comes back for the answer. NULL: it cannot. */
    void (*release)(struct invocation *invocation);

    /* What the page ID asked for is done. NULL: nobody wants to know. */
    void (*page_done)(struct invocation *invocation, const char *id);

    /* The end of a pending call. ERR is NULL, or the work could not be done at all. */
    void (*done)(struct invocation *invocation, const struct error *err);

    /* Output, valid when start answered READY and in `done`. */
    struct invocation_result result;

    /* For what is invoked. */
    const char *name; /* it was registered under; borrowed */
    void *data;       /* what was registered with it; borrowed */
    void *work;       /* its own for this call; borrowed */

    /* Private. */
    enum invocation_phase phase;
    struct registry_entry *entry; /* what is invoked: owned reference */
    json_t *normalised;           /* owned: what `arguments` points to once the call has started */
    json_t *notes;                /* owned: see account_note; NULL: nothing */
    double started;               /* monotonic seconds */
};

/* Finds what is called KEY among those of KIND in REGISTRY, for INVOCATION: its name and data are
 * set, and the entry is kept until invocation_deinit, whatever becomes of the registry. NULL: there
 * is none. Borrowed. */
struct registry_entry *invocation_find(struct invocation *invocation,
                                       const struct registry *registry, enum registry_kind kind,
                                       const char *key);

/* Starts INVOCATION, whose entry has been found and whose arguments have been checked: begins the
 * work of what is invoked. See outcome.h and struct tool. */
enum outcome invocation_start(struct invocation *invocation, struct error *err);

/* Ends a pending INVOCATION without an answer. */
void invocation_cancel(struct invocation *invocation);

/* Releases what is in INVOCATION, which must not be pending. */
void invocation_deinit(struct invocation *invocation);

/* The same, but INVOCATION can be started again with what is in its inputs. */
void invocation_reset(struct invocation *invocation);

/* For what is invoked: ends a pending INVOCATION whose result has been filled in, or which asks. */
void invocation_finish(struct invocation *invocation);

/* The same for one that could not do its work. */
void invocation_fail(struct invocation *invocation, const struct error *err);

/* Appends a text block to the content of INVOCATION's result. */
void invocation_add_text(struct invocation *invocation, const char *text, size_t length);

/* Tells the client of INVOCATION something, if it listens at LEVEL. LOGGER names the part that
 * speaks, NULL the whole; DATA (taken) is any JSON, a string as a rule. */
void invocation_log(struct invocation *invocation, enum log_severity level, const char *logger,
                    json_t *data);

/* Lets the client of INVOCATION go where it can come back for the answer (2025-11-25 over HTTP). */
void invocation_release(struct invocation *invocation);

/* Asks the client: METHOD is elicitation/create, sampling/createMessage or roots/list, with PARAMS
 * (taken). The call then ends, and is started again when all that it asked is answered; the answer
 * is found by KEY. */
void invocation_ask(struct invocation *invocation, const char *key, const char *method,
                    json_t *params);

/* Asks the client's user for what SCHEMA (taken) describes: a flat object of strings, numbers,
 * booleans and enumerations. MESSAGE says what for. */
void invocation_ask_form(struct invocation *invocation, const char *key, const char *message,
                         json_t *schema);

/* Asks the client's user to open URL, for what must not pass through the client; ID names it. */
void invocation_ask_page(struct invocation *invocation, const char *key, const char *message,
                         const char *url, const char *id);

/* Tells the client of a pending INVOCATION that its user is done with the page ID, so that it need
 * not show it any more. */
void invocation_finish_page(struct invocation *invocation, const char *id);

/* What the client answered to what was asked by KEY: the result of that method, an object; NULL: it
 * has not answered. Borrowed. */
const json_t *invocation_answer(const struct invocation *invocation, const char *key);

/* Keeps STATE (taken), any JSON, for the next round of a call that asks: it finds it in
 * invocation->state, and nobody can have changed it. The client can read it. */
void invocation_keep(struct invocation *invocation, json_t *state);
