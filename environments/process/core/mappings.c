#include "environments/process/core/mappings.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum { MAPPINGS_LARGEST = 1 << 28 }; /* bytes; most of a larger mapping has only been reserved */

/* Of /proc/self/pagemap (proc(5)). */
static const uint64_t page_is_present = UINT64_C(1) << 63;
static const uint64_t page_is_of_file = UINT64_C(1) << 61;
static const uint64_t page_is_own = UINT64_C(1) << 56;

void mappings_add(struct mappings *mappings, uintptr_t begin, uintptr_t end, bool is_writable)
{
    if (mappings->count < MAPPINGS_MOST)
        mappings->list[mappings->count++] = (struct mapping){begin, end, is_writable};
}

void mappings_list(struct mappings *ret)
{
    FILE *maps = fopen("/proc/self/maps", "re");
    char *line = NULL;
    size_t size = 0;

    ret->count = 0;
    while (maps && getline(&line, &size, maps) > 0) {
        unsigned long begin;
        unsigned long end;
        char rights[5];

        if (sscanf(line, "%lx-%lx %4s", &begin, &end, rights) == 3 && rights[0] == 'r' &&
            rights[3] == 'p' && end - begin <= MAPPINGS_LARGEST)
            mappings_add(ret, begin, end, rights[1] == 'w');
    }
    free(line);
    if (maps)
        fclose(maps);
}

size_t mappings_count_shared(void)
{
    FILE *maps = fopen("/proc/self/maps", "re");
    char *line = NULL;
    size_t size = 0;
    size_t count = 0;

    while (maps && getline(&line, &size, maps) > 0) {
        char rights[5];

        count += sscanf(line, "%*s %4s", rights) == 1 && rights[1] == 'w' && rights[3] == 's';
    }
    free(line);
    if (maps)
        fclose(maps);
    return count;
}

size_t mappings_page_bytes(void)
{
    return (size_t)sysconf(_SC_PAGESIZE);
}

int mappings_open_pages(void)
{
    return open("/proc/self/pagemap", O_RDONLY | O_CLOEXEC);
}

size_t mappings_read_pages(int pages, uintptr_t at, size_t count, uint64_t *ret)
{
    off_t place = (off_t)(at / mappings_page_bytes() * sizeof *ret);
    ssize_t length = pread(pages, ret, count * sizeof *ret, place);

    return length < 0 ? 0 : (size_t)length / sizeof *ret;
}

bool mappings_copy(uintptr_t at, size_t size, void *ret)
{
    int memory = open("/proc/self/mem", O_RDONLY | O_CLOEXEC);
    ssize_t length = memory < 0 ? -1 : pread(memory, ret, size, (off_t)at);

    if (memory >= 0)
        close(memory);
    return length == (ssize_t)size;
}

bool mappings_is_present(uint64_t page)
{
    return page & page_is_present;
}

bool mappings_is_of_file(uint64_t page)
{
    return page & page_is_of_file;
}

bool mappings_is_own(uint64_t page)
{
    return page & page_is_own && !(page & page_is_of_file);
}
