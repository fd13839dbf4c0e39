#include "environments/docker/packages.h"

#include "base/cleanup.h"
#include "base/digest.h"
#include "base/fd.h"
#include "base/json.h"
#include "base/list.h"
#include "base/memory.h"
#include "base/random.h"
#include "base/state.h"
#include "base/text.h"
#include "environments/docker/end.h"
#include "environments/docker/pip_command.h"
#include "environments/docker/site.h"
#include "environments/instance.h"
#include "environments/packages/package_installer.h"
#include "environments/packages/packages_definition.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define IMAGE_PACKAGES_INSPECT_SECONDS 30.
#define IMAGE_PACKAGES_LONGEST_SECONDS 86400. /* of an installation without a limit */

enum {
    RULES = 2,        /* the version of the rules for making an image; part of its key */
    NAME_DIGITS = 32, /* of the file with the requirements */
};

static const struct state image_packages_states[] = {
    [IMAGE_PACKAGES_IDLE] = {"idle", 1 << IMAGE_PACKAGES_LOOKING},
    [IMAGE_PACKAGES_LOOKING] = {"looking", 1 << IMAGE_PACKAGES_STARTING | 1 << IMAGE_PACKAGES_IDLE},
    [IMAGE_PACKAGES_STARTING] = {"starting",
                                 1 << IMAGE_PACKAGES_INSTALLING | 1 << IMAGE_PACKAGES_IDLE},
    [IMAGE_PACKAGES_INSTALLING] = {"installing",
                                   1 << IMAGE_PACKAGES_COMMITTING | 1 << IMAGE_PACKAGES_IDLE},
    [IMAGE_PACKAGES_COMMITTING] = {"committing",
                                   1 << IMAGE_PACKAGES_INSPECTING | 1 << IMAGE_PACKAGES_IDLE},
    [IMAGE_PACKAGES_INSPECTING] = {"inspecting", 1 << IMAGE_PACKAGES_IDLE},
};

bool docker_packages_are_wanted(const struct docker_site *site)
{
    return packages_definition_names_any(&site->definition.packages);
}

/* Ends the request, the exec and the container, and removes the file. */
static void image_packages_stop(struct docker_packages *packages)
{
    engine_request_cancel(&packages->request);
    exec_cancel(&packages->exec);
    container_cancel(&packages->container);
    if (packages->file)
        (void)unlink(packages->file);
    free(packages->file);
    packages->file = NULL;
}

static void image_packages_set_state(struct docker_packages *packages,
                                     enum image_packages_state state)
{
    state_change(image_packages_states, packages->state, state, "packages of %s",
                 packages->site->environment->name);
    packages->state = state;
    if (state == IMAGE_PACKAGES_IDLE)
        image_packages_stop(packages);
}

/* The one way out but for cancelling. */
static void image_packages_finish(struct docker_packages *packages, const struct error *err)
{
    image_packages_set_state(packages, IMAGE_PACKAGES_IDLE);
    packages->done(packages, err);
}

static void image_packages_fail(struct docker_packages *packages, const char *text)
{
    struct error_rest rest;
    struct error err = ERROR_INIT_LONG(&rest);

    error_set(&err, ERROR_UNAVAILABLE, "%s", text);
    image_packages_finish(packages, &err);
}

/* The end: the image is there */

static void image_packages_on_inspected(struct engine_request *request,
                                        const struct engine_answer *answer, const struct error *err)
{
    struct docker_packages *packages = CONTAINER_OF(request, struct docker_packages, request);

    if (!err)
        docker_facts_read(&packages->facts, answer->json);
    image_packages_finish(packages, err);
}

static void image_packages_inspect(struct docker_packages *packages,
                                   void (*done)(struct engine_request *request,
                                                const struct engine_answer *answer,
                                                const struct error *err))
{
    AUTO_FREE char *path = docker_image_path(packages->tag);

    packages->request = (struct engine_request){.done = done};
    engine_request_start(&packages->request, packages->site->engine,
                         &(struct engine_question){.method = "GET",
                                                   .path = path,
                                                   .timeout = IMAGE_PACKAGES_INSPECT_SECONDS});
}

static void image_packages_on_committed(struct engine_request *request,
                                        const struct engine_answer *answer, const struct error *err)
{
    struct docker_packages *packages = CONTAINER_OF(request, struct docker_packages, request);
    AUTO_FREE char *text = err ? error_text(err) : NULL;

    (void)answer;
    if (text) {
        image_packages_fail(packages, text);
        return;
    }
    image_packages_set_state(packages, IMAGE_PACKAGES_INSPECTING);
    image_packages_inspect(packages, image_packages_on_inspected);
}

/* An image inherits the labels of its container, and hands them on to every container made from
 * it. Labels that say whose a container is must not be handed on. */
static char *labels_of(const struct docker_packages *packages)
{
    return memory_format("LABEL " DOCKER_LABEL_STATE "=\"\" " DOCKER_LABEL_SERVER
                         "=\"\" " DOCKER_LABEL_OWNER "=\"\" " DOCKER_LABEL_DEADLINE
                         "=\"\" " DOCKER_LABEL_ENVIRONMENT "=\"\" " DOCKER_LABEL_IMAGE "=\"%s\"",
                         instance_state_name(packages->site->instance));
}

