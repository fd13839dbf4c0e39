#include "base/cleanup.h"
#include "base/memory.h"
#include "base/random.h"
#include "base/state.h"
#include "base/text.h"
#include "base/untrusted.h"
#include "environments/workplace/directory_file.h"
#include "environments/workplace/trial_file.h"
#include "environments/workplace/workplace_private.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum {
    STEP_ENTRIES = 64,     /* directories looked at in one turn of the loop */
    STEP_OPERATIONS = 256, /* entries removed in one turn */
    NAME_DIGITS = 16,      /* of a name in the trash */
};

#define SWEEP_PAUSE_SECONDS          600.0
#define BARE_SECONDS                 600.0 /* kept, with nothing but a script in it */
#define STEP_SECONDS                 0.01  /* between two turns with work */
#define REMOVAL_SECONDS              30.0  /* then the rest waits for the next sweep */
#define WORKPLACE_SWEEP_STOP_SECONDS 0.2   /* for the trash, at the end of the server */
#define TOLERATED_SECONDS            60.0  /* a directory's time may be ahead of now by this */

/* The end of the server goes straight to removing. */
static const struct state workplace_sweep_states[] = {
    [SWEEP_WAITING] = {"waiting", 1 << SWEEP_LOOKING | 1 << SWEEP_REMOVING},
    [SWEEP_LOOKING] = {"looking", 1 << SWEEP_REMOVING | 1 << SWEEP_WAITING},
    [SWEEP_REMOVING] = {"removing", 1 << SWEEP_WAITING},
};

static void workplace_sweep_set_state(struct sweep *sweep, enum sweep_state state)
{
    state_change(workplace_sweep_states, sweep->state, state, "workplace sweep");
    sweep->state = state;
}

static void workplace_sweep_schedule(struct workplace *workplace, double seconds)
{
    ev_timer *timer = &workplace->sweep.timer;

    if (ev_is_active(timer))
        ev_ref(workplace->loop);
    timer->repeat = seconds;
    ev_timer_again(workplace->loop, timer);
    ev_unref(workplace->loop); /* waiting for the next sweep keeps nothing alive */
}

static int open_trash(const struct workplace *workplace)
{
    (void)unlinkat(workplace->root_fd, TRASH_NAME, 0); /* unless it is a directory */
    if (mkdirat(workplace->root_fd, TRASH_NAME, S_IRWXU) < 0 && errno != EEXIST)
        return -1;
    return directory_open_forced(workplace->root_fd, TRASH_NAME);
}

int sweep_discard(struct workplace *workplace, int parent, const char *name)
{
    AUTO_CLOSE int trash = open_trash(workplace);
    AUTO_FREE char *target = random_digits(NAME_DIGITS);

    if (trash < 0 || renameat(parent, name, trash, target) < 0)
        return -1;
    disk_ledger_forget(&workplace->ledger, name);
    return 0;
}

void sweep_forget_annex(const struct workplace *workplace, const char *handle)
{
    if (workplace->annexes)
        (void)unlinkat(workplace->annexes->private_fd, handle, AT_REMOVEDIR);
}

/* True when there is nothing in the directory FD to go on with. Requests that stand alone leave
 * many of these. */
static bool is_bare(int fd)
{
    DIR *stream = directory_open_stream(fd, ".");
    const struct dirent *entry;
    bool found = !stream;

    while (!found && (entry = readdir(stream)))
        found = !text_is_dots(entry->d_name) && strcmp(entry->d_name, SCRIPT_NAME) != 0;
    if (stream)
        closedir(stream);
    return !found;
}

static bool workplace_sweep_is_expired(const struct workplace *workplace, int fd)
{
    struct timespec now;
    struct stat status;
    double age;

    clock_gettime(CLOCK_REALTIME, &now);
    if (fstat(fd, &status) < 0)
        return false;
    age = difftime(now.tv_sec, status.st_mtim.tv_sec);
    if (age < -TOLERATED_SECONDS)
        (void)futimens(fd, NULL); /* from now on it ages as others do */
    return age >= workplace->keep_seconds || (age >= BARE_SECONDS && is_bare(fd));
}

