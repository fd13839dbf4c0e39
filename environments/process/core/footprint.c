#include "environments/process/core/footprint.h"

#include "environments/process/core/mappings.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

enum {
    FOOTPRINT_SECONDS = 1,      /* until a copy that shows it must have ended */
    FOOTPRINT_MOST = 8 << 20,   /* bytes; to copy more takes longer than calls are apart */
    FOOTPRINT_AROUND = 1 << 16, /* fault_around_bytes, unless somebody has changed it */
    POPULATE_READ = 22,         /* of madvise(2) since Linux 5.14; elsewhere it does nothing */
    POPULATE_WRITE = 23,
};

int __cxa_atexit(void (*function)(void *), void *argument, void *library); /* glibc's */

static struct mappings footprint;
static struct mappings footprint_mappings;
static struct mappings *footprint_told; /* in the copy that shows it: shared with the zygote */

/* What the copy has changed is its own now. Of what it cannot change it has nothing that it has not
 * looked at, since a copy begins without. */
static bool footprint_has(uint64_t page, bool is_changed)
{
    return mappings_is_present(page) && (!is_changed || mappings_is_own(page));
}

/* Of a file the kernel maps what lies around a page that is asked for, within its mapping. */
static bool footprint_comes_along(const struct mapping *last, uintptr_t at,
                                  const struct mapping *mapping)
{
    return !mapping->is_changed && last->begin >= mapping->begin &&
           last->begin / FOOTPRINT_AROUND == at / FOOTPRINT_AROUND;
}

static void footprint_tell_page(uintptr_t at, uintptr_t size, const struct mapping *mapping)
{
    struct mappings *to = footprint_told;
    struct mapping *last = to->count > 0 ? &to->list[to->count - 1] : NULL;

    if (last && footprint_comes_along(last, at, mapping))
        return;
    if (last && last->end == at && last->is_changed && mapping->is_changed)
        last->end += size;
    else
        mappings_add(to, at, at + size, mapping->is_changed);
}

static void footprint_tell_mapping(int pages, const struct mapping *mapping)
{
    const uintptr_t size = mappings_page_bytes();
    uint64_t entries[MAPPINGS_BATCH];
    uintptr_t at = mapping->begin;

    while (at < mapping->end) {
        size_t count = mappings_read_pages(pages, at, MAPPINGS_BATCH, entries);

        if (count == 0)
            return;
        for (size_t i = 0; i < count && at < mapping->end; i++, at += size)
            if (footprint_has(entries[i], mapping->is_changed))
                footprint_tell_page(at, size, mapping);
    }
}

/* The copy is about to end, and all libraries have done what they do then. */
static void footprint_tell(void *nothing)
{
    int pages;

    (void)nothing;
    if (!footprint_told)
        return;
    pages = mappings_open_pages();
    for (size_t i = 0; pages >= 0 && i < footprint_mappings.count; i++)
        footprint_tell_mapping(pages, &footprint_mappings.list[i]);
}

static void footprint_watch(void (*show)(void), struct mappings *told)
{
    pid_t pid = fork();

    if (pid == 0) {
        footprint_told = told;
        alarm(FOOTPRINT_SECONDS);
        show();
        _exit(0);
    }
    if (pid > 0)
        (void)waitpid(pid, NULL, 0);
}

/* For no library: what is for ours comes before the others end. */
void footprint_begin(void)
{
    (void)__cxa_atexit(footprint_tell, NULL, NULL);
}

/* What is more than what waits may have is not kept. */
static void footprint_keep(const struct mappings *told)
{
    uintptr_t bytes = 0;

    for (size_t i = 0; i < told->count; i++)
        bytes += told->list[i].is_changed ? told->list[i].end - told->list[i].begin : 0;
    if (bytes <= FOOTPRINT_MOST)
        memcpy(&footprint, told, sizeof footprint);
}

/* What is shared goes before there is a script that could change it. */
void footprint_learn(void (*show)(void))
{
    struct mappings *told =
        mmap(NULL, sizeof *told, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);

    if (told == MAP_FAILED)
        return;
    mappings_list(&footprint_mappings);
    footprint_watch(show, told);
    footprint_keep(told);
    munmap(told, sizeof *told);
}

void footprint_take(void)
{
    for (size_t i = 0; i < footprint.count; i++) {
        const struct mapping *area = &footprint.list[i];

        (void)syscall(SYS_madvise, area->begin, area->end - area->begin,
                      area->is_changed ? POPULATE_WRITE : POPULATE_READ);
    }
}
