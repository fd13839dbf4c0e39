/* The memory that copies share, in pages of 2 MiB: one entry of a page table in place of 512. To
 * copy one, and to take it apart, costs a copy hardly more than a small one. */
#pragma once

/* In the zygote: makes one of all that is more than half full. Before Linux 6.1, and where pages
 * are not of 4 KiB, it does nothing. */
void large_pages_make(void);
