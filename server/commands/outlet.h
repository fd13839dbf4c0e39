/* Writes on standard output or standard error while the loop goes on: a reader that pauses holds up
 * nothing else. */
#pragma once

#include "base/buffer.h"
#include "base/error.h"

#include <ev.h>
#include <stdbool.h>
#include <stddef.h>

struct step_display;

struct outlet {
    struct ev_loop *loop;         /* borrowed */
    struct step_display *display; /* borrowed: hidden while something is written */
    int fd;                       /* borrowed */
    void *data;                   /* borrowed: for `taken` */
    int terminal;  /* owned: the terminal behind `fd` as an open file of our own; -1: none */
    ev_io watcher; /* active while the reader is waited for */
    struct buffer unsent;

    /* The reader has gone on. ERR says why nothing more can be written, or is NULL. */
    void (*taken)(void *data, const struct error *err);
};

/* After the members before `terminal`, and `taken`, are set. */
void outlet_open(struct outlet *outlet);

/* Unsent bytes are dropped. */
void outlet_close(struct outlet *outlet);

/* Writes as many of the BYTES as the reader takes at once, and keeps the others for later. */
int outlet_put(struct outlet *outlet, const char *bytes, size_t length, struct error *err);

/* Writes all unsent bytes, and waits as long as it takes. */
int outlet_wait(struct outlet *outlet, struct error *err);

/* Tells why nothing more can be written, unless the reader is gone, as in `pyexecd run FILE |
 * head`. Returns the exit status for it. */
int outlet_fail(const struct error *err);

/* True with so many unsent bytes that nothing should be begun that adds to them. */
bool outlet_is_full(const struct outlet *outlet);

/* True without unsent bytes. */
bool outlet_is_empty(const struct outlet *outlet);
