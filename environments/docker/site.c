#include "environments/docker/site.h"

#include "base/cleanup.h"
#include "base/json.h"
#include "base/memory.h"
#include "base/random.h"
#include "base/text.h"
#include "environments/docker/seccomp_profile.h"
#include "environments/docker/volume.h"
#include "environments/instance.h"
#include "environments/interpreter/script_places.h"

#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#define MEET_SECONDS 30.

enum {
    FORBIDDEN = 403,
    NAME_DIGITS = 16,
    MOST_PROCESSES = 32768, /* as many as machines usually have pids for */
};

static bool docker_site_says(const json_t *options, const char *wanted)
{
    const json_t *option;
    size_t i;

    json_array_foreach (options, i, option) {
        const char *text = json_string_value(option);

        if (text && strncmp(text, wanted, strlen(wanted)) == 0)
            return true;
    }
    return false;
}

/* A proxy may refuse this question, and allow containers all the same. */
static bool docker_site_is_forbidden(const struct engine_answer *answer)
{
    return answer->status == FORBIDDEN;
}

static void docker_site_on_version(struct engine_request *request,
                                   const struct engine_answer *answer, const struct error *err)
{
    struct docker_site *site = CONTAINER_OF(request, struct docker_site, request);
    const char *architecture = err ? NULL : json_object_get_string(answer->json, "Arch");

    if (err && docker_site_is_forbidden(answer))
        err = NULL;
    if (!err) {
        free(site->architecture);
        site->architecture = architecture ? memory_copy_string(architecture) : NULL;
        site->is_met = true;
    }
    site->met(site, err);
}

/* Docker takes the text of a profile, Podman a path on its machine. Podman must be on this machine
 * anyway, since it finds pyexecd-init by path. */
static const char *docker_site_seccomp(const struct docker_site *site)
{
    if (site->is_unfiltered)
        return NULL;
    return engine_is_podman(site->engine) ? site->seccomp_file : seccomp_profile;
}

/* Notes whether containers get the profile of system calls; OPTIONS are the engine's
 * SecurityOptions, or NULL. */
static void docker_site_take_filter(struct docker_site *site, const json_t *options)
{
    json_array_clear(site->missing);
    site->is_unfiltered = json_is_array(options) && !docker_site_says(options, "name=seccomp");
    if (site->is_unfiltered)
        json_array_append_new(
            site->missing, json_string("system call filter: the engine does not support seccomp"));
}

static void docker_site_on_info(struct engine_request *request, const struct engine_answer *answer,
                                const struct error *err)
{
    struct docker_site *site = CONTAINER_OF(request, struct docker_site, request);
    const json_t *options;

    if (err && !docker_site_is_forbidden(answer)) {
        site->met(site, err);
        return;
    }
    options = err ? NULL : json_object_get(answer->json, "SecurityOptions");
    site->is_rootless = docker_site_says(options, "name=rootless");
    site->remaps_users = docker_site_says(options, "name=userns");
    docker_site_take_filter(site, options);
    request->done = docker_site_on_version;
    engine_request_start(
        request, site->engine,
        &(struct engine_question){.method = "GET", .path = "/version", .timeout = MEET_SECONDS});
}

enum outcome docker_site_meet(struct docker_site *site)
{
    if (site->is_met)
        return OUTCOME_READY;
    site->request = (struct engine_request){.done = docker_site_on_info};
    engine_request_start(
        &site->request, site->engine,
        &(struct engine_question){.method = "GET", .path = "/info", .timeout = MEET_SECONDS});
    return OUTCOME_PENDING;
}

void docker_site_cancel(struct docker_site *site)
{
    engine_request_cancel(&site->request);
}

char *docker_site_user(const struct docker_site *site)
{
    if (site->definition.user)
        return memory_copy_string(site->definition.user);
    if (site->is_rootless)
        return memory_copy_string("0:0");
    return memory_format("%u:%u", (unsigned)geteuid(), (unsigned)getegid());
}

bool docker_site_has_own_user(const struct docker_site *site, uid_t uid)
{
    return site->definition.user && !site->is_rootless && uid != geteuid();
}

const char *docker_site_lacks_sockets(const struct docker_site *site)
{
    if (site->engine && docker_site_is_remote(site))
        return "its engine is reached by TCP";
    return site->lacks_sockets ? "its containers cannot connect to sockets of this machine" : NULL;
}

char *docker_site_name(const struct docker_site *site)
{
    AUTO_FREE char *digits = random_digits(NAME_DIGITS);

    return memory_format("%s%s", site->definition.container_name_prefix, digits);
}

json_t *docker_site_labels(const struct docker_site *site, double seconds)
{
    return json_pack("{s:s, s:s, s:s, s:o, s:o}",                                       //
                     DOCKER_LABEL_STATE, instance_state_name(site->instance),           //
                     DOCKER_LABEL_SERVER, instance_name(site->instance),                //
                     DOCKER_LABEL_ENVIRONMENT, site->environment->name,                 //
                     DOCKER_LABEL_OWNER, json_string_format("%u", (unsigned)geteuid()), //
                     DOCKER_LABEL_DEADLINE,
                     json_string_format("%lld", (long long)time(NULL) + (long long)seconds));
}

