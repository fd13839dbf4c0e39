/* A turn: one piece of code at work in a working directory, from the look at the files before it to
 * the pictures among the files that it leaves.
 *
 *     RESTING -> LOOKING -> WORKING -> INTERRUPTED -> STOPPING -> LISTING -> SHOWING -> RESTING
 *
 * A run has one turn, in a process tree of its own. The cells of a session take turns in one tree.
 * At its deadline the code is interrupted; if it does not end in the time of grace, everything in
 * the tree is killed. */
#pragma once

#include "environments/capture.h"
#include "environments/execution.h"
#include "environments/executor.h"
#include "environments/pictures/gallery.h"
#include "environments/script_tools.h"
#include "environments/workplace/directory_look.h"
#include "environments/workplace/directory_watch.h"

#include <ev.h>

enum { TURN_NAME_BYTES = 32 };

enum turn_state {
    TURN_RESTING,     /* no code has a turn */
    TURN_LOOKING,     /* looks at the directory, before the code */
    TURN_WORKING,     /* waits for the end of the code */
    TURN_INTERRUPTED, /* waits for the end of the code, which was told to end */
    TURN_STOPPING,    /* waits for the end of the tree, which has been killed */
    TURN_LISTING,     /* looks at the directory, after the code */
    TURN_SHOWING,     /* waits for the pictures among the new files */
};

struct turn;

/* The steps of the owner of a turn.. */
struct turn_ops {
    /* The directory is known as it was before the code: the owner starts the code, and calls
     * turn_work. */
    void (*looked)(struct turn *turn);

    /* The deadline has come: turn_expire, unless the owner knows better. */
    void (*expired)(struct turn *turn);

    /* The directory is known as it is after the code: the owner judges the end of the code, and
     * calls turn_show. */
    void (*listed)(struct turn *turn);

    /* The output, changes and pictures of the code are known: the owner calls turn_leave. */
    void (*shown)(struct turn *turn);
};

/* Embedded in its owner. */
struct turn {
    const struct turn_ops *ops;
    char name[TURN_NAME_BYTES];          /* for the log: "run 3" */
    struct ev_loop *loop;                /* borrowed */
    struct environment *environment;     /* borrowed; outlives the turn */
    struct working_directory *directory; /* borrowed; outlives the turn */
    double grace_seconds;                /* for code to end after it was told to */

    enum turn_state state;
    enum run_end end;                 /* of the code, as far as it is decided */
    struct directory_look look;       /* at the directory */
    struct directory_changes changes; /* of the directory; its files are owned */
    struct directory_watch growth;    /* of the directory; the owner begins it, and has its steps */
    struct gallery gallery;           /* of the pictures among the changes */
    struct execution_listener listener;
    struct execution
        *execution; /* borrowed; the tree that the code is in; NULL unless it is going */
    struct process_end execution_end; /* once it has ended; its lists: references */
    struct capture streams[PROCESS_STREAMS];
    enum process_stream newest;   /* the stream that has got the last output */
    ev_timer deadline;            /* of the code */
    double due;                   /* clock_seconds(): when that is */
    bool is_put_off;              /* that, because the loop was late */
    struct script_tools *tools;   /* owned: that the code may call; or NULL */
    struct script_sender *sender; /* borrowed: of the code; set by the owner; or NULL */
    json_t *tool_account;         /* owned: of its calls; or NULL */
    enum script_wait wait;        /* why the code waits */
    double latest;                /* loop time: the deadline is not put off beyond it */
    bool is_latest;               /* the deadline is at `latest` */
    double left;                  /* seconds of the deadline that stands still; 0: it goes */
    double patience;              /* seconds that `latest` may still be put off for people */
    double asked;                 /* loop time: since then a person is asked; 0: nobody is */
};

/* The inputs of a turn, as above. */
struct turn_settings {
    const struct turn_ops *ops;
    const char *name; /* copied */
    struct ev_loop *loop;
    struct environment *environment;
    struct working_directory *directory;
    const char *picture_helper; /* the path of pyexecd-picture; NULL: no pictures are wanted */
    struct script_tools *tools; /* taken; or NULL */
    double grace_seconds;
};

void turn_init(struct turn *turn, const struct turn_settings *settings);

/* Releases everything. No execution is going. */
void turn_deinit(struct turn *turn);

/* Forgets the output, changes and pictures of the code that has had its turn. */
void turn_renew(struct turn *turn);

/* Looks at the directory; `looked` comes, perhaps from inside. */
void turn_look(struct turn *turn);

/* The sender goes, and the code is to end. */
void turn_orphan(struct turn *turn);

/* The code begins to work. Its deadline starts after SECONDS; 0: with turn_start_deadline. While it
 * waits for a tool the deadline stands still, but not beyond the longest of the environment. */
void turn_work(struct turn *turn, double seconds);

/* The code has begun: its deadline starts, unless it waits for a tool by now. */
void turn_begin_deadline(struct turn *turn, double seconds);

/* The code has ended in time, and not all of it is known yet: its deadline does not count any
 * more. */
void turn_end_deadline(struct turn *turn);

/* The seconds after which code that has SECONDS is at an end, however long it waits for tools and
 * people. */
double turn_longest(const struct turn *turn, double seconds);

/* Starts the deadline of the code anew. */
void turn_start_deadline(struct turn *turn, double seconds);

/* True while code works, interrupted or not. */
bool turn_is_working(const struct turn *turn);

/* Keeps output of the code. */
void turn_take_output(struct turn *turn, enum process_stream stream, const char *data,
                      size_t length);

/* The newest line of the output; see capture_last_line. Owned by the caller, or NULL. */
char *turn_last_line(const struct turn *turn);

/* Interrupts the code, which works; its end is RUN_TIMED_OUT. */
void turn_interrupt(struct turn *turn);

/* Kills everything in the tree, because of END, while code works. */
void turn_stop(struct turn *turn, enum run_end end);

/* Interrupts the code, or stops it if it was interrupted before. */
void turn_expire(struct turn *turn);

/* The code has ended. turn_list comes next, or turn_leave if nobody wants to know the files. */
void turn_end_work(struct turn *turn);

/* Keeps END, the end of the execution, which is not going any more. */
void turn_note_end(struct turn *turn, const struct process_end *end);

/* Looks at the directory after the code; `listed` comes, perhaps from inside. */
void turn_list(struct turn *turn);

/* Notes the changes and, if the code WAS_RIGHT, reads the pictures among them; `shown` comes,
 * perhaps from inside. A failure has no pictures: some services of models refuse them there, and
 * some clients show the model their text. */
void turn_show(struct turn *turn, bool was_right);

/* Ends the turn, wherever it is; nothing comes any more. */
void turn_leave(struct turn *turn);

/* The present activity, for people. Static storage. */
const char *turn_activity(const struct turn *turn);
