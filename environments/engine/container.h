/* One container from its creation to its removal: create, attach, start, output, end, inspect,
 * remove.
 *
 * The connection for its output is made before its start, so that no output is lost. The wait for
 * its end (condition not-running) begins after the start: a container that has ended by then still
 * exists, because only we remove it. A wait from before the start (next-exit) would take longer.
 *
 * A container that was created, or may have been, is removed in the background, unless it is to be
 * kept. So is a cancelled container, also if the engine answers its creation after the cancel.
 * engine_is_idle says when the removal is done. */
#pragma once

#include "base/error.h"
#include "environments/engine/engine.h"
#include "environments/engine/frames.h"

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

#define CONTAINER_KILL_SECONDS  5.0  /* an engine that needs longer for a kill has failed */
#define CONTAINER_MERCY_SECONDS 0.15 /* for a program that ends by itself when it is told to */
#define CONTAINER_DRAIN_SECONDS 2.0  /* from the end of a program to the end of its output */

struct container_life;

/* Everything is borrowed until container_start returns. */
struct container_plan {
    const char *name;         /* NULL: the engine chooses one */
    const json_t *definition; /* the body of the request to create it; Tty must be false */
    const char *platform;     /* "linux/arm64"; NULL: the engine's own */
    double start_timeout;     /* seconds from now to its start; 0: as long as it takes */
    bool is_told;             /* SIGTERM comes before the kill, for a program with last words */
    bool keep;                /* stays, stopped, after its end; removed all the same if cancelled */
};

struct container_end {
    bool started;                   /* its program ran */
    bool killed;                    /* container_kill came first */
    bool is_cut;                    /* its output has not ended: some may be missing */
    bool out_of_memory;             /* the memory limit killed a process, says the engine */
    int exit_code;                  /* of its program; 128 + N for signal N. If `started` */
    double start_seconds;           /* from container_start to its start */
    double run_seconds;             /* from there to its end */
    int status;                     /* of HTTP, where the engine refused; else 0 */
    char failure[ERROR_FULL_BYTES]; /* not empty: it did not run, or its end is not known */
};

struct container {
    /* Inputs, set before container_start. */

    /* If NULL, the output is not read. A standard input that is open (OpenStdin, StdinOnce) ends
     * with the server. May not end the container. */
    void (*output)(struct container *container, enum frame_stream stream, const char *data,
                   size_t length);

    /* May be NULL. Its program runs; container_id is known. May kill and cancel. */
    void (*started)(struct container *container);

    /* The last thing called. */
    void (*ended)(struct container *container, const struct container_end *end);

    /* Private. */
    struct container_life *life; /* owned by the engine; NULL: not under way */
};

/* `ended` will come, never from inside this call. */
void container_start(struct container *container, struct engine *engine,
                     const struct container_plan *plan);

/* Sends SIGINT to its first program; does nothing if the program does not run or has been killed.
 */
void container_interrupt(struct container *container);

/* Sends DATA to the standard input of its first program, also after SIGTERM; does nothing if the
 * program does not run. The definition has OpenStdin and StdinOnce. -1 with ERR: the program does
 * not read its input. */
int container_send(struct container *container, const char *data, size_t length, struct error *err);

/* Dismisses its first program, a pyexecd-init with an open input (init_protocol.h). */
void container_dismiss(struct container *container);

/* Moves the container that FROM has started to TO, which has its inputs and gets the callbacks. */
void container_move(struct container *from, struct container *to);

/* Kills all processes in it, at once or, with `is_told`, CONTAINER_MERCY_SECONDS after SIGTERM. A
 * container that does not run yet is not started. `ended` still comes, soon. Harmless after the
 * first call or the end of the container. */
void container_kill(struct container *container);

/* Kills and removes the container in the background, without further callbacks. Harmless after its
 * end. */
void container_cancel(struct container *container);

/* NULL until it is created. Borrowed. */
const char *container_id(const struct container *container);
