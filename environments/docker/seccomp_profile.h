/* Which system calls a container may make: seccomp.json, compiled into the program.
 *
 * It is a list of what is allowed, and narrower than the list of any engine: no way to look into
 * other processes (ptrace), no io_uring, keys, BPF, mounts or namespaces, and sockets of UNIX, IP
 * and of the kernel's routes only. */
#pragma once

/* The text. An engine takes it inline. */
extern const char seccomp_profile[];

/* The name of the same text as a file, beside pyexecd-init, for an engine that takes a path. */
#define SECCOMP_PROFILE_FILE "pyexecd-seccomp.json"
