/* What libraries have to do when the process ends: atexit(3). The core's __cxa_atexit stands before
 * the C library's. */
#pragma once

/* From now on in this process and its copies: what would only free memory is not done. */
void exit_handlers_spare(void);
