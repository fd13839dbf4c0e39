/* The memory of this process that it can read and does not share. A copy has it, too: proc(5),
 * "maps" and "pagemap". */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { MAPPINGS_MOST = 4096 };

struct mapping {
    uintptr_t begin;
    uintptr_t end;
    bool is_writable;
};

struct mappings {
    struct mapping list[MAPPINGS_MOST];
    size_t count;
};

/* Mappings beyond MAPPINGS_MOST are dropped. */
void mappings_add(struct mappings *mappings, uintptr_t begin, uintptr_t end, bool is_writable);
void mappings_list(struct mappings *ret);

/* How many mappings this process shares with others and can write. */
size_t mappings_count_shared(void);

size_t mappings_page_bytes(void);

/* Returns a descriptor, or -1. */
int mappings_open_pages(void);

/* Reads the entries of pagemap for COUNT pages from AT into RET, which has room for them. Returns
 * how many it has read; 0 at an error. */
size_t mappings_read_pages(int pages, uintptr_t at, size_t count, uint64_t *ret);

/* Copies SIZE bytes of memory at AT to RET. If a file has become shorter than its mapping, it
 * returns false, and no signal comes. */
bool mappings_copy(uintptr_t at, size_t size, void *ret);

bool mappings_is_present(uint64_t page);

bool mappings_is_of_file(uint64_t page);

/* Mapped by this process only, and not from a file. */
bool mappings_is_own(uint64_t page);
