/* The state that all calls that run Python share, whatever their tool: the environments, the queue,
 * the directories, and the approvals of callers that do not last. */
#pragma once

#include "environments/execution.h"
#include "server/tools/invocation.h"
#include "server/tools/python/approval.h"

#include <ev.h>
#include <stdbool.h>

struct caller_rules;
struct catalog;
struct earlier_names;
struct environment;
struct executor;
struct notebooks;
struct principal;
struct registry;
struct script_tools;
struct workplace;

/* Borrowed, and must outlive the host; the name is copied. */
struct python_settings {
    struct ev_loop *loop;
    struct catalog *catalog;
    const struct caller_rules *rules; /* NULL: no call may define an environment */
    struct executor *executor;
    struct notebooks *notebooks; /* NULL: no call can keep its Python */
    struct workplace *workplace;
    const char *default_environment;
    const json_t *code_blocks;  /* the operator's; NULL: run_code_blocks is not offered */
    bool has_many;              /* run_many is offered */
    enum result_form results;   /* for clients that ask for none */
    const char *picture_helper; /* the path of pyexecd-picture; NULL: no result has pictures */

    /* The tools that a script in ENVIRONMENT, of the client PRINCIPAL, may call; owned by the
     * caller. NULL: there are none. May itself be NULL. */
    struct script_tools *(*open_tools)(void *data, const struct environment *environment,
                                       const struct principal *principal);

    /* Its known tools: an object with an array for each of their servers, as texts
     * for models need it; PRINCIPAL NULL: of a client with all rights. New reference. May be NULL.
     */
    json_t *(*known_tools)(void *data, const struct environment *environment,
                           const struct principal *principal);
    void *tools_data; /* of both; borrowed */
};

struct python_host {
    struct python_settings settings;
    char *default_environment;     /* owned: the name that the settings point to */
    struct approvals approvals;    /* of callers that do not last, by principal */
    struct recurrence recurrence;  /* of callers that do not last: Pythons that are ready for the
                                      next call in a directory */
    struct earlier_names *earlier; /* owned */
    struct registry *registry;     /* borrowed: where the files of runs are offered; or NULL */
    json_t *known;                 /* owned: see known_directories(); or NULL */
    unsigned long calls;           /* so far; numbers them in the log */
};

/* The registry with the tools is freed before the host. */
struct python_host *python_host_new(const struct python_settings *settings);

/* New calls use SETTINGS; calls that have started go on with theirs. */
void python_host_set(struct python_host *host, const struct python_settings *settings);

/* The program that makes the pictures of results in ENVIRONMENT; NULL: they are not shown. */
const char *python_host_picture_helper(const struct python_host *host,
                                       const struct environment *environment);

/* The instructions for the model of PRINCIPAL when a session begins; owned by the caller. DATA is
 * the host. *RET_IS_OWN: other principals have another offer. */
char *python_host_instruct(void *data, const struct principal *principal, bool *ret_is_own);

/* The tools of the operator for a script of PRINCIPAL in ENVIRONMENT; see above. */
struct script_tools *python_host_open_tools(const struct python_host *host,
                                            const struct environment *environment,
                                            const struct principal *principal);

/* Its known tools, {server: [tool]}; see above. New reference; NULL: none. */
json_t *python_host_known_tools(const struct python_host *host,
                                const struct environment *environment,
                                const struct principal *principal);

/* Harmless for NULL. */
void python_host_free(struct python_host *host);
