/* Where Python's objects lie: side by side, so that large pages can hold them (large_pages.h). A
 * Python without its global lock has another allocator. Without arenas of ours a warm call of 11.5
 * ms with imports takes 0.3 ms more (tests/bench/core_parts.py build arenas). */
#pragma once

/* Before Python starts. */
void arenas_begin(void);

/* In a copy: arenas beyond the zygote's lie where Python would have put them. */
void arenas_reserve_no_more(void);
