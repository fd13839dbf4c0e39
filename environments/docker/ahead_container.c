#include "environments/docker/ahead_container.h"

#include "base/cleanup.h"
#include "base/log.h"
#include "base/memory.h"
#include "base/random.h"
#include "environments/docker/order.h"
#include "environments/docker/site.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { CODE_NAME_DIGITS = 16 };

/* Output before there is a script, such as a warning of the image's Python, would be lost. */
static void ahead_container_on_printed(struct execution_listener *listener,
                                       enum process_stream stream, const char *data, size_t length)
{
    struct ahead_container *container = CONTAINER_OF(listener, struct ahead_container, listener);

    (void)stream;
    (void)data;
    (void)length;
    container->has_printed = true;
    docker_tree_kill(container->tree);
}

static void ahead_container_on_ended(struct docker_tree_owner *owner)
{
    struct ahead_container *container = CONTAINER_OF(owner, struct ahead_container, owner);

    log_debug("container ahead %s: it has ended: %s", container->tree->name,
              container->tree->end.failure);
    container->over(container);
}

/* Makes an empty file for code, beside the code file of ORDER, where only the server writes. */
static int make_code_file(struct ahead_container *container, const struct docker_order *order,
                          struct error *err)
{
    const char *beside = order->request.code_file;
    AUTO_FREE char *digits = random_digits(CODE_NAME_DIGITS);
    const int folder = (int)(strrchr(beside, '/') - beside);

    container->code_file = memory_format("%.*s/%s", folder, beside, digits);
    container->code =
        docker_script_file_new(container->code_file, "", 0, docker_order_reader(order), err);
    return container->code < 0 ? -1 : 0;
}

struct ahead_container *ahead_container_new(const struct docker_order *order, json_t *key,
                                            struct error *err)
{
    struct ahead_container *container = NEW(struct ahead_container);
    struct docker_order_container own = {.idle_seconds = WAITING_SECONDS};

    waiting_init(&container->waiting);
    container->key = key;
    container->directory = memory_copy_string(order->request.directory);
    container->code = -1;
    container->owner.ended = ahead_container_on_ended;
    container->listener.output = ahead_container_on_printed;
    container->tree = docker_tree_new(order->site, &container->owner, &container->listener);
    if (make_code_file(container, order, err) == 0) {
        own.code_file = container->code_file;
        if (docker_tree_start(container->tree, order, own, err) == 0)
            return container;
    }
    ahead_container_free(container);
    return NULL;
}

void ahead_container_free(struct ahead_container *container)
{
    if (!container)
        return;
    docker_tree_free(container->tree);
    waiting_withdraw(&container->waiting);
    if (container->code >= 0) {
        (void)unlink(container->code_file);
        close(container->code);
    }
    docker_go_deinit(&container->go);
    json_decref(container->key);
    free(container->directory);
    free(container->code_file);
    free(container);
}

struct docker_tree *ahead_container_take(struct ahead_container *container, const char *code,
                                         size_t length, struct error *err)
{
    if (docker_go_put(&container->go, container->tree->site, container->code, code, length, err) <
        0)
        return NULL;
    return STEAL_PTR(container->tree);
}