struct docker_guarded docker_site_guarded(const struct docker_site *site)
{
    return (struct docker_guarded){.socket = engine_socket(site->engine), .state = site->state};
}

static int docker_site_add_volume(const struct docker_site *site, json_t *mounts,
                                  const struct docker_volume *volume, struct error *err)
{
    const struct docker_guarded guarded = docker_site_guarded(site);
    AUTO_FREE char *source = docker_volume_resolve(volume->path, &guarded, err);

    if (!source)
        return -1;
    json_array_append_new(mounts, docker_mount(source, volume->target, volume->is_writable));
    return 0;
}

static int add_volumes(const struct docker_site *site, json_t *mounts, struct error *err)
{
    const char *path;
    json_t *value;

    json_object_foreach ((json_t *)site->definition.volumes, path, value) {
        const struct docker_volume volume = docker_volume_read(path, value);

        if (docker_site_add_volume(site, mounts, &volume, err) < 0)
            return error_prefix(err, "volume");
    }
    return 0;
}

char *docker_site_script(const struct execution_request *request)
{
    /* The script lies in the working directory, which is mounted at the workspace. */
    return memory_format(DOCKER_WORKSPACE "%s", request->script + strlen(request->directory));
}

/* A request with a program instead of code gets no mount over a script. */
static void docker_site_add_script(json_t *mounts, const struct execution_request *request)
{
    AUTO_FREE char *script = NULL;

    if (request->program)
        return;
    script = docker_site_script(request);
    json_array_append_new(mounts, docker_mount(request->code_file, script, false));
}

/* Lays the entries of DIRECTORY that scripts only read over the workspace. */
static void docker_site_add_kept(const struct docker_site *site, json_t *mounts,
                                 const char *directory)
{
    const struct script_places *kept = site->environment->kept;

    for (char *const *path = kept ? kept->paths : NULL; path && *path; path++) {
        AUTO_FREE char *target = memory_format(DOCKER_WORKSPACE "%s", *path + strlen(directory));

        json_array_append_new(mounts, docker_mount(*path, target, false));
    }
}

json_t *docker_site_mounts(const struct docker_site *site, const struct execution_request *request,
                           struct error *err)
{
    AUTO_JSON json_t *mounts =
        json_pack("[o]", docker_mount(request->directory, DOCKER_WORKSPACE, true));

    if (add_volumes(site, mounts, err) < 0)
        return NULL;
    docker_site_add_kept(site, mounts, request->directory);
    docker_site_add_script(mounts, request);
    return json_incref(mounts);
}

/* Without this limit Podman sets a limit that may be above its own, and fails. */
static uint64_t most_processes(const struct docker_site *site)
{
    struct rlimit limit;

    if (!engine_is_podman(site->engine) || getrlimit(RLIMIT_NPROC, &limit) < 0)
        return 0;
    return limit.rlim_max < MOST_PROCESSES ? limit.rlim_max : MOST_PROCESSES;
}

struct docker_container docker_site_container(const struct docker_site *site,
                                              enum docker_purpose purpose)
{
    return (struct docker_container){
        .purpose = purpose,
        .definition = &site->definition,
        .settings = &site->environment->settings,
        .init = site->init,
        .seccomp = docker_site_seccomp(site),
        .remaps_users = site->remaps_users,
        .most_processes = most_processes(site),
    };
}

/* The path of the file with the profile of system calls. Owned by the caller. */
static char *docker_site_beside_init(const char *init)
{
    const char *name = init ? strrchr(init, '/') : NULL;

    return memory_format("%.*s" SECCOMP_PROFILE_FILE, name ? (int)(name - init) + 1 : 0,
                         text_or_none(init));
}

int docker_site_init(struct docker_site *site, struct environment *environment,
                     const struct environment_recipe *recipe, const char **ret_key,
                     struct error *err)
{
    const struct docker_definition definition = docker_definition_read(environment->definition);
    struct engine_address address = {0};

    if (docker_definition_check(&definition, ret_key, err) < 0)
        return -1;
    *ret_key = "host";
    if (docker_definition_find_engine(&definition, &address, err) < 0)
        return -1;
    *site = (struct docker_site){
        .environment = environment,
        .definition = definition,
        .instance = recipe->instance,
        .init = memory_copy_string(text_or_none(recipe->container_init)),
        .seccomp_file = docker_site_beside_init(recipe->container_init),
        .missing = json_array(),
        .state = memory_copy_string(text_or_none(recipe->state)),
    };
    if (recipe->loop)
        site->engine = engine_new(recipe->loop, &address);
    engine_address_deinit(&address);
    return 0;
}

void docker_site_deinit(struct docker_site *site)
{
    docker_site_cancel(site);
    engine_free(site->engine);
    free(site->init);
    free(site->seccomp_file);
    json_decref(site->missing);
    free(site->state);
    free(site->architecture);
    *site = (struct docker_site){0};
}
