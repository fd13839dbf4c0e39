#include "environments/docker/kept_ask.h"

#include "environments/docker/site.h"
#include "environments/engine/go.h"

void kept_ask_begin(struct kept_ask *ask, enum kept_try step)
{
    *ask = (struct kept_ask){
        .go = ask->go,
        .step = step,
        .is_for_it = true,
        .has_begun = step == KEPT_TRY_PLAIN,
    };
}

void kept_ask_send(struct kept_ask *ask, struct exec *exec, const struct docker_site *site)
{
    struct docker_go refusal = {0};

    ask->is_asked = ask->is_for_it;
    if (ask->is_asked) {
        docker_go_tell_exec(&ask->go, exec);
        return;
    }
    docker_go_refuse(&refusal, site);
    docker_go_tell_exec(&refusal, exec);
    docker_go_deinit(&refusal);
}

bool kept_ask_skip_answer(struct kept_ask *ask, enum frame_stream stream, const char **data,
                          size_t *length)
{
    if (!ask->is_asked || ask->answered[stream])
        return ask->has_begun;
    if (*length == 0 || **data != GO_ANSWER)
        return false;
    ask->answered[stream] = ask->has_begun = true;
    ++*data;
    --*length;
    return true;
}

void kept_ask_dismiss(const struct kept_ask *ask, struct exec *exec)
{
    if (ask->step != KEPT_TRY_PLAIN)
        docker_go_dismiss_exec(&ask->go, exec);
}

/* An engine that does not know the run any more has handed over all its output before. */
static bool kept_ask_output_is_whole(const struct container_end *end)
{
    return !*end->failure || end->status == DOCKER_NOT_FOUND;
}

bool kept_ask_never_began(const struct kept_ask *ask, const struct container_end *end)
{
    if (ask->step == KEPT_TRY_PLAIN)
        return !end->started && end->status != 0;
    return !ask->has_begun && (!ask->is_asked || kept_ask_output_is_whole(end));
}

bool kept_ask_is_lost(const struct kept_ask *ask, const struct container_end *end)
{
    return !ask->has_begun && !kept_ask_never_began(ask, end);
}

enum kept_try kept_ask_next(const struct kept_ask *ask, const struct container_end *end)
{
    if (ask->is_asked && !*end->failure && end->exit_code == GO_NOT_BEGUN)
        return KEPT_TRY_PLAIN;
    return ask->step == KEPT_TRY_WAITING ? KEPT_TRY_OWN : KEPT_TRY_NONE;
}
