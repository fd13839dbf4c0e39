#include "environments/docker/sweep.h"

#include "base/cleanup.h"
#include "base/fd.h"
#include "base/json.h"
#include "base/list.h"
#include "base/log.h"
#include "base/memory.h"
#include "base/untrusted.h"
#include "environments/docker/image.h"
#include "environments/docker/site.h"
#include "environments/engine/discard.h"
#include "environments/instance.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define DOCKER_SWEEP_AGAIN_SECONDS 3600.
#define LIST_SECONDS               30.

enum { MOST_TO_LOOK_AT = 8 }; /* containers of one client; the oldest go */

static bool has_passed(const json_t *labels, time_t now)
{
    const char *deadline = json_object_get_string(labels, DOCKER_LABEL_DEADLINE);

    return deadline && strtoll(deadline, NULL, 10) < (long long)now;
}

static bool is_of_our_user(const json_t *labels)
{
    const char *owner = json_object_get_string(labels, DOCKER_LABEL_OWNER);

    return owner && strtoul(owner, NULL, 10) == geteuid();
}

/* A container that stays to be looked at has ended, and outlives its server. */
static bool is_to_be_looked_at(const json_t *description, const json_t *labels)
{
    const char *state = json_object_get_string(description, "State");

    return json_object_get(labels, DOCKER_LABEL_STAYS) && state && strcmp(state, "exited") == 0;
}

bool docker_sweep_judge(const json_t *description, const struct instance *instance, time_t now)
{
    const json_t *labels = json_object_get(description, "Labels");
    const char *state = json_object_get_string(labels, DOCKER_LABEL_STATE);
    const char *server = json_object_get_string(labels, DOCKER_LABEL_SERVER);

    if (!state || !server || !is_of_our_user(labels))
        return false;
    if (strcmp(state, instance_state_name(instance)) != 0 ||
        is_to_be_looked_at(description, labels))
        return has_passed(labels, now);
    /* The container of a living server is overdue when the engine was away at its end. */
    return has_passed(labels, now) || !instance_is_alive(instance, server);
}

static json_int_t created_at(const json_t *description)
{
    return json_integer_value(json_object_get(description, "Created"));
}

bool docker_sweep_is_too_many(const json_t *list, size_t index)
{
    const json_t *description = json_array_get(list, index);
    const json_t *labels = json_object_get(description, "Labels");
    const char *client = json_object_get_string(labels, DOCKER_LABEL_STAYS);
    const json_t *other;
    unsigned newer = 0;
    size_t i;

    if (!client || !is_of_our_user(labels) || !is_to_be_looked_at(description, labels))
        return false;
    json_array_foreach (list, i, other) {
        const json_t *others = json_object_get(other, "Labels");
        const char *its = json_object_get_string(others, DOCKER_LABEL_STAYS);

        if (its && strcmp(its, client) == 0 && is_of_our_user(others) &&
            (created_at(other) > created_at(description) ||
             (created_at(other) == created_at(description) && i < index)))
            newer++;
    }
    return newer >= MOST_TO_LOOK_AT;
}

/* The path of the file for TAG. A tag with a slash is not ours, and its file is never found. */
static char *docker_sweep_image_file(const char *state, const char *tag)
{
    return memory_format("%s/docker/images/%s", state, strrchr(tag, ':') + 1);
}

void docker_sweep_mark_image(const char *state, const char *tag)
{
    AUTO_FREE char *folder = memory_format("%s/docker/images", state);
    AUTO_FREE char *path = docker_sweep_image_file(state, tag);
    AUTO_CLOSE int fd = -1;
    struct error err = ERROR_INIT;

    if (fd_make_directories(folder, 0700, &err) < 0) {
        log_warning("%s", err.message);
        return;
    }
    fd = untrusted_open(AT_FDCWD, path, O_WRONLY | O_CREAT, &err);
    if (fd < 0)
        log_warning("%s", err.message); /* at worst the image is made anew some day */
    else
        (void)futimens(fd, NULL);
}

bool docker_sweep_wants_image(const char *state, const char *tag, time_t now)
{
    AUTO_FREE char *path = docker_sweep_image_file(state, tag);
    struct stat status;

    if (lstat(path, &status) < 0) {
        docker_sweep_mark_image(state, tag);
        return true;
    }
    return difftime(now, status.st_mtime) < DOCKER_SWEEP_IMAGE_SECONDS;
}

void docker_sweep_forget_image(const char *state, const char *tag)
{
    AUTO_FREE char *path = docker_sweep_image_file(state, tag);

    (void)unlink(path);
}

