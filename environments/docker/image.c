#include "environments/docker/image.h"

#include "base/cleanup.h"
#include "base/json.h"
#include "base/list.h"
#include "base/memory.h"
#include "base/state.h"
#include "base/text.h"
#include "environments/docker/site.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#define IMAGE_INSPECT_SECONDS 30.

void docker_facts_deinit(struct docker_facts *facts)
{
    free(facts->id);
    json_decref(facts->volumes);
    *facts = (struct docker_facts){0};
}

void docker_facts_read(struct docker_facts *facts, const json_t *answer)
{
    const char *id = json_object_get_string(answer, "Id");
    const json_t *volumes = json_object_get(json_object_get(answer, "Config"), "Volumes");
    const char *path;
    json_t *nothing;

    docker_facts_deinit(facts);
    facts->id = memory_copy_string(text_or_none(id));
    facts->volumes = json_array();
    json_object_foreach ((json_t *)volumes, path, nothing) {
        json_array_append_new(facts->volumes, json_string(path));
    }
}

char *docker_image_path(const char *name)
{
    AUTO_FREE char *escaped = engine_escape(name);

    return memory_format("/images/%s/json", escaped);
}

/* Programs for another kind of machine fail with messages that do not say so. */
static int check_architecture(const struct docker_image *image, const json_t *answer,
                              struct error *err)
{
    const char *built_for = json_object_get_string(answer, "Architecture");
    const char *engine = image->site->architecture;

    if (!built_for || !*built_for || !engine || strcmp(built_for, engine) == 0)
        return 0;
    return error_set(err, ERROR_UNAVAILABLE, "image %s is for %s, the engine's machine is %s",
                     image->name, built_for, engine);
}

static const struct state docker_image_states[] = {
    [DOCKER_IMAGE_IDLE] = {"idle", 1 << DOCKER_IMAGE_READING | 1 << DOCKER_IMAGE_LOOKING |
                                       1 << DOCKER_IMAGE_FETCHING},
    [DOCKER_IMAGE_READING] = {"reading", 1 << DOCKER_IMAGE_LOOKING | 1 << DOCKER_IMAGE_FETCHING |
                                             1 << DOCKER_IMAGE_IDLE},
    [DOCKER_IMAGE_LOOKING] = {"looking", 1 << DOCKER_IMAGE_FETCHING | 1 << DOCKER_IMAGE_IDLE},
    [DOCKER_IMAGE_FETCHING] = {"fetching", 1 << DOCKER_IMAGE_INSPECTING | 1 << DOCKER_IMAGE_IDLE},
    [DOCKER_IMAGE_INSPECTING] = {"inspecting", 1 << DOCKER_IMAGE_IDLE},
};

static void docker_image_set_state(struct docker_image *image, enum docker_image_state state)
{
    state_change(docker_image_states, image->state, state, "image %s",
                 image->name ? image->name : "to be built");
    image->state = state;
}

/* The one way out but for cancelling. */
static void image_finish(struct docker_image *image, const struct error *err)
{
    docker_image_set_state(image, DOCKER_IMAGE_IDLE);
    image->done(image, err);
}

static bool image_is_built(const struct docker_image *image)
{
    return image->site->definition.dockerfile;
}

static void image_ask(struct docker_image *image, enum docker_image_state state);

/* Fetching */

static void image_on_fetched(struct docker_image *image, const struct error *err)
{
    if (err)
        image_finish(image, err);
    else
        image_ask(image, DOCKER_IMAGE_INSPECTING);
}

static void image_on_pulled(struct docker_pull *pull, const struct error *err)
{
    image_on_fetched(CONTAINER_OF(pull, struct docker_image, pull), err);
}

static void image_on_built(struct docker_build *build, const struct error *err)
{
    image_on_fetched(CONTAINER_OF(build, struct docker_image, build), err);
}

static void image_build(struct docker_image *image)
{
    struct error err = ERROR_INIT;

    image->build.done = image_on_built;
    if (docker_build_start(&image->build, image->site, image->name, &err) < 0)
        image_finish(image, &err);
}

