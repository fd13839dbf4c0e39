/* The networks of workers. To make one and to take it apart is a sixth of a call's processor time,
 * and few scripts use theirs: one that nobody has used goes to another worker.
 *
 * Unused means that the tree is gone, that no socket of it is left, wherever that has been sent to,
 * and that no packet has passed the loopback, which is all there is in it. Networks belong to the
 * user namespace of the zygote, so that no worker has a right over its own, and settings are
 * read-only in a sandbox; labels of IPv6, which outlive their socket, the filter refuses. What
 * remains are counters, and what a call has opened of /proc/net and sent to another that goes on.
 */
#pragma once

#include <stdbool.h>

/* In the zygote, which gets a network of its own to be in meanwhile. Without CAP_SYS_ADMIN and
 * CAP_NET_ADMIN in its user namespace none is kept. */
void networks_begin(void);

/* In the zygote, around the making of a supervisor: enters the network that it is to have. False
 * when it has to make one for itself. */
bool networks_enter(void);
void networks_leave(void);

/* In the supervisor: closes what is the zygote's alone; and, when its tree is empty, gives its
 * network back. */
void networks_forget_others(void);
void networks_give_back(void);

/* In the worker: nothing of them is left. */
void networks_forget(void);
