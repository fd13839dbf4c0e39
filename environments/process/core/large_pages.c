#include "environments/process/core/large_pages.h"

#include "environments/process/core/mappings.h"

#include <stdbool.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

enum {
    LARGE_PAGES_BYTES = 2 << 20,
    LARGE_PAGES_SMALL = 4096,
    LARGE_PAGES_COUNT = LARGE_PAGES_BYTES / LARGE_PAGES_SMALL,
    LARGE_PAGES_COLLAPSE = 25, /* of madvise(2), since Linux 6.1 */
};

typedef bool large_pages_test(uint64_t page);

static uintptr_t large_pages_align(uintptr_t place)
{
    const uintptr_t size = LARGE_PAGES_BYTES;

    return (place + size - 1) & ~(size - 1);
}

/* Counts the pages that pass the test IS_SUCH among the small pages of one large page, from AT. */
static size_t large_pages_count(int pages, uintptr_t at, large_pages_test *is_such)
{
    uint64_t entries[LARGE_PAGES_COUNT];
    size_t known = mappings_read_pages(pages, at, LARGE_PAGES_COUNT, entries);
    size_t count = 0;

    for (size_t i = 0; i < known; i++)
        count += is_such(entries[i]);
    return count;
}

static bool large_pages_collapse(uintptr_t at)
{
    return syscall(SYS_madvise, at, (size_t)LARGE_PAGES_BYTES, LARGE_PAGES_COLLAPSE) == 0;
}

void *large_pages_map(size_t size)
{
    char *memory = mmap(NULL, size + LARGE_PAGES_BYTES, PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    size_t before;

    if (memory == MAP_FAILED)
        return NULL;
    before = large_pages_align((uintptr_t)memory) - (uintptr_t)memory;
    if (before > 0)
        munmap(memory, before);
    munmap(memory + before + size, LARGE_PAGES_BYTES - before);
    return memory + before;
}

/* Small pages stay where a large one would be half empty. */
static void large_pages_make_in(int pages, const struct mapping *mapping)
{
    uintptr_t at = large_pages_align(mapping->begin);

    for (; at + LARGE_PAGES_BYTES <= mapping->end; at += LARGE_PAGES_BYTES)
        if (large_pages_count(pages, at, mappings_is_present) > LARGE_PAGES_COUNT / 2)
            (void)large_pages_collapse(at);
}

/* The copy replaces the original pages in one step. Constants become executable with the code
 * beside them, as linkers used to lay them out. */
static void large_pages_replace(uintptr_t at)
{
    const size_t size = LARGE_PAGES_BYTES;
    void *copy = large_pages_map(size);

    if (copy && (!mappings_copy(at, size, copy) || !large_pages_collapse((uintptr_t)copy) ||
                 mprotect(copy, size, PROT_READ | PROT_EXEC) < 0 ||
                 syscall(SYS_mremap, copy, size, size, MREMAP_MAYMOVE | MREMAP_FIXED, at) < 0))
        munmap(copy, size);
}

/* The memory around PLACE that cannot be written and has no gap. */
static struct mapping large_pages_find(const struct mappings *mappings, uintptr_t place)
{
    struct mapping found = {0, 0, false};

    for (size_t i = 0; i < mappings->count; i++) {
        const struct mapping *next = &mappings->list[i];
        const bool goes_on = !next->is_writable && next->begin == found.end;

        if (found.end > place && !goes_on)
            break;
        if (!goes_on)
            found.begin = next->begin;
        found.end = next->is_writable ? next->begin : next->end;
    }
    return found;
}

static void large_pages_make_of_code(int pages, const struct mapping *code)
{
    uintptr_t at = large_pages_align(code->begin);

    for (; at + LARGE_PAGES_BYTES <= code->end; at += LARGE_PAGES_BYTES)
        if (large_pages_count(pages, at, mappings_is_of_file) > LARGE_PAGES_COUNT / 4)
            large_pages_replace(at);
}

void large_pages_make(uintptr_t place)
{
    static struct mappings mappings;
    int pages = mappings_page_bytes() == LARGE_PAGES_SMALL ? mappings_open_pages() : -1;
    struct mapping code;

    if (pages < 0)
        return;
    mappings_list(&mappings);
    code = large_pages_find(&mappings, place);
    for (size_t i = 0; i < mappings.count; i++)
        if (mappings.list[i].is_writable)
            large_pages_make_in(pages, &mappings.list[i]);
    large_pages_make_of_code(pages, &code);
    close(pages);
}
