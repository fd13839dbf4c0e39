#include "environments/venv/sweep.h"

#include "base/cleanup.h"
#include "base/list.h"
#include "base/memory.h"
#include "base/random.h"
#include "base/state.h"
#include "base/text.h"
#include "environments/venv/record.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define FIRST_SECONDS 0.5   /* so that it does not slow down the first call */
#define TURN_SECONDS  0.005 /* between two turns */

#define SCRATCH_PREFIX         ".new-"
#define DISCARDED_PREFIX       ".old-"
#define VENV_SWEEP_RECORD_NAME "pyexecd.json" /* its time tells how long it is kept */

enum { NAME_DIGITS = 16 };

static const struct state venv_sweep_states[] = {
    [VENV_SWEEP_OFF] = {"off", 1 << VENV_SWEEP_WAITING},
    [VENV_SWEEP_WAITING] = {"waiting", 1 << VENV_SWEEP_LOOKING | 1 << VENV_SWEEP_OFF},
    [VENV_SWEEP_LOOKING] = {"looking", 1 << VENV_SWEEP_REMOVING | 1 << VENV_SWEEP_CHECKING |
                                           1 << VENV_SWEEP_OFF},
    [VENV_SWEEP_REMOVING] = {"removing", 1 << VENV_SWEEP_LOOKING | 1 << VENV_SWEEP_OFF},
    [VENV_SWEEP_CHECKING] = {"checking records", 1 << VENV_SWEEP_OFF},
};

static void venv_sweep_set_state(struct venv_sweep *sweep, enum venv_sweep_state state)
{
    state_change(venv_sweep_states, sweep->state, state, "sweep of %s", sweep->folder);
    sweep->state = state;
}

static void venv_sweep_schedule(struct venv_sweep *sweep, double seconds)
{
    ev_timer_set(&sweep->timer, seconds, 0.);
    ev_timer_start(sweep->loop, &sweep->timer);
    ev_unref(sweep->loop);
}

/* A tree that is in use is locked. */
static void venv_sweep_begin_removal(struct venv_sweep *sweep, const char *path)
{
    if (!tree_removal_open(&sweep->removal, path))
        return;
    if (flock(sweep->removal.fd, LOCK_EX | LOCK_NB) < 0)
        tree_removal_close(&sweep->removal);
    else
        venv_sweep_set_state(sweep, VENV_SWEEP_REMOVING);
}

static bool venv_sweep_is_old(const char *record)
{
    struct timespec now;
    struct stat status;

    clock_gettime(CLOCK_REALTIME, &now);
    return lstat(record, &status) == 0 &&
           difftime(now.tv_sec, status.st_mtim.tv_sec) > VENV_KEPT_SECONDS;
}

static bool venv_sweep_is_expired(const char *venv)
{
    AUTO_FREE char *record = memory_format("%s/" VENV_SWEEP_RECORD_NAME, venv);

    return venv_sweep_is_old(record);
}

/* The venv is renamed before it is removed, so that none is found half removed. */
static void consider_venv(struct venv_sweep *sweep, const char *path)
{
    AUTO_CLOSE int fd = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    AUTO_FREE char *digits = random_digits(NAME_DIGITS);
    AUTO_FREE char *discarded = memory_format("%s/" DISCARDED_PREFIX "%s", sweep->folder, digits);

    if (fd < 0 || flock(fd, LOCK_EX | LOCK_NB) < 0 || !venv_sweep_is_expired(path) ||
        rename(path, discarded) < 0)
        return;
    (void)flock(fd, LOCK_UN);
    venv_sweep_begin_removal(sweep, discarded);
}

static void venv_sweep_consider(struct venv_sweep *sweep, const char *name)
{
    AUTO_FREE char *path = memory_format("%s/%s", sweep->folder, name);

    if (text_starts_with(name, SCRATCH_PREFIX) || text_starts_with(name, DISCARDED_PREFIX))
        venv_sweep_begin_removal(sweep, path);
    else if (name[0] != '.')
        consider_venv(sweep, path);
}

/* False when all has been looked at. */
static bool venv_sweep_look(struct venv_sweep *sweep)
{
    const struct dirent *entry = sweep->entries ? readdir(sweep->entries) : NULL;

    if (entry)
        venv_sweep_consider(sweep, entry->d_name);
    return entry != NULL;
}

