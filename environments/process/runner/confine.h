/* The confinement of a process that becomes a program: limits of resources, and capabilities. */
#pragma once

#include <stdint.h>
#include <sys/types.h>

struct process_limits;
struct program;
struct runner_preparation;

/* In the process that becomes a program, from here on. The first two write the reason of a failure
 * into the pipe FD, which closes on exec. */
_Noreturn void confine_fail(int fd, const char *text, const char *subject);
void confine_need(int fd, int result, const char *text, const char *subject);

/* Forks a child that becomes PROGRAM by BECOME, which does not return; FD is the pipe for the
 * reason of a failure. -1 with errno set; else *RET_FD is the other end. */
typedef void confine_become(const struct program *program,
                            const struct runner_preparation *preparation, int fd);
pid_t confine_fork(const struct program *program, const struct runner_preparation *preparation,
                   confine_become *become, int *ret_fd);

/* Limits the resources of this process, and the number of its processes, and sets its niceness. */
void confine_limits(int fd, const struct process_limits *limits, unsigned layers);

/* The same for a zygote, without what each of its workers has for itself: their processes would be
 * counted together. */
void confine_zygote_limits(int fd, const struct process_limits *limits);

/* Drops all capabilities except the set KEPT, a mask of the first 32. */
void confine_capabilities(int fd, uint32_t kept);
