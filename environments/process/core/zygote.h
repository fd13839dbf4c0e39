/* The zygote's own part: it waits for orders, and makes a worker for each. */
#pragma once

#include "environments/process/control.h"

#include <stdbool.h>

/* True in a process that has been started as a zygote. */
bool zygote_is_here(void);

/* The functions of the program that is copied. */
struct zygote_hooks {
    void (*before)(void); /* before each copy */
    void (*after)(void);  /* after each copy, in the zygote */
    enum zygote_answer (*load)(const char *name, char ret_why[ZYGOTE_TEXT_BYTES]); /* a module */
    bool (*succeed)(void); /* in a stand-in that is to be the zygote; false when it cannot */
    /* Makes later copies quicker, when no order has come for a moment; true when nothing is left to
     * learn. Takes about a second at most. */
    bool (*learn)(void);
    void (*prepare)(void);    /* in a worker, before it waits for its code */
    void (*begin)(int tools); /* in the worker, when its code is there; see struct worker_job */
};

/* In a zygote that must not make workers: reports WHY and ends. */
_Noreturn void zygote_refuse(const char *why);

/* In a zygote: does not return. */
void zygote_serve(const struct zygote_hooks *hooks);
