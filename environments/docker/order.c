#include "environments/docker/order.h"

#include "base/cleanup.h"
#include "base/digest.h"
#include "base/json.h"
#include "base/log.h"
#include "base/memory.h"
#include "environments/docker/direct_streams.h"
#include "environments/docker/image.h"
#include "environments/docker/site.h"
#include "environments/docker/volume.h"

#include <fcntl.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#define INSPECTION_SECONDS 86400. /* how long a container stays to be looked at */

static char *docker_order_copy(const char *text)
{
    return text ? memory_copy_string(text) : NULL;
}

struct docker_order *docker_order_new(struct docker_site *site, const struct docker_facts *image,
                                      const char *python, const struct execution_request *request)
{
    struct docker_order *order = NEW(struct docker_order);

    order->site = site;
    order->image = image;
    order->python = memory_copy_string(python);
    order->stays = !site->definition.cleanup_container;
    order->request = *request;
    order->request.code = NULL;
    order->request.code_length = 0;
    order->request.directory = memory_copy_string(request->directory);
    order->request.script = docker_order_copy(request->script);
    order->request.text = docker_order_copy(request->text);
    order->request.program = docker_order_copy(request->program);
    order->request.code_file = docker_order_copy(request->code_file);
    order->request.kernel = docker_order_copy(request->kernel);
    order->request.owner = docker_order_copy(request->owner);
    order->request.variables = (const char *const *)memory_copy_strings(request->variables);
    order->request.arguments = (const char *const *)memory_copy_strings(request->arguments);
    return order;
}

void docker_order_free(struct docker_order *order)
{
    if (!order)
        return;
    free(order->python);
    free((char *)order->request.directory);
    free((char *)order->request.script);
    free((char *)order->request.text);
    free((char *)order->request.program);
    free((char *)order->request.code_file);
    free((char *)order->request.kernel);
    free((char *)order->request.owner);
    memory_free_strings((char **)order->request.variables);
    memory_free_strings((char **)order->request.arguments);
    free(order);
}

/* In seconds, including the start and the end of the container. */
static double longest_life(const struct docker_order *order, double idle_seconds)
{
    return order->site->definition.container_startup_timeout + idle_seconds +
           order->request.timeout + DOCKER_GRACE_SECONDS + (order->stays ? INSPECTION_SECONDS : 0);
}

/* Every user of the engine can read labels, so the owner is not named. New reference. */
static json_t *digest_of_owner(const char *owner)
{
    struct digest digest;
    char text[DIGEST_TEXT_BYTES];

    digest_init(&digest);
    digest_add_string(&digest, owner);
    digest_finish(&digest, text);
    return json_string(text);
}

/* New reference. */
static json_t *docker_order_labels(const struct docker_order *order, double idle_seconds)
{
    json_t *labels = docker_site_labels(order->site, longest_life(order, idle_seconds));

    if (order->stays)
        json_object_set_new(labels, DOCKER_LABEL_STAYS, digest_of_owner(order->request.owner));
    return labels;
}

/* Python could load files that scripts have put into such a volume. */
static bool has_writable_volume(const json_t *volumes)
{
    const char *path;
    json_t *volume;

    json_object_foreach ((json_t *)volumes, path, volume) {
        if (docker_volume_read(path, volume).is_writable)
            return true;
    }
    return false;
}

/* For memory_free_strings. */
static char **docker_order_command(const struct docker_order *order)
{
    const struct execution_request *request = &order->request;
    AUTO_FREE char *script = NULL;

    if (request->program)
        return execution_program_command(order->python, request);
    script = docker_site_script(request);
    return execution_command(order->python, script, request);
}

void docker_order_offer_streams(const struct docker_order *order, const char *code_file,
                                struct direct_streams *streams)
{
    AUTO_FREE char *path = memory_format("%s.sock", code_file);
    struct error err = ERROR_INIT;

    if (docker_site_is_remote(order->site))
        return;
    if (direct_streams_offer(streams, path, &err) < 0)
        log_debug("no direct streams: %s", err.message);
}

const uid_t *docker_order_reader(const struct docker_order *order)
{
    return order->has_own_user ? &order->uid : NULL;
}

static json_t *docker_order_describe_with(const struct docker_order *order,
                                          const struct docker_order_container *own, json_t *labels,
                                          struct error *err)
{
    struct execution_request request = order->request;
    AUTO_FREE char *user = docker_site_user(order->site);
    AUTO_JSON json_t *mounts = NULL;
    struct docker_container container = docker_site_container(order->site, DOCKER_RUN);
    char **program;
    json_t *description;

    request.code_file = own->code_file;
    mounts = docker_site_mounts(order->site, &request, err);
    if (!mounts)
        return NULL;
    if (own->streams)
        json_array_append_new(mounts, docker_mount(own->streams, DOCKER_STREAMS, false));
    program = docker_order_command(order);
    container.image = order->image->id;
    container.volumes = order->image->volumes;
    container.user = user;
    container.seconds = request.timeout + DOCKER_GRACE_SECONDS;
    container.idle_seconds = own->idle_seconds;
    container.streams = own->streams ? DOCKER_STREAMS : NULL;
    container.needs_tools = own->needs_tools;
    container.is_session = request.program != NULL;
    container.has_gate = !has_writable_volume(order->site->definition.volumes);
    container.program = (const char *const *)program;
    container.variables = request.variables;
    container.mounts = mounts;
    container.labels = labels;
    container.stays = order->stays;
    description = docker_container_describe(&container);
    memory_free_strings(program);
    return description;
}

json_t *docker_order_describe(const struct docker_order *order,
                              const struct docker_order_container *container, struct error *err)
{
    AUTO_JSON json_t *labels = docker_order_labels(order, container->idle_seconds);

    return docker_order_describe_with(order, container, labels, err);
}

json_t *docker_order_identity(const char *source)
{
    struct stat status;

    if (fstatat(AT_FDCWD, source, &status, AT_SYMLINK_NOFOLLOW) < 0)
        return json_null();
    return json_string_format("%ju %ju", (uintmax_t)status.st_dev, (uintmax_t)status.st_ino);
}

json_t *docker_order_key(const struct docker_order *order, struct error *err)
{
    const struct docker_order_container nobody = {.code_file = ""};
    AUTO_JSON json_t *no_labels = json_object();
    json_t *key = docker_order_describe_with(order, &nobody, no_labels, err);
    json_t *mount;
    size_t i;

    json_array_foreach (json_object_get(json_object_get(key, "HostConfig"), "Mounts"), i, mount) {
        const char *source = json_object_get_string(mount, "Source");

        if (source)
            json_object_set_new(mount, "Identity", docker_order_identity(source));
    }
    return key;
}
