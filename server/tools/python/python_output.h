/* The output of a program as it comes, for a client that asks for it.
 *
 * Its source is the output that the run keeps for the result. So neither a slow client nor a
 * program that prints without end takes memory. The client gets fewer bytes, and the offsets say
 * how many are missing. */
#pragma once

#include "environments/capture.h"
#include "environments/executor.h"

#include <ev.h>

struct cell;
struct invocation;
struct run;

struct python_output {
    struct invocation *invocation;              /* borrowed */
    struct ev_loop *loop;                       /* borrowed */
    const struct run *run;                      /* borrowed; or NULL, and instead ... */
    const struct cell *cell;                    /* ... borrowed */
    struct ev_timer timer;                      /* looks for output */
    struct capture_piece sent[PROCESS_STREAMS]; /* the last pieces; their texts are gone */
};

void python_output_init(struct python_output *output, struct invocation *invocation,
                        struct ev_loop *loop);

/* Begins to send the output of RUN or CELL (borrowed, the other one NULL), if the client wants it.
 */
void python_output_start(struct python_output *output, const struct run *run,
                         const struct cell *cell);

/* The program has ended: sends one more piece of each of STREAMS, and says where it has ended if
 * that is not all. */
void python_output_finish(struct python_output *output, const struct capture *streams);

void python_output_deinit(struct python_output *output);
