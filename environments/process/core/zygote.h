/* The zygote's own part: it waits for orders, and makes a worker for each. */
#pragma once

#include "environments/process/control.h"

#include <stdbool.h>

/* True in a process that has been started as a zygote. */
bool zygote_is_here(void);

/* What the program that is copied does about it. */
struct zygote_hooks {
    void (*before)(void); /* each copy */
    void (*after)(void);  /* it, in the zygote */
    enum zygote_answer (*load)(const char *name, char ret_why[ZYGOTE_TEXT_BYTES]); /* a module */
    /* What makes copies quicker, when no order has come for a moment; true when that was all. It
     * takes about a second at most. */
    bool (*learn)(void);
    void (*prepare)(void); /* in a worker, before it waits for its code */
    void (*begin)(void);   /* in it, when the code is there; does not return */
};

/* In a zygote that must not make workers, because of WHY. */
_Noreturn void zygote_refuse(const char *why);

/* In a zygote: does not return. */
void zygote_serve(const struct zygote_hooks *hooks);
