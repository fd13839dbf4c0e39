/* The /proc of a tree, where files of its processes can be written.
 *
 * The /proc of a tree is read-only, with two exceptions: a program in a root of its own that uses
 * devices, and a program that no sandbox holds. NVIDIA's library gives names to its threads in
 * /proc/self/task/TID/comm (since driver 570), and takes a refusal for a failure of the operating
 * system: CUDA does not start (error 304). The kernel writes only the names of threads of the
 * process that asks for it.
 *
 * A mount cannot make writable what begins to exist later, such as the file of a thread. So all
 * files of processes are writable, and each file of the kernel beside them is read-only. The
 * program must not be the kernel's uid 0, which would own the files of the kernel that appear
 * later, and those of its network, which lie among the files of processes. */
#pragma once

#include <stdbool.h>

struct program;

/* True when our user owns the files of the kernel. */
bool proc_is_owned(void);

/* True when PROGRAM, in a tree that has LAYERS, writes files of its processes. */
bool proc_is_written(unsigned layers, const struct program *program);

/* Makes files of processes writable in /proc, a read-only mount that belongs to this tree alone.
 * -1 with errno set. */
int proc_open_processes(void);
