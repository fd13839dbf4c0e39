#include "environments/docker/run.h"

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/digest.h"
#include "base/json.h"
#include "base/list.h"
#include "base/log.h"
#include "base/memory.h"
#include "base/random.h"
#include "environments/docker/end.h"
#include "environments/docker/image.h"
#include "environments/docker/site.h"
#include "environments/engine/container.h"
#include "environments/engine/last_words.h"

#include <stdlib.h>
#include <string.h>

#define INSPECTION_SECONDS 86400. /* for which a container stays that is to be looked at */

struct docker_run {
    struct execution execution;
    struct docker_site *site; /* borrowed */
    struct container container;
    struct last_words_reader errors;
    char *python;      /* owned: the program */
    char *name;        /* owned: of the container */
    bool stays;        /* to be looked at */
    double started_at; /* monotonic seconds */
};

static void docker_run_on_errors(struct last_words_reader *reader, const char *data, size_t length)
{
    struct docker_run *run = CONTAINER_OF(reader, struct docker_run, errors);

    run->execution.listener->output(run->execution.listener, PROCESS_STDERR, data, length);
}

static void docker_run_on_output(struct container *container, enum frame_stream stream,
                                 const char *data, size_t length)
{
    struct docker_run *run = CONTAINER_OF(container, struct docker_run, container);

    if (stream == FRAME_STDERR)
        last_words_reader_feed(&run->errors, data, length);
    else
        run->execution.listener->output(run->execution.listener, PROCESS_STDOUT, data, length);
}

static void docker_run_on_started(struct container *container)
{
    struct docker_run *run = CONTAINER_OF(container, struct docker_run, container);

    run->execution.listener->began(run->execution.listener);
}

static void docker_run_free(struct docker_run *run)
{
    free(run->python);
    free(run->name);
    free(run);
}

static void docker_run_on_ended(struct container *container, const struct container_end *seen)
{
    struct docker_run *run = CONTAINER_OF(container, struct docker_run, container);
    struct execution_listener *listener = run->execution.listener;
    struct last_words words;
    bool has_words = last_words_reader_end(&run->errors, &words);
    struct execution_end end = docker_end(
        &(struct docker_observation){
            .killed = seen->killed,
            .out_of_memory = seen->out_of_memory,
            .missing = run->site->missing,
            .exit_code = seen->exit_code,
            .seconds = clock_seconds() - run->started_at,
            .failure = seen->failure,
        },
        has_words ? &words : NULL, run->python);

    if (run->stays && seen->started) {
        log_info("container %s stays for a day, to be looked at", run->name);
        run->site->stayed(run->site);
    }
    if (seen->status == DOCKER_NOT_FOUND)
        run->site->is_stale = true;
    docker_run_free(run);
    listener->ended(listener, &end);
}

static void interrupt_run(struct execution *execution)
{
    container_interrupt(&CONTAINER_OF(execution, struct docker_run, execution)->container);
}

static void kill_run(struct execution *execution)
{
    container_kill(&CONTAINER_OF(execution, struct docker_run, execution)->container);
}

/* In seconds, with the start and the end of the container. */
static double longest_life(const struct docker_run *run, const struct execution_request *request)
{
    return docker_site_startup_seconds(run->site) + request->timeout + DOCKER_GRACE_SECONDS +
           (run->stays ? INSPECTION_SECONDS : 0);
}

/* Everybody who may use the engine reads labels. New reference. */
static json_t *digest_of_owner(const char *owner)
{
    struct digest digest;
    char text[DIGEST_TEXT_BYTES];

    digest_init(&digest);
    digest_add_string(&digest, owner);
    digest_finish(&digest, text);
    return json_string(text);
}

static int docker_run_start_container(struct docker_run *run, const struct docker_facts *image,
                                      const struct execution_request *request, struct error *err)
{
    AUTO_FREE char *script = docker_site_script(request);
    AUTO_FREE char *user = docker_site_user(run->site);
    AUTO_FREE char *nonce = random_digits(LAST_WORDS_NONCE);
    AUTO_JSON json_t *mounts = docker_site_mounts(run->site, request, err);
    AUTO_JSON json_t *labels = docker_site_labels(run->site, longest_life(run, request));
    AUTO_JSON json_t *definition = NULL;
    struct docker_container container = docker_site_container(run->site, DOCKER_RUN);

    char **program;

    if (!mounts)
        return -1;
    program = execution_command(run->python, script, request->arguments);
    if (run->stays)
        json_object_set_new(labels, DOCKER_LABEL_STAYS, digest_of_owner(request->owner));
    container.image = image->id;
    container.volumes = image->volumes;
    container.user = user;
    container.nonce = nonce;
    container.seconds = request->timeout + DOCKER_GRACE_SECONDS;
    container.program = (const char *const *)program;
    container.variables = request->variables;
    container.mounts = mounts;
    container.labels = labels;
    container.stays = run->stays;
    definition = docker_container_describe(&container);
    memory_free_strings(program);
    last_words_reader_init(&run->errors, nonce);
    container_start(&run->container, run->site->engine,
                    &(struct container_plan){
                        .name = run->name,
                        .definition = definition,
                        .start_timeout = docker_site_startup_seconds(run->site),
                        .is_told = true,
                        .keep = run->stays,
                    });
    return 0;
}

struct execution *docker_run_start(struct docker_site *site, const struct docker_facts *image,
                                   const struct docker_python_facts *python,
                                   const struct execution_request *request,
                                   struct execution_listener *listener, struct error *err)
{
    struct docker_run *run = NEW(struct docker_run);

    run->execution = (struct execution){
        .listener = listener, .interrupt = interrupt_run, .kill = kill_run, .is_starting = true};
    run->site = site;
    run->container.output = docker_run_on_output;
    run->container.started = docker_run_on_started;
    run->container.ended = docker_run_on_ended;
    run->errors.output = docker_run_on_errors;
    run->python = memory_copy_string(python->program);
    run->name = docker_site_name(site);
    run->stays = json_is_false(json_object_get(site->definition, "cleanup_container"));
    run->started_at = clock_seconds();
    if (docker_run_start_container(run, image, request, err) == 0)
        return &run->execution;
    docker_run_free(run);
    return NULL;
}
