/* A Docker engine for tests, on a socket of its own in the test's loop: it gives the answers that a
 * table has, in the way that it says, and notes what it is asked. */
#pragma once

#include "environments/engine/engine.h"

#include <ev.h>
#include <stdbool.h>

enum fake_manner {
    FAKE_AT_ONCE,
    FAKE_DRIPPING, /* a byte at a time */
    FAKE_SILENT,   /* never, until fake_engine_speak */
    FAKE_CLOSING,  /* at once, and then the connection ends */
};

/* The first that REQUEST begins with ("POST /v1.41/containers/create") is given. */
struct fake_answer {
    const char *request;
    const char *answer; /* all that is written; LENGTH bytes or, with 0, as far as its NUL */
    size_t length;
    enum fake_manner manner;
};

struct fake_engine;

/* Listens; ANSWERS, ended by one without a request, are borrowed. A `GET /_ping` is answered with
 * API 1.41 unless they have one, and whatever they have not is answered with 500. */
struct fake_engine *fake_engine_new(struct ev_loop *loop, const struct fake_answer *answers);
void fake_engine_free(struct fake_engine *fake);

/* A client of it; owned by the caller. */
struct engine *fake_engine_client(struct fake_engine *fake);

/* Every request so far, "METHOD PATH\n" each. Borrowed. */
const char *fake_engine_log(const struct fake_engine *fake);

/* How often the log has TEXT. */
unsigned fake_engine_count(const struct fake_engine *fake, const char *text);

/* Connections that were made so far. */
unsigned fake_engine_connections(const struct fake_engine *fake);

/* Gives the answers that were kept back. */
void fake_engine_speak(struct fake_engine *fake);

/* Ends all connections, and refuses new ones. */
void fake_engine_die(struct fake_engine *fake);
void fake_engine_come_back(struct fake_engine *fake);
