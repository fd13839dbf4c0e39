/* What copies share, in pages of one entry in place of 512: to copy one of them, and to take it
 * apart, costs a copy hardly more than a small one. */
#pragma once

/* In the zygote: puts all into them that fills them by half. Before Linux 6.1 it does nothing. */
void large_pages_make(void);
