/* How many CPUs this process and what it starts may use. A machine has often more: a container or a
 * service gets some of them (affinity), or some of their time (quota). */
#pragma once

/* At least a part of one; 1.5 is one and half of another's time. */
double cpu_share(void);

/* The least quota of the cgroup in DIRECTORY and those above it, in CPUs; 0: there is none. */
double cpu_share_quota(const char *directory);
