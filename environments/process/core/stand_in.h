/* The stand-in: a copy of the zygote that makes workers in its place while the zygote imports a
 * module. Without it a call would have to wait for an import that takes seconds. If the import ends
 * or spoils the zygote, the stand-in becomes the zygote.
 *
 * Both read orders from the same socket, but never at the same time. */
#pragma once

#include <stdbool.h>
#include <sys/types.h>

enum stand_in_result {
    STAND_IN_NONE,     /* none could be made */
    STAND_IN_SERVES,   /* we are the zygote */
    STAND_IN_SUCCEEDS, /* we are the stand-in, and the zygote has ended */
};

/* In the zygote: makes a stand-in, which runs SERVE with DATA until the zygote is back or gone. */
enum stand_in_result stand_in_begin(void (*serve)(const void *data), const void *data);

/* In the zygote: returns when the stand-in reads no more orders. */
void stand_in_end(void);

/* The process id of the latest stand-in, which nobody may have reaped yet; 0: none. */
pid_t stand_in_pid(void);

/* In the stand-in: waits for an order. False when the zygote is back or gone. */
bool stand_in_wait(int orders);
