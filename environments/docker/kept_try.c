#include "environments/docker/kept_try.h"

#include "environments/docker/tree.h"

enum kept_try kept_try_next(enum kept_try step, const struct docker_tree *tree)
{
    if (tree->go && tree->output.has_not_begun)
        return KEPT_TRY_PLAIN;
    return step == KEPT_TRY_WAITING ? KEPT_TRY_OWN : KEPT_TRY_NONE;
}
