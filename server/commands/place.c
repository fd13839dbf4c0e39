#include "server/commands/place.h"

#include "base/cleanup.h"
#include "base/memory.h"
#include "base/text.h"
#include "environments/environment.h"
#include "environments/workplace/working_directory.h"
#include "server/service.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static const char TEMPORARY[] = "temporary";

/* A file may be executed where it lies if scripts see it there: on this machine anywhere, in a
 * container below DIRECTORY. Its path, owned by the caller; or NULL. */
static char *find_own_script(const char *script, const char *directory, enum isolation isolation)
{
    AUTO_FREE char *real = script ? realpath(script, NULL) : NULL;
    AUTO_FREE char *below = realpath(directory, NULL);
    struct stat status;

    if (!real || !below || lstat(real, &status) < 0 || !S_ISREG(status.st_mode))
        return NULL;
    if (isolation == ISOLATION_NONE ||
        (text_starts_with(real, below) && real[strlen(below)] == '/'))
        return STEAL_PTR(real);
    return NULL;
}

static int lend(const struct script_place *place, struct service *service, const char *directory,
                enum isolation isolation, struct error *err)
{
    AUTO_FREE char *script = find_own_script(place->script, directory, isolation);

    return workplace_lend(service->workplace, directory, script, err);
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

static struct working_directory *open_by_handle(const struct service *service,
                                                enum isolation isolation, const char *handle,
                                                struct error *err)
{
    AUTO_FREE char *principal = memory_format("uid-%u", geteuid());

    return workplace_open(service->workplace, principal, isolation, handle, err);
}

static struct working_directory *open_temporary(const struct service *service,
                                                enum isolation isolation, struct error *err)
{
    struct working_directory *directory = open_by_handle(service, isolation, NULL, err);

    if (directory)
        fprintf(stderr, "pyexecd: the script works in %s; `-w %s` works there again\n",
                working_directory_path(directory), working_directory_handle(directory));
    return directory;
}

/* The current directory, unless nobody can work there. */
static struct working_directory *open_current(const struct script_place *place,
                                              struct service *service, enum isolation isolation,
                                              struct error *err)
{
    if (lend(place, service, ".", isolation, err) == 0)
        return open_by_handle(service, isolation, NULL, err);
    fprintf(stderr, "pyexecd: %s\n", err->message);
    error_clear(err);
    return open_temporary(service, isolation, err);
}

struct working_directory *place_open(const struct script_place *place, struct service *service,
                                     const struct environment *environment, struct error *err)
{
    enum isolation isolation = environment_isolation(environment);
    const char *wanted = place->wanted;

    if (!wanted && workplace_path(service->workplace))
        return open_by_handle(service, isolation, NULL, err);
    if (!wanted)
        return open_current(place, service, isolation, err);
    if (strcmp(wanted, TEMPORARY) == 0)
        return check_handles(service, wanted, err) < 0 ? NULL
                                                       : open_temporary(service, isolation, err);
    if (workplace_is_handle(wanted))
        return check_handles(service, wanted, err) < 0
                   ? NULL
                   : open_by_handle(service, isolation, wanted, err);
    if (lend(place, service, wanted, isolation, err) < 0) {
        error_prefix(err, "--working-directory");
        return NULL;
    }
    return open_by_handle(service, isolation, NULL, err);
}
