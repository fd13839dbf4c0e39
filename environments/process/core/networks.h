/* The networks of workers. Few scripts use theirs: an unused network goes to another worker.
 * Without that a server with four calls under way, on two processors, answers 17 % fewer of them:
 * threads of the kernel, which take the networks apart, need 0.8 ms more for a call, and its own
 * processes 0.5 ms, of 10 ms (the latter by tests/bench/core_parts.py build networks).
 *
 * A network is unused if the tree is gone, no socket of the network is left, not even one sent
 * elsewhere, and no packet has passed the loopback, its only interface. Networks belong to the user
 * namespace of the zygote, so that no worker has a right over its own, and settings are read-only
 * in a sandbox; labels of IPv6, which outlive their socket, the filter refuses. Counters remain,
 * and files of /proc/net that a call has opened and sent to another call that goes on. */
#pragma once

#include <stdbool.h>

/* In the zygote, which gets a network of its own. Without CAP_SYS_ADMIN and CAP_NET_ADMIN in its
 * user namespace none is kept. */
void networks_begin(void);

/* In the zygote, around the making of a supervisor: enters the network that the supervisor is to
 * have. False when the supervisor has to make a network for itself. */
bool networks_enter(void);
void networks_leave(void);

/* In the supervisor: the first closes the zygote's descriptors of networks; the second, when the
 * tree is empty, gives its network back. */
void networks_forget_others(void);
void networks_give_back(void);

/* In the worker: unmaps the memory shared with the zygote. */
void networks_forget(void);
