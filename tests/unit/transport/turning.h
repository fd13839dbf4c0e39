/* Turns a loop until something is so, or too long. */
#pragma once

#include <ev.h>
#include <stdbool.h>
#include <sys/types.h>

enum { TURNING_PIECE = 4096 };

#define TURNING_SECONDS 60.0 /* generous: machines are busy */

/* Turns LOOP until CONDITION, an expression. */
#define TURN_UNTIL(LOOP, CONDITION)                                                                \
    do {                                                                                           \
        ev_tstamp turning_start_ = ev_time();                                                      \
        while (!(CONDITION)) {                                                                     \
            assert_true(ev_time() - turning_start_ < TURNING_SECONDS);                             \
            turn_once(LOOP);                                                                       \
        }                                                                                          \
    } while (0)

/* Sleeps in LOOP until something happens, at most a hundredth of a second. */
void turn_once(struct ev_loop *loop);

void turn_for(struct ev_loop *loop, double seconds);

/* Lets WATCHER fail, as the loop does when the kernel does not let it watch. */
void turn_with_failure(struct ev_loop *loop, struct ev_io *watcher);

/* Reads what FD has. TEXT, of SIZE bytes, holds the first *LENGTH of all bytes and a NUL; what does
 * not fit is dropped. False at the end of file or when the connection is reset. */
bool turning_read(int fd, char *text, size_t size, size_t *length);

/* Turns LOOP until the peer of FD has closed; what it sends meanwhile goes to TEXT, as above. */
void turn_until_closed(struct ev_loop *loop, int fd, char *text, size_t size);

/* Turns LOOP until WANTED, and nothing else, has come in from FD. */
void turn_until_received(struct ev_loop *loop, int fd, const char *wanted);
