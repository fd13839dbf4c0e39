/* Releases the objects of a scope on every way out of it, and hands over the objects that are kept.
 *
 * AUTO_FREE char *name; AUTO_CLOSE int fd = -1; AUTO(json_decrefp) json_t *tree = NULL; */
#pragma once

#include <stdlib.h>
#include <unistd.h>

#define AUTO(RELEASE) __attribute__((cleanup(RELEASE)))
#define AUTO_FREE     AUTO(cleanup_free)
#define AUTO_CLOSE    AUTO(cleanup_close)

#define STEAL_PTR(POINTER)                                                                         \
    ({                                                                                             \
        __typeof__(POINTER) stolen_ = (POINTER);                                                   \
        (POINTER) = NULL;                                                                          \
        stolen_;                                                                                   \
    })
#define STEAL_FD(FD)                                                                               \
    ({                                                                                             \
        int stolen_ = (FD);                                                                        \
        (FD) = -1;                                                                                 \
        stolen_;                                                                                   \
    })

static inline void cleanup_free(void *pointer)
{
    free(*(void **)pointer);
}

static inline void cleanup_close(int *fd)
{
    if (*fd >= 0)
        close(*fd);
}
