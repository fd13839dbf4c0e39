/* An environment that takes its time to stop, when it is told so. */
#pragma once

#include "environments/environment.h"

struct slow_environment {
    struct environment environment;
    bool is_slow;
};

extern unsigned slow_alive;
extern unsigned slow_stopped;

struct environment *slow_environment_new(struct ev_loop *loop);
struct slow_environment *slow_of(const struct environment *environment);
