#include "environments/process/core/footprint.h"

#include <fcntl.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

enum {
    FOOTPRINT_AREAS = 1024,
    FOOTPRINT_SECONDS = 1, /* until a copy that shows it must have ended */
    FOOTPRINT_BATCH = 512,
    FOOTPRINT_MOST = 3 << 20,    /* bytes; to copy more takes longer than calls are apart */
    FOOTPRINT_LARGE = 2 << 20,   /* a page of one entry in place of 512 */
    FOOTPRINT_AROUND = 1 << 16,  /* fault_around_bytes, unless somebody has changed it */
    FOOTPRINT_LARGEST = 1 << 28, /* what is larger has been reserved, and is hardly used */
    POPULATE_READ = 22,          /* of madvise(2) since Linux 5.14; elsewhere it does nothing */
    POPULATE_WRITE = 23,
    COLLAPSE = 25, /* likewise since Linux 6.1 */
};

/* Of /proc/self/pagemap (proc(5)). */
static const uint64_t page_is_present = UINT64_C(1) << 63;
static const uint64_t page_is_of_file = UINT64_C(1) << 61;
static const uint64_t page_is_own = UINT64_C(1) << 56;

struct footprint_area {
    uintptr_t begin;
    uintptr_t end;
    bool is_changed; /* or, of mappings, can be */
};

struct footprint {
    struct footprint_area areas[FOOTPRINT_AREAS];
    size_t count;
};

int __cxa_atexit(void (*function)(void *), void *argument, void *library); /* glibc's */

static struct footprint footprint;
static struct footprint footprint_mappings;
static struct footprint *footprint_told; /* in the copy that shows it: shared with the zygote */

static void footprint_add(struct footprint *to, uintptr_t begin, uintptr_t end, bool is_changed)
{
    if (to->count < FOOTPRINT_AREAS)
        to->areas[to->count++] = (struct footprint_area){begin, end, is_changed};
}

/* Those that a copy has, too, and that it does not share. */
static void footprint_list_mappings(void)
{
    FILE *maps = fopen("/proc/self/maps", "re");
    char *line = NULL;
    size_t size = 0;

    footprint_mappings.count = 0;
    while (maps && getline(&line, &size, maps) > 0) {
        unsigned long begin;
        unsigned long end;
        char rights[5];

        if (sscanf(line, "%lx-%lx %4s", &begin, &end, rights) == 3 && rights[3] == 'p' &&
            end - begin <= FOOTPRINT_LARGEST)
            footprint_add(&footprint_mappings, begin, end, rights[1] == 'w');
    }
    free(line);
    if (maps)
        fclose(maps);
}

/* What the copy has changed is its own now. Of what it cannot change it has nothing that it has not
 * looked at, since a copy begins without. */
static bool footprint_has(uint64_t page, bool is_changed)
{
    return page & page_is_present &&
           (!is_changed || (page & page_is_own && !(page & page_is_of_file)));
}

/* Of a file the kernel maps what lies around a page that is asked for, within its mapping. */
static bool footprint_comes_along(const struct footprint_area *last, uintptr_t at,
                                  const struct footprint_area *mapping)
{
    return !mapping->is_changed && last->begin >= mapping->begin &&
           last->begin / FOOTPRINT_AROUND == at / FOOTPRINT_AROUND;
}

static void footprint_tell_page(uintptr_t at, uintptr_t size, const struct footprint_area *mapping)
{
    struct footprint *to = footprint_told;
    struct footprint_area *last = to->count > 0 ? &to->areas[to->count - 1] : NULL;

    if (last && footprint_comes_along(last, at, mapping))
        return;
    if (last && last->end == at && last->is_changed && mapping->is_changed)
        last->end += size;
    else
        footprint_add(to, at, at + size, mapping->is_changed);
}

