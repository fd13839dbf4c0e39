#include "base/clock.h"
#include "environments/engine/init/init.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <time.h>
#include <unistd.h>

#define INIT_WORDS_PATIENCE_SECONDS 1. /* behind the deadline */

enum { INIT_WORDS_POLL_MILLISECONDS = 100 };

/* The program may have set FD, which it shared, to anything. The pipe may be full, its reader slow
 * or gone. */
void words_say(int fd, const struct last_words *words, const char *nonce, double deadline)
{
    const struct timespec pause = {.tv_nsec = 2000000};
    char bytes[LAST_WORDS_BYTES];
    size_t done = 0;
    int flags = fcntl(fd, F_GETFL);

    (void)fcntl(fd, F_SETFL, flags | O_NONBLOCK);
    last_words_encode(words, nonce, bytes);
    while (done < sizeof bytes) {
        ssize_t count = write(fd, bytes + done, sizeof bytes - done);

        if (count >= 0)
            done += (size_t)count;
        else if (errno != EAGAIN || clock_seconds() > deadline + INIT_WORDS_PATIENCE_SECONDS)
            return;
        else
            nanosleep(&pause, NULL);
    }
}

/* A pipe that is ready takes the words at once. If another process has filled it meanwhile, the
 * write waits. */
void words_say_between(int fd, const struct last_words *words, const char *nonce, double deadline)
{
    char bytes[LAST_WORDS_BYTES];
    size_t done = 0;

    last_words_encode(words, nonce, bytes);
    while (done < sizeof bytes && clock_seconds() < deadline) {
        struct pollfd ready = {.fd = fd, .events = POLLOUT};
        ssize_t count = 0;

        if (poll(&ready, 1, INIT_WORDS_POLL_MILLISECONDS) != 0)
            count = write(fd, bytes + done, sizeof bytes - done);
        if (count > 0)
            done += (size_t)count;
        else if (count < 0 && errno != EAGAIN)
            return;
    }
}
