/* Landlock, as far as it is used here: a domain that signals cannot leave (ABI 6, Linux 6.12).
 * It keeps a script from killing its supervisor and the server where there is no PID namespace. */
#pragma once

#include <stdbool.h>

/* True when the kernel can scope signals. */
bool landlock_can_scope_signals(void);

/* Puts the calling process, for good, into a domain whose signals stay inside. The process must
 * have no_new_privs. -1 with errno set. */
int landlock_scope_signals(void);
