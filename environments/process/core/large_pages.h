/* The memory that copies share, in pages of 2 MiB: one entry of a page table in place of 512. To
 * copy a large page, and to unmap it, costs a copy hardly more than a small one. Before Linux 6.1,
 * and where pages are not of 4 KiB, there are none. Without them a warm call of 3.7 ms takes 0.3 ms
 * more, and one of 7.3 ms with imports 0.8 ms (tests/bench/core_parts.py build large_pages). */
#pragma once

#include <stddef.h>
#include <stdint.h>

/* SIZE bytes of memory of this process, which begin where a large page can. NULL: there are none.
 */
void *large_pages_map(size_t size);

/* In the zygote: makes large pages of memory that can be written, where more than half is in use,
 * and of the program or library that has the code at PLACE. Where a quarter of a large page is in
 * use, code and constants of the latter leave their file: a copy has them from its beginning,
 * without a fault for each page. */
void large_pages_make(uintptr_t place);
