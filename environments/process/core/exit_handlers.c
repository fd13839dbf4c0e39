#include "environments/process/core/exit_handlers.h"

#include "base/memory.h"

#include <dlfcn.h>
#include <stdbool.h>
#include <string.h>

typedef void exit_handlers_function(void *argument);
typedef int exit_handlers_add(exit_handlers_function *function, void *argument, void *library);

exit_handlers_add __cxa_atexit;

/* Of atexit(3), for one library. The C standard promises room for so many in a whole program. A
 * library of CUDA has thousands: its compiler makes one for each part. */
enum { EXIT_HANDLERS_OF_LIBRARY = 32 };

/* The functions of atexit(3) that a library has registered. */
struct exit_handlers_list {
    exit_handlers_function *functions[EXIT_HANDLERS_OF_LIBRARY];
    size_t count; /* the functions of a library with too many are not called */
};

static exit_handlers_add *exit_handlers_next; /* the C library's */
static bool exit_handlers_are_spared;

/* The facts about the library that registered last. It registers many functions in a row. */
static struct {
    const void *library;                /* an address in it; NULL: none */
    bool is_kept;                       /* with all its destructors */
    exit_handlers_function *stream_end; /* of libstdc++, which flushes std::cout; or NULL */
    struct exit_handlers_list *list;    /* registered, and freed by nobody; NULL: none */
} exit_handlers_seen;

/* The libraries of C++ itself. */
static const char *const exit_handlers_kept[] = {"libstdc++.so", "libc++.so"};

/* OpenSSL frees each of some thousand names and methods. In a copy, each page that has one would
 * have to be copied first: half a thousand pages if `secrets` is imported. */
static bool exit_handlers_is_of_openssl(exit_handlers_function *function)
{
    void *place;
    Dl_info symbol;

    memcpy(&place, &function, sizeof place);
    return dladdr(place, &symbol) && symbol.dli_saddr == place && symbol.dli_sname &&
           strcmp(symbol.dli_sname, "OPENSSL_cleanup") == 0;
}

static bool exit_handlers_is_of_cpp(const void *library)
{
    Dl_info found;
    const char *name;

    if (!dladdr(library, &found) || !found.dli_fname)
        return false;
    name = strrchr(found.dli_fname, '/');
    name = name ? name + 1 : found.dli_fname;
    for (size_t i = 0; i < ARRAY_SIZE(exit_handlers_kept); i++)
        if (strncmp(name, exit_handlers_kept[i], strlen(exit_handlers_kept[i])) == 0)
            return true;
    return false;
}

/* Each library that uses std::cout registers this function of libstdc++. Its last call flushes
 * std::cout. Python loads extensions with RTLD_LOCAL, so libstdc++ has to be found
 * by its file name. */
static exit_handlers_function *exit_handlers_find_stream_end(void)
{
    void *cpp = dlopen("libstdc++.so.6", RTLD_LAZY | RTLD_NOLOAD);
    void *symbol = cpp ? dlsym(cpp, "_ZNSt8ios_base4InitD1Ev") : NULL;
    exit_handlers_function *ret;

    memcpy(&ret, &symbol, sizeof ret);
    if (cpp)
        dlclose(cpp);
    return ret;
}

/* To ask the loader about each destructor would take long. */
static void exit_handlers_see(const void *library)
{
    if (library == exit_handlers_seen.library)
        return;
    exit_handlers_seen.library = library;
    exit_handlers_seen.is_kept = exit_handlers_is_of_cpp(library);
    exit_handlers_seen.stream_end = exit_handlers_find_stream_end();
    exit_handlers_seen.list = NULL;
}

static void exit_handlers_call(void *argument)
{
    const struct exit_handlers_list *list = argument;

    if (list->count > ARRAY_SIZE(list->functions))
        return;
    for (size_t i = list->count; i > 0; i--)
        list->functions[i - 1](NULL);
}

/* A function of atexit(3), of LIBRARY. */
static int exit_handlers_add_function(exit_handlers_function *function, void *library)
{
    struct exit_handlers_list *list = exit_handlers_seen.list;

    if (exit_handlers_is_of_openssl(function))
        return 0;
    if (!list) {
        list = exit_handlers_seen.list = NEW(struct exit_handlers_list);
        if (exit_handlers_next(exit_handlers_call, list, library) != 0)
            return -1;
    }
    if (list->count < ARRAY_SIZE(list->functions))
        list->functions[list->count] = function;
    list->count++;
    return 0;
}

/* Functions of atexit(3) have no argument. Destructors of C++ have their object. */
static int exit_handlers_add_spared(exit_handlers_function *function, void *argument, void *library)
{
    exit_handlers_see(library);
    if (!argument)
        return exit_handlers_add_function(function, library);
    if (!exit_handlers_seen.is_kept && function != exit_handlers_seen.stream_end)
        return 0;
    return exit_handlers_next(function, argument, library);
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
__attribute__((visibility("default"))) int __cxa_atexit(exit_handlers_function *function,
                                                        void *argument, void *library)
{
    if (!exit_handlers_next)
        exit_handlers_find_next();
    if (exit_handlers_are_spared)
        return exit_handlers_add_spared(function, argument, library);
    return exit_handlers_next(function, argument, library);
}
