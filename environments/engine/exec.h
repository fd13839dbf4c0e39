/* One more program in a container that runs: create, start with its output, end, inspect.
 *
 * The engine offers no way to kill it but with the whole container. */
#pragma once

#include "environments/engine/container.h"

struct exec_life;

/* Everything is borrowed until exec_start returns. */
struct exec_plan {
    const char *container;    /* its id */
    const json_t *definition; /* the body of the request to create it; Tty must be false */
    double start_timeout;     /* seconds from now to its start; 0: as long as it takes */
};

struct exec {
    /* Inputs, set before exec_start, like the inputs of a container. */
    void (*output)(struct exec *exec, enum frame_stream stream, const char *data, size_t length);

    /* May be NULL. The engine has agreed: data that is sent from now on reaches the program. */
    void (*agreed)(struct exec *exec);

    /* Called last. The program has ended, and so has every process that holds its output.
     * `killed` and `out_of_memory` are not known of an exec. */
    void (*ended)(struct exec *exec, const struct container_end *end);

    /* Private. */
    struct exec_life *life; /* owned; NULL: not under way */
};

/* `ended` will come, never from inside this call. */
void exec_start(struct exec *exec, struct engine *engine, const struct exec_plan *plan);

/* Sends DATA to the standard input of the program. The engine has agreed; the definition has
 * AttachStdin. -1 with ERR: the program does not read its input. */
int exec_send(struct exec *exec, const char *data, size_t length, struct error *err);

/* Dismisses the program, a pyexecd-init (init_protocol.h). As exec_send. */
void exec_dismiss(struct exec *exec);

/* Moves the exec that FROM has started to TO, which has its inputs and gets the callbacks. */
void exec_move(struct exec *from, struct exec *to);

/* Ends the callbacks. The program goes on: the caller kills its container. Harmless after its end.
 */
void exec_cancel(struct exec *exec);
