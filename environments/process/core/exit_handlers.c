#include "environments/process/core/exit_handlers.h"

#include <dlfcn.h>
#include <stdbool.h>
#include <string.h>

typedef int exit_handlers_add(void (*function)(void *), void *argument, void *library);

exit_handlers_add __cxa_atexit;

static bool exit_handlers_are_spared;

/* OpenSSL frees each of some thousand names and methods. In a copy, each page that they lie in
 * would have to be copied first: half a thousand of them with all that imports `secrets`. */
static bool exit_handlers_only_frees(void (*function)(void *))
{
    const char *const name = "OPENSSL_cleanup";
    void *place;
    Dl_info symbol;

    memcpy(&place, &function, sizeof place);
    return dladdr(place, &symbol) && symbol.dli_saddr == place && symbol.dli_sname &&
           strcmp(symbol.dli_sname, name) == 0;
}

void exit_handlers_spare(void)
{
    exit_handlers_are_spared = true;
}

/* Glibc's, which atexit(3) and destructors of C++ come to. */
__attribute__((visibility("default"))) int __cxa_atexit(void (*function)(void *), void *argument,
                                                        void *library)
{
    exit_handlers_add *theirs = NULL;
    void *symbol = dlsym(RTLD_NEXT, "__cxa_atexit");

    if (exit_handlers_are_spared && exit_handlers_only_frees(function))
        return 0;
    memcpy(&theirs, &symbol, sizeof theirs);
    return theirs(function, argument, library);
}
