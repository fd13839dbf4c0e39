/* The commands, one file each. Every command returns the exit status of the program, after
 * sysexits.h, and reports failures on stderr. */
#pragma once

#include "base/error.h"
#include "base/outcome.h"
#include "server/tools/invocation.h"

#include <ev.h>
#include <jansson.h>

struct config;
struct options;

int command_serve(const struct options *options);
int command_node(const struct options *options);
int command_run(const struct options *options);
int command_map(const struct options *options);
int command_call(const struct options *options);

/* Answers the call on stdin with ERR: the command line of `pyexecd call` is wrong. */
int command_call_refuse(const struct options *options, const struct error *err);
int command_prepare(const struct options *options);
int command_doctor(const struct options *options);
int command_schema(const struct options *options);
int command_token(const struct options *options);
int command_install(const struct options *options);
int command_uninstall(const struct options *options);
int command_check_config(const struct options *options);
int command_config(const struct options *options);
int command_tools(const struct options *options);
int command_completions(const struct options *options);

/* For commands: the configuration of OPTIONS or of the default places, which keeps its errors.
 * Never NULL. */
struct config *command_open_config(const struct options *options);

/* For commands: the same. After reporting its errors:
 * NULL, with the exit status in *RET_STATUS. */
struct config *command_load_config(const struct options *options, int *ret_status);

/* True when ADDRESSES are stdio alone: only the starter of the program calls. */
bool command_is_private(const char *const *addresses);

/* For service_open: the current directory, or NULL where other clients call, too. Static
 * storage. */
const char *command_find_start(const char *const *addresses);

/* For commands: the addresses to serve, from OPTIONS or else from CONFIG, NULL-terminated and
 * borrowed. ADDRESSES has OPTIONS_ADDRESSES + 1 elements, all NULL. */
void command_list_addresses(const struct options *options, const struct config *config,
                            const char **addresses);

/* For commands: the form of results, from OPTIONS or else from CONFIG. */
enum result_form command_result_form(const struct options *options, const struct config *config);

/* For commands: reports ERR and returns its exit status. */
int command_fail(const struct error *err);
int command_exit_status(const struct error *err);

/* For commands: FAILED if ERR is set, and KEPT becomes a copy of it; READY if ERR is NULL. */
enum outcome command_keep(const struct error *err, struct error *kept);

/* For commands: everything has been printed on stdout; the exit status. */
int command_end_output(void);

/* For commands: prints VALUE on stdout; the exit status. */
int command_print_json(const json_t *value);

/* For commands: prints a line of a report, such as that of `doctor`. MARK is "yes", "no", "?" or
 * "". Further lines of TEXT go below its first line; other control characters are replaced. */
void command_print_line(const char *mark, const char *name, const char *text);

/* For commands: reports the errors of CONFIG, one per line, and returns their exit status. */
int command_fail_config(const struct config *config);

enum { INTERRUPTION_SIGNALS = 3 };

/* For commands: the signals that end one. While they are watched they end the loop instead of the
 * program, so that the command can clean up. */
struct interruption {
    struct ev_loop *loop; /* borrowed */
    struct ev_signal watchers[INTERRUPTION_SIGNALS];
    int signal; /* that came, or 0 */

    /* Told of it before the loop does anything else; NULL after interruption_start. */
    void (*came)(struct interruption *interruption);
};

void interruption_start(struct interruption *interruption, struct ev_loop *loop);

/* Stops watching: a signal ends the program again. */
void interruption_stop(struct interruption *interruption);

/* The exit status of a command that was ended by signal NUMBER, as in shells. */
int interruption_status(int number);
