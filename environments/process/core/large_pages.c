#include "environments/process/core/large_pages.h"

#include "environments/process/core/mappings.h"

#include <sys/syscall.h>
#include <unistd.h>

enum {
    LARGE_PAGES_BYTES = 2 << 20,
    LARGE_PAGES_SMALL = 4096,
    LARGE_PAGES_COUNT = LARGE_PAGES_BYTES / LARGE_PAGES_SMALL,
    LARGE_PAGES_COLLAPSE = 25, /* of madvise(2), since Linux 6.1 */
};

static size_t large_pages_count_present(int pages, uintptr_t at)
{
    uint64_t entries[LARGE_PAGES_COUNT];
    size_t known = mappings_read_pages(pages, at, LARGE_PAGES_COUNT, entries);
    size_t present = 0;

    for (size_t i = 0; i < known; i++)
        present += mappings_is_present(entries[i]);
    return present;
}

/* What is half empty stays as it is. */
static void large_pages_make_in(int pages, const struct mapping *mapping)
{
    const uintptr_t size = LARGE_PAGES_BYTES;
    uintptr_t at = (mapping->begin + size - 1) & ~(size - 1);

    for (; at + size <= mapping->end; at += size)
        if (large_pages_count_present(pages, at) > LARGE_PAGES_COUNT / 2)
            (void)syscall(SYS_madvise, at, size, LARGE_PAGES_COLLAPSE);
}

void large_pages_make(void)
{
    static struct mappings mappings;
    int pages = mappings_page_bytes() == LARGE_PAGES_SMALL ? mappings_open_pages() : -1;

    if (pages < 0)
        return;
    mappings_list(&mappings);
    for (size_t i = 0; i < mappings.count; i++)
        if (mappings.list[i].is_writable)
            large_pages_make_in(pages, &mappings.list[i]);
    close(pages);
}
