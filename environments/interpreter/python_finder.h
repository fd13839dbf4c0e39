/* Finds a Python of a certain version on this machine, by asking each candidate for its version. */
#pragma once

#include "base/error.h"
#include "environments/interpreter/interpreter.h"
#include "environments/interpreter/python_places.h"

#include <ev.h>
#include <stdbool.h>
#include <stddef.h>

enum python_finder_state {
    PYTHON_FINDER_IDLE,   /* not begun, found or given up */
    PYTHON_FINDER_TURN,   /* waits for its turn of the loop, to ask the next candidate */
    PYTHON_FINDER_ASKING, /* waits for the answer of a candidate */
};

struct python_finder {
    /* Inputs. */
    struct ev_loop *loop;        /* borrowed */
    struct process_host *host;   /* borrowed */
    char *version;               /* owned; see python_version.h */
    struct tool_holding holding; /* of the programs that are asked */
    void (*done)(struct python_finder *finder, const struct error *err);

    /* The result; see interpreter.h. */
    struct interpreter interpreter;

    /* Private. */
    enum python_finder_state state;
    struct python_places places;
    size_t position; /* of the place that is being asked */
    char *found;     /* owned; "3.12.1 (/usr/bin/python3)" and so on: Pythons of other versions */
    ev_timer next;   /* the next candidate is asked from the loop */
};

/* VERSION is copied. */
void python_finder_init(struct python_finder *finder, struct ev_loop *loop,
                        struct process_host *host, const char *version);
void python_finder_deinit(struct python_finder *finder);

/* `done` is called later. If there is none, the error lists the versions that were found. */
void python_finder_start(struct python_finder *finder);

/* `done` is not called any more. */
void python_finder_cancel(struct python_finder *finder);