static void footprint_tell_mapping(int pagemap, const struct footprint_area *mapping)
{
    const uintptr_t size = (uintptr_t)sysconf(_SC_PAGESIZE);
    uint64_t pages[FOOTPRINT_BATCH];
    uintptr_t at = mapping->begin;

    while (at < mapping->end) {
        ssize_t length = pread(pagemap, pages, sizeof pages, (off_t)(at / size * sizeof *pages));

        if (length < (ssize_t)sizeof *pages)
            return;
        for (size_t i = 0; i < (size_t)length / sizeof *pages && at < mapping->end; i++, at += size)
            if (footprint_has(pages[i], mapping->is_changed))
                footprint_tell_page(at, size, mapping);
    }
}

/* The copy is about to end, and all libraries have done what they do then. */
static void footprint_tell(void *nothing)
{
    int pagemap;

    (void)nothing;
    if (!footprint_told)
        return;
    pagemap = open("/proc/self/pagemap", O_RDONLY | O_CLOEXEC);
    for (size_t i = 0; pagemap >= 0 && i < footprint_mappings.count; i++)
        footprint_tell_mapping(pagemap, &footprint_mappings.areas[i]);
}

/* How many of the COUNT pages from AT are there. */
static size_t footprint_count_present(int pagemap, uintptr_t at, size_t count)
{
    const uintptr_t size = (uintptr_t)sysconf(_SC_PAGESIZE);
    uint64_t pages[FOOTPRINT_BATCH];
    size_t present = 0;
    ssize_t length =
        pread(pagemap, pages, count * sizeof *pages, (off_t)(at / size * sizeof *pages));

    for (ssize_t i = 0; i < length / (ssize_t)sizeof *pages; i++)
        present += (pages[i] & page_is_present) != 0;
    return present;
}

/* What is half empty stays as it is. */
static void footprint_enlarge_mapping(int pagemap, const struct footprint_area *mapping)
{
    const size_t count = FOOTPRINT_LARGE / (size_t)sysconf(_SC_PAGESIZE);
    uintptr_t at = (mapping->begin + FOOTPRINT_LARGE - 1) & ~(uintptr_t)(FOOTPRINT_LARGE - 1);

    for (; at + FOOTPRINT_LARGE <= mapping->end; at += FOOTPRINT_LARGE)
        if (count <= FOOTPRINT_BATCH && footprint_count_present(pagemap, at, count) > count / 2)
            (void)syscall(SYS_madvise, at, (size_t)FOOTPRINT_LARGE, COLLAPSE);
}

/* To copy one large page, and to take it apart, costs a copy hardly more than a small one. */
static void footprint_enlarge_pages(void)
{
    int pagemap = open("/proc/self/pagemap", O_RDONLY | O_CLOEXEC);

    for (size_t i = 0; pagemap >= 0 && i < footprint_mappings.count; i++)
        if (footprint_mappings.areas[i].is_changed)
            footprint_enlarge_mapping(pagemap, &footprint_mappings.areas[i]);
    if (pagemap >= 0)
        close(pagemap);
}

static void footprint_watch(void (*show)(void), struct footprint *told)
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

/* False when it is more than what waits may have. */
static bool footprint_keep(const struct footprint *told)
{
    uintptr_t bytes = 0;

    for (size_t i = 0; i < told->count; i++)
        bytes += told->areas[i].is_changed ? told->areas[i].end - told->areas[i].begin : 0;
    footprint.count = 0;
    if (bytes > FOOTPRINT_MOST)
        return false;
    memcpy(&footprint, told, sizeof footprint);
    return true;
}

/* What is shared goes before there is a script that could change it. */
bool footprint_learn(void (*show)(void))
{
    struct footprint *told =
        mmap(NULL, sizeof *told, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    bool ret;

    if (told == MAP_FAILED)
        return true;
    footprint_list_mappings();
    footprint_enlarge_pages();
    footprint_watch(show, told);
    ret = footprint_keep(told);
    munmap(told, sizeof *told);
    return ret;
}

void footprint_take(void)
{
    for (size_t i = 0; i < footprint.count; i++) {
        const struct footprint_area *area = &footprint.areas[i];

        (void)syscall(SYS_madvise, area->begin, area->end - area->begin,
                      area->is_changed ? POPULATE_WRITE : POPULATE_READ);
    }
}
