#include "environments/process/core/exit_handlers.h"

#include <dlfcn.h>
#include <stdbool.h>
#include <string.h>

typedef int exit_handlers_add(void (*function)(void *), void *argument, void *library);

exit_handlers_add __cxa_atexit;

static exit_handlers_add *exit_handlers_next; /* the C library's */
static bool exit_handlers_are_spared;

/* OpenSSL frees each of some thousand names and methods. In a copy, each page that has one would
 * have to be copied first: half a thousand pages if `secrets` is imported.
 *
 * Functions of atexit(3) have no argument, but destructors of C++ have one: to ask the loader about
 * each destructor would take long. */
static bool exit_handlers_is_spared(void (*function)(void *), const void *argument)
{
    void *place;
    Dl_info symbol;

    memcpy(&place, &function, sizeof place);
    return !argument && dladdr(place, &symbol) && symbol.dli_saddr == place && symbol.dli_sname &&
           strcmp(symbol.dli_sname, "OPENSSL_cleanup") == 0;
}

void exit_handlers_spare(bool on)
{
    exit_handlers_are_spared = on;
}

static void exit_handlers_find_next(void)
{
    void *symbol = dlsym(RTLD_NEXT, "__cxa_atexit");

    memcpy(&exit_handlers_next, &symbol, sizeof symbol);
}

/* Stands in for the function of glibc that atexit(3) and destructors of C++ call. A script's
 * threads come here with locks of their own, so that the loader, which has one too, is asked by
 * none of them: the first call is made before there is a script. */
__attribute__((visibility("default"))) int __cxa_atexit(void (*function)(void *), void *argument,
                                                        void *library)
{
    if (!exit_handlers_next)
        exit_handlers_find_next();
    if (exit_handlers_are_spared && exit_handlers_is_spared(function, argument))
        return 0;
    return exit_handlers_next(function, argument, library);
}