static void use_images(const struct docker_sweep *sweep)
{
    for (size_t i = 0; i < ARRAY_SIZE(sweep->used); i++)
        if (sweep->used[i])
            docker_sweep_mark_image(sweep->site->state, sweep->used[i]);
}

void docker_sweep_spare(struct docker_sweep *sweep, const char *built, const char *installed)
{
    sweep->used[0] = built;
    sweep->used[1] = installed;
    use_images(sweep);
}

static void remove_image(const struct docker_sweep *sweep, const char *tag)
{
    AUTO_FREE char *escaped = engine_escape(tag);
    AUTO_FREE char *path = memory_format("/images/%s", escaped);

    log_info("removing image %s, which nothing has used for long", tag);
    docker_sweep_forget_image(sweep->site->state, tag);
    engine_discard(sweep->site->engine, path);
}

static void docker_sweep_on_images(struct engine_request *request,
                                   const struct engine_answer *answer, const struct error *err)
{
    struct docker_sweep *sweep = CONTAINER_OF(request, struct docker_sweep, request);
    const json_t *image;
    size_t i;

    if (err)
        return; /* in an hour, then */
    use_images(sweep);
    json_array_foreach (answer->json, i, image) {
        const char *tag = json_string_value(json_array_get(json_object_get(image, "RepoTags"), 0));

        if (tag && strstr(tag, DOCKER_REPOSITORY ":") &&
            !docker_sweep_wants_image(sweep->site->state, tag, time(NULL)))
            remove_image(sweep, tag);
    }
}

/* Lists the images with the label of our state directory. */
static void list_images(struct docker_sweep *sweep)
{
    AUTO_FREE char *text = memory_format("{\"label\":[\"" DOCKER_LABEL_IMAGE "=%s\"]}",
                                         instance_state_name(sweep->site->instance));
    AUTO_FREE char *filters = engine_escape(text);
    AUTO_FREE char *path = memory_format("/images/json?filters=%s", filters);

    sweep->request = (struct engine_request){.done = docker_sweep_on_images};
    engine_request_start(
        &sweep->request, sweep->site->engine,
        &(struct engine_question){.method = "GET", .path = path, .timeout = LIST_SECONDS});
}

static void docker_sweep_on_list(struct engine_request *request, const struct engine_answer *answer,
                                 const struct error *err)
{
    struct docker_sweep *sweep = CONTAINER_OF(request, struct docker_sweep, request);
    const json_t *description;
    size_t i;

    sweep->is_due = err != NULL;
    if (err) {
        log_debug("cannot look for old containers: %s", err->message);
        return;
    }
    json_array_foreach (answer->json, i, description) {
        const char *id = json_object_get_string(description, "Id");

        if (!id || (!docker_sweep_judge(description, sweep->site->instance, time(NULL)) &&
                    !docker_sweep_is_too_many(answer->json, i)))
            continue;
        log_info("removing container %.12s, whose time is over", id);
        engine_discard_container(sweep->site->engine, id);
    }
    list_images(sweep);
}

static void sweep_now(struct docker_sweep *sweep)
{
    AUTO_FREE char *filters = engine_escape("{\"label\":[\"" DOCKER_LABEL_STATE "\"]}");
    AUTO_FREE char *path = memory_format("/containers/json?all=1&filters=%s", filters);

    engine_request_cancel(&sweep->request);
    sweep->request = (struct engine_request){.done = docker_sweep_on_list};
    engine_request_start(
        &sweep->request, sweep->site->engine,
        &(struct engine_question){.method = "GET", .path = path, .timeout = LIST_SECONDS});
}

static void docker_sweep_on_again(struct ev_loop *loop, ev_timer *timer, int events)
{
    (void)loop;
    (void)events;
    sweep_now(CONTAINER_OF(timer, struct docker_sweep, again));
}

void docker_sweep_init(struct docker_sweep *sweep, struct docker_site *site)
{
    sweep->site = site;
    ev_timer_init(&sweep->again, docker_sweep_on_again, DOCKER_SWEEP_AGAIN_SECONDS,
                  DOCKER_SWEEP_AGAIN_SECONDS);
}

void docker_sweep_begin(struct docker_sweep *sweep)
{
    ev_timer_start(sweep->site->environment->loop, &sweep->again);
    sweep_now(sweep);
}

void docker_sweep_again(struct docker_sweep *sweep)
{
    if (ev_is_active(&sweep->again))
        sweep_now(sweep);
}

void docker_sweep_catch_up(struct docker_sweep *sweep)
{
    if (sweep->is_due)
        sweep_now(sweep);
}

void docker_sweep_stop(struct docker_sweep *sweep)
{
    engine_request_cancel(&sweep->request);
    ev_timer_stop(sweep->site->environment->loop, &sweep->again);
}
