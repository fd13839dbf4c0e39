#include "server/commands/place.h"

#include "base/cleanup.h"
#include "base/memory.h"
#include "base/text.h"
#include "environments/catalog/catalog.h"
#include "environments/environment.h"
#include "environments/environment_level.h"
#include "environments/interpreter/script_places.h"
#include "environments/real_path.h"
#include "environments/sandbox_policy.h"
#include "environments/workplace/working_directory.h"
#include "server/service.h"
#include "server/transport/socket/peer.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static const char TEMPORARY[] = "temporary";

/* True when scripts of ENVIRONMENT, which has a sandbox, can read SCRIPT, a real path. */
static bool place_is_shown(const struct environment *environment, const char *script)
{
    char *const *read = environment->settings.sandbox.read;

    for (; read && *read; read++)
        if (real_path_holds(*read, script))
            return true;
    return false;
}

/* True when SCRIPT lies below DIRECTORY; NULL: no directory of the user's. */
static bool place_is_below(const char *script, const char *directory)
{
    AUTO_FREE char *real = directory ? realpath(directory, NULL) : NULL;

    return real && text_starts_with(script, real) && script[strlen(real)] == '/';
}

/* A file may be executed where it lies if scripts see it there: on this machine anywhere, in a
 * container below DIRECTORY, in a sandbox also where it is shown. Its path, owned by the caller; or
 * NULL. */
static char *find_own_script(const char *script, const char *directory,
                             const struct environment *environment)
{
    AUTO_FREE char *real = script ? realpath(script, NULL) : NULL;
    struct stat status;

    if (!real || lstat(real, &status) < 0 || !S_ISREG(status.st_mode))
        return NULL;
    if (environment_isolation(environment) == ISOLATION_NONE || place_is_shown(environment, real) ||
        place_is_below(real, directory))
        return STEAL_PTR(real);
    return NULL;
}

/* From now on ENVIRONMENT works in DIRECTORY, at the level that it can have there. */
static int lend(const struct script_place *place, struct service *service,
                struct environment *environment, const char *directory, struct error *err)
{
    AUTO_FREE char *real = realpath(directory, NULL);
    AUTO(script_places_deinit) struct script_places kept = {0};
    AUTO_FREE char *script = NULL;

    catalog_work_in(service->catalog, real);
    environment_work_in(environment, real); /* it may be the script's own */
    script = find_own_script(place->script, directory, environment);
    if ((!real || service_check_directory(service, environment, real, &kept, err) == 0) &&
        workplace_lend(service->workplace, directory, script, err) == 0) {
        service_work_in(service, real, &kept);
        return 0;
    }
    catalog_work_in(service->catalog, workplace_path(service->workplace));
    environment_work_in(environment, workplace_path(service->workplace));
    return -1;
}

/* Only a directory of ours has a handle, and with a configured directory there are none. */
static int check_handles(const struct service *service, const char *wanted, struct error *err)
{
    const char *configured = workplace_path(service->workplace);

    if (!configured)
        return 0;
    return error_set(err, ERROR_USAGE,
                     "--working-directory %s: by the configuration every script works in %s",
                     wanted, configured);
}

/* HANDLE: of a directory of ours; NULL: the configured directory, or else a new one. */
static struct working_directory *open_by_handle(const struct service *service,
                                                const struct environment *environment,
                                                const char *handle, struct error *err)
{
    AUTO_FREE char *principal = peer_own_principal();

    return workplace_open(service->workplace, principal, environment_isolation(environment), handle,
                          err);
}

/* A directory of ours: it shows nothing of the directory that the user is in. */
static struct working_directory *open_of_ours(const struct script_place *place,
                                              struct service *service,
                                              const struct environment *environment,
                                              const char *handle, struct error *err)
{
    AUTO_FREE char *script = find_own_script(place->script, NULL, environment);

    workplace_set_script(service->workplace, script);
    return open_by_handle(service, environment, handle, err);
}

static struct working_directory *open_temporary(const struct script_place *place,
                                                struct service *service,
                                                const struct environment *environment,
                                                struct error *err)
{
    struct working_directory *directory = open_of_ours(place, service, environment, NULL, err);

    if (directory)
        fprintf(stderr, "pyexecd: the script works in %s; `-w %s` works there again\n",
                working_directory_path(directory), working_directory_handle(directory));
    return directory;
}

/* See workplace_lend, which says why not. */
static bool place_can_be_lent(const char *directory)
{
    return strcmp(directory, "/") != 0 && access(directory, R_OK | W_OK | X_OK) == 0;
}

/* Why a script of ENVIRONMENT would have no sandbox in the current directory, as a home has none.
 * NULL: it would, or none is wanted. Owned by the caller. */
static char *place_find_exposure(const struct environment *environment)
{
    AUTO_FREE char *here = realpath(".", NULL);
    struct error_rest rest;
    struct error err = ERROR_INIT_LONG(&rest);

    if (!here || !place_can_be_lent(here) || !environment->settings.sandbox.is_wanted ||
        sandbox_policy_check_place(environment, here, &err) == 0)
        return NULL;
    return error_text(&err);
}

/* The current directory, unless nobody can work there, or only without a sandbox. */
static struct working_directory *open_current(const struct script_place *place,
                                              struct service *service,
                                              struct environment *environment, struct error *err)
{
    AUTO_FREE char *exposure = place_find_exposure(environment);

    if (exposure) {
        fprintf(stderr, "pyexecd: %s%s\n", exposure,
                environment->settings.sandbox.is_optional ? "; `-w .` works here, without a sandbox"
                                                          : "");
        return open_temporary(place, service, environment, err);
    }
    if (lend(place, service, environment, ".", err) == 0)
        return open_by_handle(service, environment, NULL, err);
    fprintf(stderr, "pyexecd: %s\n", err->message);
    error_clear(err);
    return open_temporary(place, service, environment, err);
}

/* The directory that the user has named: he has decided. */
static struct working_directory *place_open_named(const struct script_place *place,
                                                  struct service *service,
                                                  struct environment *environment,
                                                  struct error *err)
{
    if (lend(place, service, environment, place->wanted, err) < 0) {
        error_prefix(err, "--working-directory");
        return NULL;
    }
    if (environment->unheld)
        fprintf(stderr, "pyexecd: the script has no sandbox: %s\n", environment->unheld);
    return open_by_handle(service, environment, NULL, err);
}

struct working_directory *place_open(const struct script_place *place, struct service *service,
                                     struct environment *environment, struct error *err)
{
    const char *wanted = place->wanted;

    workplace_leave_out_output(service->workplace); /* as in `pyexecd run --json f.py > here` */
    if (!wanted && workplace_path(service->workplace))
        return open_by_handle(service, environment, NULL, err);
    if (!wanted)
        return open_current(place, service, environment, err);
    if (strcmp(wanted, TEMPORARY) != 0 && !workplace_is_handle(wanted))
        return place_open_named(place, service, environment, err);
    if (check_handles(service, wanted, err) < 0)
        return NULL;
    if (strcmp(wanted, TEMPORARY) == 0)
        return open_temporary(place, service, environment, err);
    return open_of_ours(place, service, environment, wanted, err);
}

char *place_find_start(const char *script)
{
    const char *slash = script ? strrchr(script, '/') : NULL;

    return slash ? memory_format("%.*s/", (int)(slash - script), script) : memory_copy_string(".");
}
