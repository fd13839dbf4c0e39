/* How many CPUs this process and its descendants may use. A machine has often more: a container or
 * a service gets some of the CPUs (affinity), or some of their time (quota). */
#pragma once

/* More than 0; 1.5 stands for one CPU and half of another's time. */
double cpu_share(void);

/* The least quota of the cgroup in DIRECTORY and the cgroups above it, in CPUs; 0: there is none.
 */
double cpu_share_quota(const char *directory);
