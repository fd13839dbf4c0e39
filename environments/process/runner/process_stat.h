/* A process as /proc/PID/stat has it (proc_pid_stat(5)). */
#pragma once

#include <stdbool.h>
#include <sys/types.h>

struct process_stat {
    char state;   /* 'Z': it can start nothing more; '\0': it is gone, or could not be read */
    bool is_over; /* seen to run no code any more, in no thread, and to have left its memory. Its
                   * files may be open, and its children alive. */
    unsigned long long began; /* in ticks since the machine started */
};

struct process_stat process_stat_read(pid_t pid);
