/* Where Python's objects lie: side by side, so that large pages can hold them (footprint.h). */
#pragma once

/* Before Python starts. */
void arenas_begin(void);