static void image_packages_commit(struct docker_packages *packages)
{
    AUTO_FREE char *labels = labels_of(packages);
    AUTO_FREE char *changes = engine_escape(labels);
    AUTO_FREE char *path =
        memory_format("/commit?container=%s&repo=" DOCKER_REPOSITORY "&tag=%s&pause=0&changes=%s",
                      container_id(&packages->container), strchr(packages->tag, ':') + 1, changes);

    image_packages_set_state(packages, IMAGE_PACKAGES_COMMITTING);
    environment_step(packages->site->environment, -1, "keeping %s", packages->names);
    packages->request = (struct engine_request){.done = image_packages_on_committed};
    engine_request_start(&packages->request, packages->site->engine,
                         &(struct engine_question){.method = "POST", .path = path});
}

/* The installation */

static void image_packages_on_said(struct last_lines *lines, const char *line)
{
    struct docker_packages *packages = CONTAINER_OF(lines, struct docker_packages, said);

    environment_step(packages->site->environment, -1, "installing %s: %s", packages->names, line);
}

static void image_packages_on_printed(struct execution_listener *listener,
                                      enum process_stream stream, const char *data, size_t length)
{
    struct docker_packages *packages = CONTAINER_OF(listener, struct docker_packages, listener);

    last_lines_feed(&packages->said, stream == PROCESS_STDERR, data, length);
}

static void image_packages_on_output(struct exec *exec, enum frame_stream stream, const char *data,
                                     size_t length)
{
    docker_output_feed(&CONTAINER_OF(exec, struct docker_packages, exec)->output, stream, data,
                       length);
}

static void fail_with_last_lines(struct docker_packages *packages, const struct process_end *end,
                                 const char *said)
{
    const char *advice =
        package_installation_advice(said, packages->site->definition.packages.allow_source_builds);
    AUTO_FREE char *text = NULL;

    if (end->failure[0])
        text = memory_copy_string(end->failure);
    else if (end->out_of_memory)
        text = memory_copy_string("pip was killed for want of memory");
    else if (strstr(said, "No module named pip"))
        text = memory_copy_string("the image has no pip, which installs packages");
    else
        text = memory_format("pip failed:\n%s%s%s", *said ? said : "(it said nothing)",
                             advice ? "\n" : "", text_or_none(advice));
    environment_step(packages->site->environment, -1, "installing %s", packages->names);
    image_packages_fail(packages, text);
}

static void image_packages_on_installed(struct exec *exec, const struct container_end *seen)
{
    struct docker_packages *packages = CONTAINER_OF(exec, struct docker_packages, exec);
    const struct last_words *words = docker_output_end(&packages->output);
    const char *said = last_lines_end(&packages->said);
    struct process_end end = docker_end(
        &(struct docker_observation){.exit_code = seen->exit_code, .failure = seen->failure}, words,
        packages->python);

    if (end.failure[0] || end.returncode != 0)
        fail_with_last_lines(packages, &end, said);
    else
        image_packages_commit(packages);
}

static double seconds_left(const struct docker_packages *packages)
{
    double timeout = packages->site->environment->settings.prepare_timeout;

    return timeout > 0 ? timeout + DOCKER_GRACE_SECONDS : IMAGE_PACKAGES_LONGEST_SECONDS;
}

static void image_packages_on_container_started(struct container *started)
{
    struct docker_packages *packages = CONTAINER_OF(started, struct docker_packages, container);
    AUTO_JSON json_t *definition =
        pip_command_describe(packages->site, packages->python, seconds_left(packages));

    image_packages_set_state(packages, IMAGE_PACKAGES_INSTALLING);
    packages->listener.output = image_packages_on_printed;
    docker_output_init(&packages->output, &packages->listener);
    packages->said = (struct last_lines){.said = image_packages_on_said};
    packages->exec =
        (struct exec){.output = image_packages_on_output, .ended = image_packages_on_installed};
    exec_start(&packages->exec, packages->site->engine,
               &(struct exec_plan){
                   .container = container_id(&packages->container),
                   .definition = definition,
                   .start_timeout = packages->site->definition.container_startup_timeout,
               });
}

/* The container did not start, or was killed, or the engine has gone: it does not end by itself. */
static void image_packages_on_container_ended(struct container *ended,
                                              const struct container_end *end)
{
    struct docker_packages *packages = CONTAINER_OF(ended, struct docker_packages, container);

    image_packages_fail(packages, end->failure[0]
                                      ? end->failure
                                      : "the container that packages were installed in was killed");
}

