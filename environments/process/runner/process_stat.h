/* A process as /proc/PID/stat has it (proc_pid_stat(5)). */
#pragma once

#include <stdbool.h>
#include <sys/types.h>

struct process_stat {
    char state;               /* 'Z': it can start nothing more; '\0': it is gone */
    bool is_exiting;          /* no code of it runs any more; its memory and files may be left */
    unsigned long long began; /* in ticks since the machine started */
};

struct process_stat process_stat_read(pid_t pid);
