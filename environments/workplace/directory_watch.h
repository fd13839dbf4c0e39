/* Whether a directory grows beyond a limit, while scripts write in it at full speed.
 *
 * The server often asks how many bytes the file system has in use, because that costs nothing. It
 * measures the directory itself, in small steps between other work of the loop, now and then, and
 * when the file system has grown by half of the directory's remaining limit.
 *
 * If the measure cannot see everything (a directory that may not be read, or lies too deep), the
 * growth of the whole file system decides: a script must not evade the limit by hiding files.
 *
 * Each measure is noted for the share of the principal (disk_share.h). Once the share is used up,
 * the directory may grow by another MiB only, for tidying. */
#pragma once

#include "base/outcome.h"
#include "environments/workplace/directory_listing.h"
#include "environments/workplace/directory_measure.h"
#include "environments/workplace/disk_share.h"

#include <ev.h>
#include <stdbool.h>
#include <stdint.h>

enum directory_watch_state {
    DIRECTORY_WATCH_OFF,
    DIRECTORY_WATCH_FOUNDING,  /* measures the directory before the script */
    DIRECTORY_WATCH_LOOKING,   /* looks at the file system */
    DIRECTORY_WATCH_MEASURING, /* measures the directory */
    DIRECTORY_WATCH_FINISHING, /* measures it for the last time */
};

struct directory_claim;

struct directory_watch {
    /* Inputs. After `exceeded` and `finished` the watch is off. */
    struct ev_loop *loop;                           /* borrowed */
    uint64_t limit;                                 /* bytes */
    void (*founded)(struct directory_watch *watch); /* the end of a PENDING beginning */
    void (*exceeded)(struct directory_watch *watch);
    void (*finished)(struct directory_watch *watch); /* the end of a PENDING finish */

    bool is_exceeded; /* the directory has grown beyond the limit */

    /* Private. */
    enum directory_watch_state state;
    struct directory_measure measure;
    ev_timer timer;
    struct directory_claim *claim; /* borrowed */
    struct disk_share share;       /* at the last measure */
    uint64_t allowed;              /* growth: the limit, or less when the share is used up */
    int patience;                  /* operations until `founded` comes; 0: it has come */
    bool is_founded;               /* all of `before` was seen */
    uint64_t before;               /* bytes in the directory */
    uint64_t growth;               /* at the last measure */
    uint64_t used_before;          /* bytes of the file system */
    uint64_t used_then;            /* when the last measure began */
    double measured_at;            /* clock_seconds() when the last measure began */
    double measured_until;         /* when that measure ended */
};

/* Begins: the present contents of CLAIM's directory do not count. PENDING: `founded` comes when
 * most of them are measured; files changed before that count as new. CLAIM (borrowed) outlives the
 * watch. SEEN: a listing of what is there now, which may make a measure needless; or NULL. */
enum outcome directory_watch_begin(struct directory_watch *watch, struct directory_claim *claim,
                                   const struct directory_listing *seen);

/* Nothing writes any more: finds out whether the limit is exceeded, now or PENDING. */
enum outcome directory_watch_finish(struct directory_watch *watch,
                                    const struct directory_listing *seen);

/* Ends at once. Harmless for a watch that is off. */
void directory_watch_end(struct directory_watch *watch);

/* The reason for `exceeded`, if it was the share and not the limit; else a share that is not used
 * up. */
struct disk_share directory_watch_share(const struct directory_watch *watch);
