#include "environments/sandbox_policy.h"

#include "base/cleanup.h"
#include "base/memory.h"
#include "base/text.h"
#include "environments/environment.h"
#include "environments/interpreter/script_places.h"
#include "environments/real_path.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Appends MORE, NULL-terminated or NULL, to LIST. */
static const char **sandbox_policy_extend(const char **list, const char *const *more)
{
    size_t count = 0;
    size_t added = 0;

    while (list && list[count])
        count++;
    while (more && more[added])
        added++;
    list = memory_resize(list, (count + added + 1) * sizeof *list);
    for (size_t i = 0; i < added; i++)
        list[count + i] = more[i];
    list[count + added] = NULL;
    return list;
}

/* A script could replace such a Python, which would then execute the scripts of other callers and
 * answer questions about itself. */
static int sandbox_policy_refuse_python(const struct environment *environment, const char *part,
                                        const char *place, struct error *err)
{
    return error_set(err, ERROR_CONFIG,
                     "%s belongs to the Python of environment %s, and lies in %s, which "
                     "scripts of its sandbox can change: let the operator keep the one "
                     "outside of the other",
                     part, environment->name, place);
}

/* The folder in PLACE that has FILE, which lies in PLACE, if it is a virtual environment. Owned by
 * the caller, or NULL. */
static char *sandbox_policy_find_venv(const char *place, const char *file)
{
    const size_t length = strlen(place) + 1;
    AUTO_FREE char *folder =
        strlen(file) > length ? strndup(file, length + strcspn(file + length, "/")) : NULL;
    AUTO_FREE char *mark = memory_format("%s/pyvenv.cfg", text_or_none(folder));
    struct stat status;

    if (!folder || lstat(folder, &status) < 0 || !S_ISDIR(status.st_mode) || access(mark, F_OK) < 0)
        return NULL;
    return STEAL_PTR(folder);
}

/* True if scripts that work in PLACE could change FILE. A virtual environment is mounted read-only
 * there, and a mount cannot be moved; a folder around it could. */
static bool sandbox_policy_exposes(const struct environment *environment, const char *place,
                                   const char *file)
{
    AUTO_FREE char *venv = NULL;

    if (!real_path_holds(place, file))
        return false;
    if (environment->settings.sandbox.holds_python)
        venv = sandbox_policy_find_venv(place, file);
    return !venv;
}

static int sandbox_policy_check(const struct sandbox_policy *policy,
                                const struct environment *environment, struct error *err)
{
    const char *const *needs = environment_needs(environment);

    for (size_t i = 0; needs && needs[i]; i++)
        for (size_t j = 0; policy->write[j]; j++)
            if (sandbox_policy_exposes(environment, policy->write[j], needs[i]))
                return sandbox_policy_refuse_python(environment, needs[i], policy->write[j], err);
    return 0;
}

/* Directories that are made for callers lie in the state, too. */
static bool sandbox_policy_is_in_state(const char *directory, const char *state)
{
    static const char *const ours[] = {"work", "once"};

    for (size_t i = 0; i < ARRAY_SIZE(ours); i++) {
        AUTO_FREE char *root = memory_format("%s/%s/", state, ours[i]);

        if (text_starts_with(directory, root))
            return false;
    }
    return real_path_holds(state, directory);
}

/* Scripts that can change the state rule the Pythons of all. */
static int sandbox_policy_check_state(const struct environment *environment, const char *directory,
                                      struct error *err)
{
    const char *state = environment->server_state;

    if (!state ||
        !(real_path_holds(directory, state) || sandbox_policy_is_in_state(directory, state)))
        return 0;
    return error_set(err, ERROR_CONFIG,
                     "a sandbox cannot work in %s, which meets the server's own state (%s): use "
                     "another directory",
                     directory, state);
}

bool sandbox_policy_holds_home(const char *directory)
{
    struct error ignored = ERROR_INIT;
    const char *home = getenv("HOME");
    AUTO_FREE char *real = home && *home == '/' ? real_path_find(home, &ignored) : NULL;

    return real && real_path_holds(directory, real);
}

/* A home, in which the server has its state and its user everything else. */
static int sandbox_policy_check_directory(const struct environment *environment,
                                          const char *directory, struct error *err)
{
    if (!sandbox_policy_holds_home(directory))
        return sandbox_policy_check_state(environment, directory, err);
    return error_set(err, ERROR_CONFIG,
                     "a sandbox cannot work in %s, where the home of the server's user is: use a "
                     "directory in it",
                     directory);
}

/* Owned by the caller, or NULL: not known yet. */
static char *sandbox_policy_find_python(const struct environment *environment)
{
    return environment->ops->find_python ? environment->ops->find_python(environment) : NULL;
}

/* Its other files are known only when it is prepared. */
static int sandbox_policy_check_python(const struct environment *environment, const char *directory,
                                       struct error *err)
{
    AUTO_FREE char *python = sandbox_policy_find_python(environment);
    AUTO_FREE char *real = python ? realpath(python, NULL) : NULL;

    if (real && (sandbox_policy_exposes(environment, directory, python) ||
                 sandbox_policy_exposes(environment, directory, real)))
        return sandbox_policy_refuse_python(environment, python, directory, err);
    return 0;
}

int sandbox_policy_check_place(const struct environment *environment, const char *directory,
                               struct error *err)
{
    if (sandbox_policy_check_directory(environment, directory, err) < 0)
        return -1;
    return sandbox_policy_check_python(environment, directory, err);
}

struct process_sandbox sandbox_policy_outline(const struct environment *environment)
{
    const struct sandbox_settings *settings = &environment->settings.sandbox;

    return (struct process_sandbox){.network = settings->network, .required = settings->required};
}

static void sandbox_policy_add_gpu(struct sandbox_policy *policy)
{
    gpu_files_find(&policy->gpu);
    policy->read = sandbox_policy_extend(policy->read, (const char *const *)policy->gpu.facts);
    policy->sandbox.devices = (const char *const *)policy->gpu.devices;
}

int sandbox_policy_init(struct sandbox_policy *policy, const struct environment *environment,
                        const char *directory, const char *annex, struct error *err)
{
    const struct sandbox_settings *settings = &environment->settings.sandbox;
    const char *const own[] = {directory, NULL};
    const char *const beside[] = {annex, NULL};

    *policy = (struct sandbox_policy){.sandbox = sandbox_policy_outline(environment)};
    if (sandbox_policy_check_directory(environment, directory, err) < 0)
        return -1;
    policy->read = sandbox_policy_extend(NULL, environment_needs(environment));
    policy->read = sandbox_policy_extend(policy->read, (const char *const *)settings->read);
    policy->read = sandbox_policy_extend(policy->read, beside);
    if (environment->kept && environment->kept->paths)
        policy->read =
            sandbox_policy_extend(policy->read, (const char *const *)environment->kept->paths);
    policy->write = sandbox_policy_extend(NULL, own);
    policy->write = sandbox_policy_extend(policy->write, (const char *const *)settings->write);
    if (settings->gpu)
        sandbox_policy_add_gpu(policy);
    policy->sandbox.read = policy->read;
    policy->sandbox.write = policy->write;
    policy->sandbox.keeps =
        settings->holds_python ||
        (environment->kept && environment->kept->paths && environment->kept->paths[0]);
    if (sandbox_policy_check(policy, environment, err) == 0)
        return 0;
    sandbox_policy_deinit(policy);
    return -1;
}

void sandbox_policy_deinit(struct sandbox_policy *policy)
{
    free(policy->read);
    free(policy->write);
    gpu_files_deinit(&policy->gpu);
    *policy = (struct sandbox_policy){0};
}
