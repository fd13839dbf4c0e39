#include "environments/process/core/footprint.h"

#include "base/clock.h"
#include "environments/process/core/mappings.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

enum {
    FOOTPRINT_SECONDS = 1, /* until a copy that shows it must have ended */
    FOOTPRINT_LOOK_MILLISECONDS = 1,
    FOOTPRINT_BATCH = 512,      /* pages that are looked at in one step */
    FOOTPRINT_MOST = 8 << 20,   /* bytes: with pandas, 5 MiB ahead take a third off a call */
    FOOTPRINT_AROUND = 1 << 16, /* fault_around_bytes, unless somebody has changed it */
    FOOTPRINT_READ = 22,        /* of madvise(2) since Linux 5.14; elsewhere it does nothing */
    FOOTPRINT_WRITE = 23,
};

/* Glibc's; in the core its own before that. */
int __cxa_atexit(void (*function)(void *), void *argument, void *library);

static struct {
    struct mappings known;
    struct mappings mappings;
    struct mappings *told; /* in the copy that shows it: shared with the zygote */
} footprint;

/* A page that the copy has changed is its own now. A page of a file that it cannot change is mapped
 * only if the copy has used it, since a copy begins without such pages. */
static bool footprint_has(uint64_t page, bool is_writable)
{
    return is_writable ? mappings_is_own(page) : mappings_is_of_file(page);
}

/* When a page of a file is used, the kernel also maps the pages around it, within its mapping. */
static bool footprint_comes_along(const struct mapping *last, uintptr_t at,
                                  const struct mapping *mapping)
{
    return !mapping->is_writable && last->begin >= mapping->begin &&
           last->begin / FOOTPRINT_AROUND == at / FOOTPRINT_AROUND;
}

static void footprint_tell_page(uintptr_t at, uintptr_t size, const struct mapping *mapping)
{
    struct mappings *to = footprint.told;
    struct mapping *last = to->count > 0 ? &to->list[to->count - 1] : NULL;

    if (last && footprint_comes_along(last, at, mapping))
        return;
    if (last && last->end == at && last->is_writable && mapping->is_writable)
        last->end += size;
    else
        mappings_add(to, at, at + size, mapping->is_writable);
}

static void footprint_tell_mapping(int pages, const struct mapping *mapping)
{
    const uintptr_t size = mappings_page_bytes();
    uint64_t entries[FOOTPRINT_BATCH];
    uintptr_t at = mapping->begin;

    while (at < mapping->end) {
        size_t count = mappings_read_pages(pages, at, FOOTPRINT_BATCH, entries);

        if (count == 0)
            return;
        for (size_t i = 0; i < count && at < mapping->end; i++, at += size)
            if (footprint_has(entries[i], mapping->is_writable))
                footprint_tell_page(at, size, mapping);
    }
}

/* The copy is about to end, and the functions of all libraries for the end have run. */
static void footprint_tell(void *nothing)
{
    int pages;

    (void)nothing;
    if (!footprint.told)
        return;
    pages = mappings_open_pages();
    for (size_t i = 0; pages >= 0 && i < footprint.mappings.count; i++)
        footprint_tell_mapping(pages, &footprint.mappings.list[i]);
}

/* A function of a library for the end may never return. */
static void footprint_await(pid_t pid)
{
    const double deadline = clock_seconds() + FOOTPRINT_SECONDS;
    pid_t ended;

    while ((ended = waitpid(pid, NULL, WNOHANG)) == 0 && clock_seconds() < deadline)
        (void)poll(NULL, 0, FOOTPRINT_LOOK_MILLISECONDS);
    if (ended == pid)
        return;
    (void)kill(pid, SIGKILL);
    while (waitpid(pid, NULL, 0) < 0 && errno == EINTR)
        ;
}

static void footprint_watch(void (*show)(void), struct mappings *told)
{
    pid_t pid = fork();

    if (pid == 0) {
        footprint.told = told;
        show();
        _exit(0);
    }
    if (pid > 0)
        footprint_await(pid);
}

/* The library is NULL: functions that are registered for our library would run before the other
 * libraries end. */
void footprint_begin(void)
{
    (void)__cxa_atexit(footprint_tell, NULL, NULL);
}

/* If the copy did not come to its end, its list is empty. If the list is too large to be had ahead,
 * or full, the earlier list stays. */
static void footprint_keep(const struct mappings *told)
{
    static struct mappings candidate;
    uintptr_t bytes = 0;

    memcpy(&candidate, told, sizeof candidate);
    if (candidate.count == 0 || candidate.count >= MAPPINGS_MOST)
        return;
    for (size_t i = 0; i < candidate.count; i++)
        if (candidate.list[i].is_writable)
            bytes += candidate.list[i].end - candidate.list[i].begin;
    if (bytes <= FOOTPRINT_MOST)
        footprint.known = candidate;
}

/* The shared list is unmapped before there is a script that could change it. */
void footprint_learn(void (*show)(void))
{
    struct mappings *told =
        mmap(NULL, sizeof *told, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);

    if (told == MAP_FAILED)
        return;
    mappings_list(&footprint.mappings);
    footprint_watch(show, told);
    footprint_keep(told);
    munmap(told, sizeof *told);
}

void footprint_take(void)
{
    for (size_t i = 0; i < footprint.known.count; i++) {
        const struct mapping *area = &footprint.known.list[i];

        (void)syscall(SYS_madvise, area->begin, area->end - area->begin,
                      area->is_writable ? FOOTPRINT_WRITE : FOOTPRINT_READ);
    }
}