/* A young one may be of a venv that is just being made. */
static void venv_sweep_check_record(const struct venv_sweep *sweep, const char *name)
{
    AUTO_FREE char *record = memory_format("%s/%s", sweep->records, name);

    if (name[0] != '.' && venv_sweep_is_old(record) && venv_record_is_left_over(record))
        (void)unlink(record);
}

/* False when all have been checked. */
static bool venv_sweep_check(struct venv_sweep *sweep)
{
    const struct dirent *entry = sweep->entries ? readdir(sweep->entries) : NULL;

    if (entry)
        venv_sweep_check_record(sweep, entry->d_name);
    return entry != NULL;
}

static void venv_sweep_begin_checking(struct venv_sweep *sweep)
{
    if (sweep->entries)
        closedir(sweep->entries);
    sweep->entries = opendir(sweep->records);
    venv_sweep_set_state(sweep, VENV_SWEEP_CHECKING);
}

static void venv_sweep_remove_some(struct venv_sweep *sweep)
{
    if (tree_removal_step(&sweep->removal))
        return;
    tree_removal_close(&sweep->removal);
    venv_sweep_set_state(sweep, VENV_SWEEP_LOOKING);
}

/* False when the sweep is done. */
static bool venv_sweep_take_turn(struct venv_sweep *sweep)
{
    switch (sweep->state) {
    case VENV_SWEEP_WAITING:
        sweep->entries = opendir(sweep->folder);
        venv_sweep_set_state(sweep, VENV_SWEEP_LOOKING);
        return true;
    case VENV_SWEEP_LOOKING:
        if (!venv_sweep_look(sweep))
            venv_sweep_begin_checking(sweep);
        return true;
    case VENV_SWEEP_REMOVING:
        venv_sweep_remove_some(sweep);
        return true;
    case VENV_SWEEP_CHECKING:
        return venv_sweep_check(sweep);
    default:
        return false;
    }
}

static void venv_sweep_on_timer(struct ev_loop *loop, ev_timer *timer, int events)
{
    struct venv_sweep *sweep = CONTAINER_OF(timer, struct venv_sweep, timer);

    (void)events;
    ev_ref(loop); /* the timer has stopped */
    if (venv_sweep_take_turn(sweep))
        venv_sweep_schedule(sweep, TURN_SECONDS);
    else
        venv_sweep_stop(sweep);
}

void venv_sweep_start(struct venv_sweep *sweep, struct ev_loop *loop, const char *state)
{
    *sweep = (struct venv_sweep){
        .loop = loop,
        .folder = memory_format("%s/venvs", state),
        .records = memory_format("%s/" VENV_RECORDS_NAME, state),
    };
    ev_timer_init(&sweep->timer, venv_sweep_on_timer, 0., 0.);
    venv_sweep_set_state(sweep, VENV_SWEEP_WAITING);
    venv_sweep_schedule(sweep, FIRST_SECONDS);
}

void venv_sweep_stop(struct venv_sweep *sweep)
{
    if (sweep->state == VENV_SWEEP_OFF)
        return;
    venv_sweep_set_state(sweep, VENV_SWEEP_OFF);
    if (ev_is_active(&sweep->timer) || ev_is_pending(&sweep->timer)) /* its time may just be up */
        ev_ref(sweep->loop);
    ev_timer_stop(sweep->loop, &sweep->timer);
    tree_removal_close(&sweep->removal);
    if (sweep->entries)
        closedir(sweep->entries);
    free(sweep->folder);
    free(sweep->records);
    *sweep = (struct venv_sweep){0};
}

void venv_sweep_note_use(const char *path, double seconds)
{
    AUTO_FREE char *record = memory_format("%s/" VENV_SWEEP_RECORD_NAME, path);
    struct timespec times[2];

    clock_gettime(CLOCK_REALTIME, &times[1]);
    times[1].tv_sec -= (time_t)(VENV_KEPT_SECONDS - seconds);
    times[0] = times[1];
    (void)utimensat(AT_FDCWD, record, times,
                    AT_SYMLINK_NOFOLLOW); /* or it is removed earlier than it might be */
}