static void image_fetch(struct docker_image *image)
{
    docker_image_set_state(image, DOCKER_IMAGE_FETCHING);
    if (image_is_built(image)) {
        image_build(image);
        return;
    }
    image->pull.done = image_on_pulled;
    docker_pull_start(&image->pull, image->site, image->name);
}

/* Looking */

static int image_fetch_missing(struct docker_image *image, struct error *err)
{
    if (image->state == DOCKER_IMAGE_INSPECTING)
        return error_set(err, ERROR_UNAVAILABLE, "image %s was removed as soon as it was fetched",
                         image->name);
    if (!image_is_built(image) && strcmp(image->site->definition.pull, "never") == 0)
        return error_set(
            err, ERROR_UNAVAILABLE,
            "the engine does not have image %s, and with `pull: never` does not get it",
            image->name);
    image_fetch(image);
    return 0;
}

static void image_on_missing(struct docker_image *image)
{
    struct error err = ERROR_INIT;

    if (image_fetch_missing(image, &err) < 0)
        image_finish(image, &err);
}

static void image_on_answer(struct engine_request *request, const struct engine_answer *answer,
                            const struct error *err)
{
    struct docker_image *image = CONTAINER_OF(request, struct docker_image, request);
    struct error wrong = ERROR_INIT;

    if (err && answer->status == DOCKER_NOT_FOUND) {
        image_on_missing(image);
        return;
    }
    if (!err && check_architecture(image, answer->json, &wrong) < 0)
        err = &wrong;
    if (!err)
        docker_facts_read(&image->facts, answer->json);
    image_finish(image, err);
}

/* Asks the engine about the image. */
static void image_ask(struct docker_image *image, enum docker_image_state state)
{
    AUTO_FREE char *path = docker_image_path(image->name);

    docker_image_set_state(image, state);
    environment_step(image->site->environment, -1, "looking for image %s", image->name);
    image->request = (struct engine_request){.done = image_on_answer};
    engine_request_start(
        &image->request, image->site->engine,
        &(struct engine_question){.method = "GET", .path = path, .timeout = IMAGE_INSPECT_SECONDS});
}

static void find_or_fetch(struct docker_image *image)
{
    if (strcmp(image->site->definition.pull, "always") == 0)
        image_fetch(image);
    else
        image_ask(image, DOCKER_IMAGE_LOOKING);
}

/* The tag of an image that is built is the digest of its context. */
static void image_on_context(struct docker_context *context, const struct error *err)
{
    struct docker_image *image = CONTAINER_OF(context, struct docker_image, context);

    if (err) {
        image_finish(image, err);
        return;
    }
    image->name = memory_format(DOCKER_REPOSITORY ":%s", context->key);
    find_or_fetch(image);
}

int docker_image_start(struct docker_image *image, struct docker_site *site, struct error *err)
{
    image->site = site;
    image->context.done = image_on_context;
    free(image->name);
    image->name = NULL;
    if (!image_is_built(image)) {
        image->name = memory_copy_string(site->definition.image);
        find_or_fetch(image);
        return 0;
    }
    if (docker_context_start(&image->context, site, err) < 0)
        return -1;
    docker_image_set_state(image, DOCKER_IMAGE_READING);
    return 0;
}

void docker_image_cancel(struct docker_image *image)
{
    if (image->state == DOCKER_IMAGE_IDLE)
        return;
    docker_image_set_state(image, DOCKER_IMAGE_IDLE);
    engine_request_cancel(&image->request);
    docker_pull_cancel(&image->pull);
    docker_context_cancel(&image->context);
    docker_build_cancel(&image->build);
}

void docker_image_deinit(struct docker_image *image)
{
    docker_image_cancel(image);
    docker_context_deinit(&image->context);
    docker_facts_deinit(&image->facts);
    free(image->name);
    image->name = NULL;
}
