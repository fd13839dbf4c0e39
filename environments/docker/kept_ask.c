#include "environments/docker/kept_ask.h"

#include "environments/docker/site.h"

void kept_ask_begin(struct kept_ask *ask, enum kept_try step)
{
    *ask = (struct kept_ask){.go = ask->go, .step = step, .is_for_it = true};
}

void kept_ask_send(struct kept_ask *ask, struct exec *exec)
{
    ask->is_asked = ask->is_for_it;
    if (ask->is_asked)
        docker_go_tell_exec(&ask->go, exec);
    else
        exec_dismiss(exec);
}

/* An engine that does not know the run any more has handed over all its output before. */
static bool kept_ask_output_is_whole(const struct container_end *end)
{
    return !*end->failure || end->status == DOCKER_NOT_FOUND;
}

bool kept_ask_never_began(const struct kept_ask *ask, const struct docker_output *output,
                          const struct container_end *end)
{
    if (ask->step == KEPT_TRY_PLAIN)
        return !end->started && end->status != 0;
    return !output->has_begun &&
           (!ask->is_asked || output->has_not_begun || kept_ask_output_is_whole(end));
}

bool kept_ask_is_lost(const struct kept_ask *ask, const struct docker_output *output,
                      const struct container_end *end)
{
    return ask->step != KEPT_TRY_PLAIN && !output->has_begun &&
           !kept_ask_never_began(ask, output, end);
}

enum kept_try kept_ask_next(const struct kept_ask *ask, const struct docker_output *output)
{
    if (ask->is_asked && output->has_not_begun)
        return KEPT_TRY_PLAIN;
    return ask->step == KEPT_TRY_WAITING ? KEPT_TRY_OWN : KEPT_TRY_NONE;
}
