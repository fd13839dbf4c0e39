/* One script that is being executed in an environment: the view of a run, whatever the kind.
 *
 * environment_start() makes an execution. It is gone when `ended` of its listener is called. So are
 * its processes, unless their maker keeps them and executes another script in them. It cannot be
 * cancelled, only interrupted or killed, because its end must be waited for. */
#pragma once

#include "environments/process/isolation.h"
#include "environments/process/process.h"
#include "environments/process/receipt.h"
#include "environments/process/recurrence.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { STEP_BYTES = 160 };

/* The current step of a preparation. */
struct preparation_step {
    char text[STEP_BYTES]; /* "installing numpy"; "" before the first */
    double fraction;       /* of the step that is done, 0 to 1; negative: not known */
};

/* The script and its surroundings. Everything is borrowed until environment_start returns; paths
 * are absolute and of this machine. */
struct execution_request {
    const char *directory; /* the current directory of the script */
    int directory_fd;      /* that directory, open; borrowed */
    const char *annex;     /* see working_directory_annex; or NULL */
    const char *script;    /* a file of the directory: executed as it is, unless there is ... */
    const char *code;      /* ... the code to be laid over it, for this execution only; or NULL */
    size_t code_length;
    const char *text;      /* that code once more, if it is to be executed by -c: it is <string> in
                              its tracebacks then, and no file; or NULL */
    const char *code_file; /* where a private file with the same code may be made, if the caller has
                              asked for such a file; it is removed with the run. With a program
                              names of private files begin so. Or NULL */
    const char *program;   /* instead of code: a program that the interpreter executes, by -c or
                              laid over `script` as code is ... */
    int input;             /* ... with this socket as its standard input; or NULL and 0 */
    int tools;             /* a socket by which the script calls tools (script_tools.h); or 0 */
    const char *kernel;    /* the Jupyter kernel that `program` starts for cells; or NULL */
    const char *const *variables; /* NULL-terminated NAME=VALUE, for this execution only; or NULL */
    const char *const *arguments; /* NULL-terminated: sys.argv[1:]; or NULL */
    enum isolation isolation;     /* the level that the run was promised; see environment_level.h */
    struct recurrence *recurrence; /* the client that is likely to send the same request with other
                                      code; or NULL; borrowed until environment_start returns */
    const json_t *imports;         /* an array: the modules that the code imports; or NULL */
    const char *owner;             /* the principal that the run belongs to */
    double timeout; /* seconds after which the caller is going to kill the script: any process that
                       could outlive the server ends by itself a little later */
};

/* The listener to an execution; embedded in the run, and outlives the execution. */
struct execution_listener {
    /* The time of the script begins; only of an execution that `is_starting`. */
    void (*began)(struct execution_listener *listener);
    /* The reason why an execution `is_starting` still, if it knows. May be NULL. */
    void (*step)(struct execution_listener *listener, const struct preparation_step *step);
    void (*output)(struct execution_listener *listener, enum process_stream stream,
                   const char *data, size_t length);
    /* The program of a session has the files, after `bring`. May be NULL. */
    void (*brought)(struct execution_listener *listener);
    /* The time of the script is over, but its files are on their way, and `ended` comes behind
     * them; of a session, the time of a cell. May be NULL. */
    void (*over)(struct execution_listener *listener);
    /* END is borrowed until it returns. `reported` and `killed` are only known of a process of this
     * machine. */
    void (*ended)(struct execution_listener *listener, const struct process_end *end);
};

/* The common part of an execution, embedded in the object of each kind of environment. */
struct execution {
    struct execution_listener *listener; /* borrowed */

    /* SIGINT to the script itself, which may flush its output and end. Does nothing after the
     * script has ended, or before it has begun; the program of a session gets it then. */
    void (*interrupt)(struct execution *execution);

    /* Hands over the unread bytes of its streams, by `output` of the listener, from inside. NULL
     * where no program can be executed. */
    void (*drain)(struct execution *execution);

    /* While IS_HELD its output is not read, so that it waits when its pipes are full; what it left
     * there comes before its end all the same. NULL where that cannot be. */
    void (*hold)(struct execution *execution, bool is_held);

    /* Where the program of a session has a copy of the directory, this brings changes to it before
     * a cell: `brought` comes, never from inside, or the end; once if this was called again
     * meanwhile. May be NULL. */
    void (*bring)(struct execution *execution);

    /* The CPU time and memory of its program so far; see process_measure. NULL where no program can
     * be executed. */
    struct process_usage (*measure)(struct execution *execution);

    /* LISTENER hears of a copy of its program, which the caller tells to make one; see
     * process_start_copy. NULL with ERR when there can be none; itself NULL where no program can be
     * executed. */
    struct execution *(*copy)(struct execution *execution, struct execution_listener *listener,
                              struct process_copy_ends *ret, struct error *err);

    void (*kill)(struct execution *execution); /* everything, now; harmless when called twice */
    bool is_starting; /* something must start first, such as a container, and has its own limit; of
                       * a program this is so until `began` */
};

/* The command that executes SCRIPT, or the text of REQUEST, with its arguments in INTERPRETER, for
 * memory_free_strings. */
char **execution_command(const char *interpreter, const char *script,
                         const struct execution_request *request);

/* The same for the program of REQUEST, whose argument is its kernel, if it has one. */
char **execution_program_command(const char *interpreter, const struct execution_request *request);
