/* The network of a tree's own. */
#pragma once

/* The network of this namespace gets its loopback. -1 with errno set. */
int network_prepare(void);

/* The proxy at the other end of OUTLET gets a listener in the network of this namespace. -1 with
 * errno set. */
int network_let_out(int outlet);
