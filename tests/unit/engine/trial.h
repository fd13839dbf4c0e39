/* A life of a container, or of a program in it, in a fake engine: each step of it is asked for and
 * answered as usual, except for what a test changes. There is one trial at a time. */
#pragma once

#include "environments/engine/container.h"
#include "environments/engine/exec.h"
#include "tests/unit/engine/fake_engine.h"

#include <ev.h>
#include <stdbool.h>

#define EMPTY        "HTTP/1.1 204 No Content\r\n\r\n"
#define UPGRADED     "HTTP/1.1 101 UPGRADED\r\nConnection: Upgrade\r\nUpgrade: tcp\r\n\r\n"
#define CREATED      "HTTP/1.1 201 Created\r\nContent-Length: 11\r\n\r\n{\"Id\":\"i1\"}"
#define EXITED       "HTTP/1.1 200 OK\r\nContent-Length: 16\r\n\r\n{\"StatusCode\":3}"
#define INSPECTED(S) "HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n{\"State\":{" S "}}"
#define REFUSED      "HTTP/1.1 409 Conflict\r\nContent-Length: 20\r\n\r\n{\"message\":\"not so\"}"
#define OUTPUT       UPGRADED "\1\0\0\0\0\0\0\3out\2\0\0\0\0\0\0\3err"

enum { OUTPUT_BYTES = sizeof OUTPUT - 1 };

enum step {
    STEP_CREATE,
    STEP_ATTACH,
    STEP_START,
    STEP_WAIT,
    STEP_KILL,
    STEP_INSPECT,
    STEP_REMOVE,
    STEP_EXEC_CREATE,
    STEP_EXEC_START,
    STEP_EXEC_INSPECT,
    STEPS,
};

struct trial {
    struct fake_answer answers[STEPS + 1];
    struct ev_loop *loop;
    struct fake_engine *fake;
    struct engine *engine;
    struct container container;
    struct exec exec;
    char output[FRAME_STREAMS][64];
    bool started;
    bool ended;
    struct container_end end;
};

extern struct trial *trial; /* of the test that runs */

/* The usual answers. */
extern const struct fake_answer trial_usual[STEPS + 1];

#define TRIAL_TEST(NAME) cmocka_unit_test_setup_teardown(NAME, trial_set_up, trial_tear_down)

int trial_set_up(void **state);
int trial_tear_down(void **state);

/* For a test that has several cases: each has a trial of its own. */
void trial_begin_anew(void **state);

/* Another answer to STEP. */
void trial_answer(enum step step, const char *text, enum fake_manner manner);

/* How often STEP has been asked for. */
unsigned trial_count(enum step step);

void trial_until_ended(void);