/* Moves an old working directory that nobody has locked to the trash. */
static void consider_directory(struct workplace *workplace, int folder, const char *name)
{
    AUTO_CLOSE int fd = directory_open_forced(folder, name);

    if (fd < 0 || flock(fd, LOCK_EX | LOCK_NB) < 0 || !workplace_sweep_is_expired(workplace, fd))
        return;
    if (sweep_discard(workplace, folder, name) == 0) /* else with the next sweep */
        sweep_forget_annex(workplace, name);
}

/* Moves the private directory of a server that has ended to the trash. */
static void consider_private(struct workplace *workplace, const char *name)
{
    AUTO_CLOSE int fd = directory_open_forced(workplace->root_fd, name);

    if (fd >= 0 && flock(fd, LOCK_EX | LOCK_NB) == 0)
        (void)sweep_discard(workplace, workplace->root_fd, name);
}

static void look_into_principal(struct workplace *workplace)
{
    struct sweep *sweep = &workplace->sweep;
    const struct dirent *entry = readdir(sweep->principal);

    if (!entry) {
        closedir(sweep->principal);
        sweep->principal = NULL;
        return;
    }
    if (entry->d_name[0] == '.')
        return;
    disk_ledger_see(&workplace->ledger, entry->d_name);
    consider_directory(workplace, dirfd(sweep->principal), entry->d_name);
}

/* Goes on to remove what is in the trash, unless another server is doing that. */
static void workplace_sweep_begin_removal(struct workplace *workplace)
{
    struct sweep *sweep = &workplace->sweep;
    AUTO_CLOSE int trash = open_trash(workplace);

    if (trash < 0 || flock(trash, LOCK_EX | LOCK_NB) < 0)
        return;
    workplace_sweep_set_state(sweep, SWEEP_REMOVING);
    sweep->trash = STEAL_FD(trash);
    sweep->removal_ends = ev_now(workplace->loop) + REMOVAL_SECONDS;
    directory_removal_init(&sweep->removal, sweep->trash);
}

static void end_removal(struct sweep *sweep)
{
    directory_removal_deinit(&sweep->removal);
    close(sweep->trash);
    sweep->trash = -1;
    workplace_sweep_set_state(sweep, SWEEP_WAITING);
}

static void end_look(struct workplace *workplace)
{
    closedir(workplace->sweep.root);
    workplace->sweep.root = NULL;
    disk_ledger_end_look(&workplace->ledger);
    workplace_sweep_begin_removal(workplace);
    if (workplace->sweep.state == SWEEP_LOOKING)
        workplace_sweep_set_state(&workplace->sweep, SWEEP_WAITING);
}

static void look_into_root(struct workplace *workplace)
{
    struct sweep *sweep = &workplace->sweep;
    const struct dirent *entry = readdir(sweep->root);

    if (!entry) {
        end_look(workplace);
        return;
    }
    if (text_starts_with(entry->d_name, PRINCIPAL_PREFIX)) {
        (void)unlinkat(workplace->root_fd, entry->d_name, AT_REMOVEDIR); /* an empty one */
        sweep->principal = directory_open_stream(workplace->root_fd, entry->d_name);
    } else if (text_starts_with(entry->d_name, PRIVATE_PREFIX)) {
        consider_private(workplace, entry->d_name);
    } else {
        trial_file_sweep(workplace->root_fd, entry->d_name);
    }
}

/* Its files are the operator's, but for one kind. */
static void workplace_sweep_look_into_configured(struct sweep *sweep)
{
    const struct dirent *entry = readdir(sweep->configured);

    if (entry) {
        trial_file_sweep(dirfd(sweep->configured), entry->d_name);
        return;
    }
    closedir(sweep->configured);
    sweep->configured = NULL;
}

