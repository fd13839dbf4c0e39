/* Programs that a real host runs with the real runner, at a level of containment that a test wants.
 */
#pragma once

#include "environments/process/process.h"

#include <ev.h>
#include <stdbool.h>
#include <stdint.h>

enum { PROCESS_TRIAL_KEPT_BYTES = 4096 };

#define TRIAL_SOON_SECONDS 60.0 /* on any machine */

struct trial_host {
    struct ev_loop *loop;
    struct process_host *host;
};

/* One program: what it wrote, and its end. */
struct process_trial {
    struct process process;
    void (*when_ready)(struct process *process); /* each time that it has written "ready": what it
                                                    has written can come before the word that it
                                                    has started, and until then it cannot be
                                                    interrupted */
    struct process_end end;
    size_t missing;
    bool ended;
    double ended_at;
    uint64_t bytes;
    char output[PROCESS_TRIAL_KEPT_BYTES + 1];
    size_t length;
    ev_timer kill;
    ev_timer bound;
    struct ev_loop *loop;
};

extern const struct process_limits trial_limits;

/* Seconds, of a clock that only goes on. */
double trial_now(void);

/* How long the processes of this test sleep: other tests run at the same time. */
const char *trial_token(void);

/* A host whose trees get LAYERS. */
struct trial_host *trial_host_new(unsigned layers);

/* Fails unless no child is left. */
void trial_host_free(struct trial_host *host);

void trial_host_run_for(struct trial_host *host, double seconds);
void trial_host_let_spare_prepare(struct trial_host *host);

int process_trial_start(struct trial_host *host, struct process_trial *trial,
                        const struct process_command *command, struct error *err);

/* Starts the program that ARGUMENTS name, in the root directory. */
void process_trial_begin(struct trial_host *host, struct process_trial *trial,
                         const char *const *arguments);

/* Waits for the end; kills it KILL_AFTER seconds from now, unless that is 0. */
void process_trial_wait(struct trial_host *host, struct process_trial *trial, double kill_after);

/* Begins and waits, for Python's SCRIPT with this test's token where it says TOKEN. */
void process_trial_execute(struct trial_host *host, struct process_trial *trial, const char *script,
                           double kill_after);

/* Runs TRY in a process of its own, which it may spoil; it has to return 0. */
void run_in_child(int (*try)(void));
