/* What tests of sessions need: a table of them, in the environment "system" of a fixture, and cells
 * that collect what came back. */
#pragma once

#include "environments/notebook/notebooks.h"
#include "tests/unit/environments/fixture.h"

struct session_fixture {
    struct fixture *fixture;
    struct notebooks *notebooks;
    struct working_directory *directory;
    unsigned done; /* cells so far */
};

/* One submitted cell and its end. */
struct tried_cell {
    struct session_fixture *sessions;
    struct cell *cell; /* NULL once it is done */
    bool is_done;
    unsigned order; /* how many were done before */
    enum run_end end;
    enum run_session session;
    int returncode;
    double cpu_seconds;
    double prepare_seconds;
    char error[ERROR_MESSAGE_BYTES];
    char *out; /* owned */
};

/* MOST sessions in all, and MOST_PER_OWNER. */
struct session_fixture *session_fixture_new(unsigned most, unsigned most_per_owner,
                                            double idle_seconds);

/* Ends all sessions, waits until nothing is left, and frees everything. */
void session_fixture_free(struct session_fixture *sessions);

/* A new session of OWNER; NULL with ERR. */
struct notebook *session_fixture_open(struct session_fixture *sessions, const char *owner,
                                      struct error *err);

/* One in ENVIRONMENT, which must be possible. */
struct notebook *session_fixture_open_in(struct session_fixture *sessions,
                                         struct environment *environment);

void tried_cell_submit(struct tried_cell *cell, struct session_fixture *sessions,
                       struct notebook *notebook, const char *code, double timeout);

/* Runs the loop until CELL is done; fails the test after a while. */
void tried_cell_wait(struct tried_cell *cell);
void tried_cell_deinit(struct tried_cell *cell);

/* Submits and waits. */
void tried_cell_execute(struct tried_cell *cell, struct session_fixture *sessions,
                        struct notebook *notebook, const char *code);