/* NULL: there is none. */
static DIR *workplace_sweep_open_configured(const struct workplace *workplace)
{
    struct error ignored = ERROR_INIT;
    AUTO_CLOSE int fd = -1;
    DIR *stream;

    if (!workplace->path || workplace->is_lent)
        return NULL;
    fd = untrusted_open_directory(AT_FDCWD, workplace->path, &ignored);
    stream = fd >= 0 ? fdopendir(fd) : NULL;
    if (stream)
        STEAL_FD(fd);
    return stream;
}

static void workplace_sweep_begin_look(struct workplace *workplace)
{
    struct sweep *sweep = &workplace->sweep;

    sweep->root = directory_open_stream(workplace->root_fd, ".");
    if (!sweep->root)
        return;
    sweep->configured = workplace_sweep_open_configured(workplace);
    disk_ledger_begin_look(&workplace->ledger);
    workplace_sweep_set_state(sweep, SWEEP_LOOKING);
}

static void workplace_sweep_look(struct workplace *workplace)
{
    struct sweep *sweep = &workplace->sweep;

    for (int i = 0; i < STEP_ENTRIES && sweep->state == SWEEP_LOOKING; i++) {
        if (sweep->configured)
            workplace_sweep_look_into_configured(sweep);
        else if (sweep->principal)
            look_into_principal(workplace);
        else
            look_into_root(workplace);
    }
}

static void workplace_sweep_remove_some(struct workplace *workplace)
{
    struct sweep *sweep = &workplace->sweep;

    if (!directory_removal_step(&sweep->removal, STEP_OPERATIONS) ||
        ev_now(workplace->loop) >= sweep->removal_ends)
        end_removal(sweep);
}

static void workplace_sweep_on_timer(struct ev_loop *loop, ev_timer *timer, int events)
{
    struct workplace *workplace =
        CONTAINER_OF(CONTAINER_OF(timer, struct sweep, timer), struct workplace, sweep);
    struct sweep *sweep = &workplace->sweep;

    (void)loop;
    (void)events;
    switch (sweep->state) {
    case SWEEP_WAITING:
        workplace_sweep_begin_look(workplace);
        break;
    case SWEEP_LOOKING:
        workplace_sweep_look(workplace);
        break;
    case SWEEP_REMOVING:
        workplace_sweep_remove_some(workplace);
        break;
    }
    workplace_sweep_schedule(workplace,
                             sweep->state == SWEEP_WAITING ? SWEEP_PAUSE_SECONDS : STEP_SECONDS);
}

void sweep_init(struct workplace *workplace)
{
    workplace->sweep = (struct sweep){.trash = -1};
    ev_timer_init(&workplace->sweep.timer, workplace_sweep_on_timer, 0, SWEEP_PAUSE_SECONDS);
}

void sweep_start(struct workplace *workplace)
{
    workplace_sweep_schedule(workplace, STEP_SECONDS);
}

void sweep_hurry(struct workplace *workplace)
{
    workplace_sweep_schedule(workplace, STEP_SECONDS);
}

static void stop_timer(struct workplace *workplace)
{
    if (!ev_is_active(&workplace->sweep.timer))
        return;
    ev_ref(workplace->loop);
    ev_timer_stop(workplace->loop, &workplace->sweep.timer);
}

static void close_streams(struct sweep *sweep)
{
    if (sweep->configured)
        closedir(sweep->configured);
    if (sweep->principal)
        closedir(sweep->principal);
    if (sweep->root)
        closedir(sweep->root);
    sweep->configured = NULL;
    sweep->principal = NULL;
    sweep->root = NULL;
}

void sweep_stop(struct workplace *workplace)
{
    struct sweep *sweep = &workplace->sweep;
    double end = ev_time() + WORKPLACE_SWEEP_STOP_SECONDS;

    stop_timer(workplace);
    close_streams(sweep);
    if (workplace->root_fd >= 0 && sweep->state != SWEEP_REMOVING)
        workplace_sweep_begin_removal(workplace);
    while (sweep->state == SWEEP_REMOVING)
        if (!directory_removal_step(&sweep->removal, STEP_OPERATIONS) || ev_time() >= end)
            end_removal(sweep);
}
