/* Where Python's objects lie: side by side, so that large pages can hold them (large_pages.h). A
 * Python without its global lock has another allocator. */
#pragma once

/* Before Python starts. */
void arenas_begin(void);

/* In a copy: what it has beyond the zygote's lies where Python would have put it. */
void arenas_reserve_no_more(void);
