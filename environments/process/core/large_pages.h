/* The memory that copies share, in pages of 2 MiB: one entry of a page table in place of 512. To
 * copy one, and to take it apart, costs a copy hardly more than a small one. Before Linux 6.1, and
 * where pages are not of 4 KiB, there are none. */
#pragma once

#include <stddef.h>
#include <stdint.h>

/* SIZE bytes of memory of this process, which begin where a large page can. NULL: there are none.
 */
void *large_pages_map(size_t size);

/* In the zygote: makes one of all that can be written and is more than half full, and of the
 * program or library that has the code at PLACE. That leaves its file, so far as it cannot be
 * written, where a quarter of a large page is in use: a copy has it from its beginning, and asks
 * for none of it page by page. */
void large_pages_make(uintptr_t place);
