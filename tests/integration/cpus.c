/* Preloaded into a program, makes it see as many CPUs as the variable SEEN_CPUS says. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <stdlib.h>
#include <sys/sysinfo.h>
#include <unistd.h>

int get_nprocs(void)
{
    const char *seen = getenv("SEEN_CPUS");

    return seen ? atoi(seen) : 1;
}

int get_nprocs_conf(void)
{
    return get_nprocs();
}

int sched_getaffinity(pid_t pid, size_t size, cpu_set_t *set)
{
    (void)pid;
    if (size * 8 < (size_t)get_nprocs()) {
        errno = EINVAL; /* then Python tries it with more */
        return -1;
    }
    CPU_ZERO_S(size, set);
    for (int i = 0; i < get_nprocs(); i++)
        CPU_SET_S((size_t)i, size, set);
    return 0;
}

int pthread_getaffinity_np(pthread_t thread, size_t size, cpu_set_t *set)
{
    (void)thread;
    return sched_getaffinity(0, size, set);
}

long sysconf(int name)
{
    long (*next)(int) = (long (*)(int))dlsym(RTLD_NEXT, "sysconf");

    return name == _SC_NPROCESSORS_CONF || name == _SC_NPROCESSORS_ONLN ? get_nprocs() : next(name);
}
