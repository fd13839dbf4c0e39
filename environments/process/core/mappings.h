/* The memory of this process that a copy has, too, and that it does not share: proc(5), "maps" and
 * "pagemap". */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    MAPPINGS_MOST = 4096,
    MAPPINGS_BATCH = 512, /* pages that are looked at in one step */
};

struct mapping {
    uintptr_t begin;
    uintptr_t end;
    bool is_changed; /* or can be */
};

struct mappings {
    struct mapping list[MAPPINGS_MOST];
    size_t count;
};

/* What there are more is left out. */
void mappings_add(struct mappings *mappings, uintptr_t begin, uintptr_t end, bool is_changed);
void mappings_list(struct mappings *ret);

size_t mappings_page_bytes(void);

/* Returns a descriptor, or -1. */
int mappings_open_pages(void);

/* Of COUNT pages from AT, at most MAPPINGS_BATCH. Returns of how many, which is less at an error.
 */
size_t mappings_read_pages(int pages, uintptr_t at, size_t count, uint64_t *ret);

bool mappings_is_present(uint64_t page);

/* Nobody else has it, a file neither. */
bool mappings_is_own(uint64_t page);
