/* pyexecd-init: the first process of a container, a small static program without secrets.
 *
 *     pyexecd-init SECONDS -- PROGRAM ARGUMENT...          runs one program
 *     pyexecd-init --script SECONDS -- PYTHON SCRIPT ...   the Python of a script: with a starter;
 *                                                          with --streams PATH its wire is the
 *                                                          socket there; with --tools it does not
 *                                                          begin without a socket for tools
 *     pyexecd-init --script --ahead IDLE SECONDS -- ...    the same when it gets a go; with --gate
 *                                                          its Python waits for that, too
 *     pyexecd-init --script --session SECONDS -- ...       the Python of a session (cell_relay.h)
 *     pyexecd-init --keep SECONDS                          keeps a container for such runs
 *
 * It runs the program, and passes on what the program prints (wire_end.h). When the program has
 * ended, it kills whatever else is left, and says its last words (init_protocol.h). It ends the
 * program after SECONDS, at SIGTERM from outside, or when its standard input, if that is a pipe,
 * ends: then the server is gone, and nobody else would end the container. While it waits for its
 * script it ends after IDLE seconds, too. With such an input it stays behind its last words until
 * the server has them and dismisses it: of a container that has ended, an engine drops what is
 * still on its way. SIGINT from outside goes on to the program; the init of a kept container passes
 * it on to the inits of its runs.
 *
 * The program has the same uid, so everything here is written as if it were attacked: the init
 * cannot be traced or read, blocks every signal, and depends on no limit that prlimit(2) reaches.
 * As pid 1 it cannot be killed or stopped from inside either. The init of a run in a kept container
 * can be: then the run has no last words, and the server ends the container. */
#pragma once

#include "base/clock.h"
#include "base/wire_reader.h"
#include "environments/engine/init_protocol.h"

#include <stdbool.h>
#include <sys/types.h>

#define INIT_NAME "pyexecd-init" /* as the kernel knows it */

struct cell_relay;
struct wire_end;

struct watch {
    int signals;              /* signalfd of SIGCHLD, SIGINT and SIGTERM */
    int lifeline;             /* -1: there is none */
    struct wire_end *wire;    /* borrowed: takes what is printed to the server; or NULL */
    struct cell_relay *relay; /* borrowed: takes cells to the program; or NULL */
    struct wire_reader input; /* of the lifeline */
    double deadline;  /* clock_seconds() seconds; moved forward when the lifeline has ended */
    bool interrupted; /* SIGINT has come, and was not passed on yet */
    double longest;   /* seconds that one wait may take */
    bool has_go;
    struct go go;
    const char
        *script;   /* borrowed: the path of the script that a go is for; NULL: none is awaited */
    int file;      /* owned: this script, once a go has code for it */
    uint64_t code; /* bytes of the code that have not come yet */
    bool is_different; /* from what the file has */
    int tools; /* owned: a socket by which the script calls tools, once it is there; or -1 */
    bool needs_tools;
    bool is_dismissed;
};

/* Blocks every signal and begins to watch. False when that cannot be done. */
bool watch_begin(struct watch *watch, double seconds);

/* What the server gives to an init that connects to its socket (docker/direct_streams.h). */
struct streams {
    int outputs[2]; /* owned: for the program */
    int tools;      /* owned: see struct watch; or -1 */
};

/* Makes the socket of the server that listens at PATH standard input, and the wire: returns it, and
 * RET. -1: the server gives nothing. */
int streams_take(const char *path, struct streams *ret);

/* Waits for a signal, or for `longest`. False once the deadline has come, or SIGTERM from outside.
 */
bool watch_wait(struct watch *watch);

/* The last words have been said: waits until the server has them, or is gone, for a while. */
void await_dismissal(struct watch *watch);

/* Waits for the go, and checks that it is for the file at `script`. Sets the deadline SECONDS after
 * the go. False: there is to be no script; or PROGRAM (0: none), which waits as well, has died. */
bool await_go(struct watch *watch, pid_t program, double seconds);

/* The program that an init runs. */
struct init_program {
    char **arguments; /* [0] is found on PATH */
    bool is_script;   /* the Python of a script, which gets the starter (base/starter/starter.h) */
    int gate;         /* the program waits here before it reads its script; -1: it does not */
    int input;        /* its standard input, taken; -1: /dev/null */
    int outputs[2];   /* its standard output and error, taken */
    int tools;        /* borrowed: a socket by which the script calls tools; -1: none now */
};

/* The two ends of a stream; a Python waits at THEIRS. */
struct gate {
    int ours;
    int theirs;
};

/* True if no module that Python loads by itself can come from a script: Python may start ahead. */
bool gate_is_safe(void);

bool gate_make(struct gate *gate);

/* Gives TOOLS (borrowed; -1: none) to the Python, before it goes on. */
bool gate_give_tools(const struct gate *gate, int tools);

/* Lets the Python go on, now or when it reaches the gate. Our end stays open: the Python first says
 * there that it has arrived. */
bool gate_open(const struct gate *gate);

/* Forks and executes PROGRAM. Returns once it is executed, with *RET_FAILURE 0, or has failed,
 * with errno. -1 with errno when there was no process. */
pid_t init_program_start(const struct init_program *program, int *ret_failure);

/* The processes that were left when the program had ended. */
struct leftovers {
    unsigned count;   /* killed by SIGKILL, without helpers (base/python_helpers.h) */
    bool had_helpers; /* helpers were killed, too */
    bool are_gone;    /* none is left */
};

/* Kills every process that can be reached until there is none, and adds what was left to LEFTOVERS.
 * Sets *STATUS to the status of PROGRAM if it was among the dead. */
void init_program_kill_leftovers(pid_t program, int *status, struct leftovers *leftovers);
