#include "environments/docker/kept_run.h"

#include "base/cleanup.h"
#include "base/json.h"
#include "base/list.h"
#include "base/log.h"

void kept_wait_stop(struct kept_wait *wait)
{
    docker_tree_free(wait->tree);
    json_decref(wait->key);
    *wait = (struct kept_wait){0};
}

static void kept_wait_on_ended(struct docker_tree_owner *owner)
{
    struct kept_wait *wait = CONTAINER_OF(owner, struct kept_wait, owner);

    log_debug("a run that waited in a kept container has ended: %s", wait->tree->end.failure);
    kept_wait_stop(wait);
}

void kept_place_execute(const struct kept_place *place, struct docker_tree *tree,
                        const json_t *definition, bool awaits)
{
    if (place->streams)
        docker_tree_offer_streams(tree, place->streams);
    docker_tree_execute(tree, place->container, definition, awaits);
}

void kept_wait_start(struct kept_wait *wait, const struct kept_place *place, json_t *key)
{
    *wait = (struct kept_wait){.owner.ended = kept_wait_on_ended, .key = key};
    wait->tree = docker_tree_new(place->site, &wait->owner, NULL);
    kept_place_execute(place, wait->tree, key, true);
}

struct docker_tree *kept_wait_take(struct kept_wait *wait)
{
    struct docker_tree *tree = STEAL_PTR(wait->tree);

    kept_wait_stop(wait);
    return tree;
}

enum kept_try kept_try_next(enum kept_try step, const struct docker_tree *tree)
{
    if (tree->go && tree->output.has_not_begun)
        return KEPT_TRY_PLAIN;
    return step == KEPT_TRY_WAITING ? KEPT_TRY_OWN : KEPT_TRY_NONE;
}
