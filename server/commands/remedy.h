/* Commands by which a person gives runs what they lack. */
#pragma once

/* The command that gives them their layers, or NULL where none is known. Owned by the caller. */
char *remedy_find(void);

/* The command that gives them cgroups, or NULL where none is known. Owned by the caller. */
char *remedy_find_cgroup(void);
