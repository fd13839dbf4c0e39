#include "environments/docker/end.h"

#include <signal.h>
#include <stdio.h>
#include <string.h>

enum { EXIT_SIGNAL = 128 };

struct process_receipt docker_receipt(const json_t *missing)
{
    return (struct process_receipt){
        .layers = LAYER_CONTAINER, .limiter = LIMITER_CONTAINER, .missing = missing};
}

static void take_words(struct process_end *end, const struct docker_observation *seen,
                       const struct last_words *words, const char *python)
{
    if (words->failure)
        snprintf(end->failure, sizeof end->failure, "cannot execute %s in the container: %s",
                 python, strerror(words->failure));
    end->returncode = process_returncode(words->status);
    end->survivors = words->flags & LAST_WORDS_SURVIVORS;
    end->out_of_memory = end->out_of_memory || words->flags & LAST_WORDS_OUT_OF_MEMORY;
    end->out_of_disk = words->flags & LAST_WORDS_OUT_OF_DISK;
    end->leftovers = words->leftovers;
    end->cpu_seconds = words->cpu_seconds;
    end->peak_memory = words->peak_bytes;
    end->run_seconds = words->run_seconds;
    end->start_seconds =
        seen->seconds > words->run_seconds ? seen->seconds - words->run_seconds : 0;
}

/* The init was killed before its last words: by us, by somebody else, or for want of memory. */
static void docker_end_guess(struct process_end *end, const struct docker_observation *seen)
{
    end->run_seconds = seen->seconds;
    end->returncode = -SIGKILL;
    if (seen->killed)
        return;
    if (seen->exit_code > EXIT_SIGNAL && seen->exit_code < EXIT_SIGNAL + _NSIG) {
        end->returncode = EXIT_SIGNAL - seen->exit_code;
        return;
    }
    snprintf(end->failure, sizeof end->failure,
             "the container ended without saying what became of the script (exit code %d)",
             seen->exit_code);
}

struct process_end docker_end(const struct docker_observation *seen, const struct last_words *words,
                              const char *python)
{
    struct process_end end = {.receipt = docker_receipt(seen->missing),
                              .out_of_memory = seen->out_of_memory};

    if (words)
        take_words(&end, seen, words, python);
    else if (*seen->failure)
        snprintf(end.failure, sizeof end.failure, "%s", seen->failure);
    else
        docker_end_guess(&end, seen);
    return end;
}