/* New reference, or NULL. */
static json_t *make_mounts(const struct docker_packages *packages, struct error *err)
{
    const struct docker_guarded guarded = docker_site_guarded(packages->site);
    const char *links = packages->site->definition.packages.pip_find_links;
    AUTO_FREE char *wheels = links ? docker_volume_resolve(links, &guarded, err) : NULL;
    json_t *mounts;

    if (links && !wheels) {
        error_prefix(err, "pip_find_links");
        return NULL;
    }
    mounts = json_pack("[o]", docker_mount(packages->file, PIP_COMMAND_REQUIREMENTS, false));
    if (wheels)
        json_array_append_new(mounts, docker_mount(wheels, PIP_COMMAND_WHEELS, false));
    return mounts;
}

static int image_packages_start_container(struct docker_packages *packages, struct error *err)
{
    AUTO_JSON json_t *mounts = make_mounts(packages, err);
    AUTO_JSON json_t *labels = docker_site_labels(packages->site, seconds_left(packages));
    AUTO_JSON json_t *definition = NULL;
    AUTO_FREE char *name = docker_site_name(packages->site);
    struct docker_container container = docker_site_container(packages->site, DOCKER_INSTALL);

    if (!mounts)
        return -1;
    container.image = packages->base->id;
    container.volumes = packages->base->volumes;
    container.user = "0:0";
    container.seconds = seconds_left(packages);
    container.mounts = mounts;
    container.labels = labels;
    definition = docker_container_describe(&container);
    packages->container = (struct container){.started = image_packages_on_container_started,
                                             .ended = image_packages_on_container_ended};
    container_start(&packages->container, packages->site->engine,
                    &(struct container_plan){
                        .name = name,
                        .definition = definition,
                        .start_timeout = packages->site->definition.container_startup_timeout,
                    });
    return 0;
}

static void image_packages_on_looked_for(struct engine_request *request,
                                         const struct engine_answer *answer,
                                         const struct error *err)
{
    struct docker_packages *packages = CONTAINER_OF(request, struct docker_packages, request);
    struct error problem = ERROR_INIT;

    if (!err || answer->status != DOCKER_NOT_FOUND) {
        image_packages_on_inspected(request, answer, err);
        return;
    }
    image_packages_set_state(packages, IMAGE_PACKAGES_STARTING);
    environment_step(packages->site->environment, -1, "installing %s", packages->names);
    if (image_packages_start_container(packages, &problem) < 0)
        image_packages_finish(packages, &problem);
}

/* The requirements */

static void make_tag(struct docker_packages *packages, const char *text)
{
    const struct packages_definition *definition = &packages->site->definition.packages;
    const bool builds = definition->allow_source_builds;
    const int rules = RULES;
    char key[DIGEST_TEXT_BYTES];
    struct digest digest;

    digest_init(&digest);
    digest_add(&digest, &rules, sizeof rules);
    digest_add_string(&digest, packages->base->id);
    digest_add_string(&digest, text);
    digest_add(&digest, &builds, sizeof builds);
    digest_add_string(&digest, definition->pip_index_url);
    digest_add_string(&digest, definition->pip_find_links);
    digest_finish(&digest, key);
    free(packages->tag);
    packages->tag = memory_format(DOCKER_REPOSITORY ":%s", key);
}

/* Writes the requirements that were checked. The file of the operator may change meanwhile. */
static int image_packages_write_file(struct docker_packages *packages, const char *text,
                                     struct error *err)
{
    AUTO_FREE char *folder = memory_format("%s/docker/requirements", packages->site->state);
    AUTO_FREE char *name = random_digits(NAME_DIGITS);

    if (fd_make_directories(folder, S_IRWXU, err) < 0)
        return -1;
    packages->file = memory_format("%s/%s", folder, name);
    return fd_write_new_file(packages->file, S_IRUSR | S_IWUSR, text, strlen(text), err);
}

int docker_packages_start(struct docker_packages *packages, struct docker_site *site,
                          const struct docker_facts *base, const char *python, struct error *err)
{
    AUTO(requirements_deinit) struct requirements wanted = {0};
    AUTO_FREE char *text = NULL;

    packages->site = site;
    packages->base = base;
    environment_step(site->environment, -1, "reading what to install");
    if (packages_definition_collect(&site->definition.packages, &wanted, err) < 0)
        return -1;
    text = requirements_text(&wanted);
    free(packages->python);
    packages->python = memory_copy_string(python);
    free(packages->names);
    packages->names = requirements_names(&wanted);
    make_tag(packages, text);
    image_packages_set_state(packages, IMAGE_PACKAGES_LOOKING);
    if (image_packages_write_file(packages, text, err) < 0) {
        image_packages_set_state(packages, IMAGE_PACKAGES_IDLE);
        return -1;
    }
    image_packages_inspect(packages, image_packages_on_looked_for);
    return 0;
}

void docker_packages_cancel(struct docker_packages *packages)
{
    if (packages->state != IMAGE_PACKAGES_IDLE)
        image_packages_set_state(packages, IMAGE_PACKAGES_IDLE);
}

void docker_packages_deinit(struct docker_packages *packages)
{
    docker_packages_cancel(packages);
    docker_facts_deinit(&packages->facts);
    free(packages->python);
    free(packages->names);
    free(packages->tag);
}
