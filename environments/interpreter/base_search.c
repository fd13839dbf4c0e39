#include "environments/interpreter/base_search.h"

#include "base/cleanup.h"
#include "base/list.h"
#include "base/memory.h"
#include "environments/interpreter/base_python.h"
#include "environments/interpreter/python_version.h"
#include "environments/interpreter/search_path.h"

#include <stdlib.h>

#define BASE_SEARCH_DEFAULT_NAME "python3"

void base_search_cancel(struct base_search *search)
{
    interpreter_deinit(&search->by_name);
    python_finder_deinit(&search->by_version);
    base_python_free(search->base);
    search->base = NULL;
    search->interpreter = NULL;
}

/* INTERPRETER is the result. Its facts may be known from before. */
static void base_search_take(struct base_search *search, const struct interpreter *interpreter)
{
    search->base = base_python_load(search->state, interpreter->candidate);
    search->interpreter = interpreter;
}

static void base_search_on_found(struct interpreter *interpreter, const struct error *err)
{
    struct base_search *search = CONTAINER_OF(interpreter, struct base_search, by_name);

    if (!err)
        base_search_take(search, interpreter);
    search->done(search, err);
}

static void base_search_on_version_found(struct python_finder *finder, const struct error *err)
{
    struct base_search *search = CONTAINER_OF(finder, struct base_search, by_version);

    if (!err)
        base_search_take(search, &finder->interpreter);
    search->done(search, err);
}

static enum outcome find_by_name(struct base_search *search, const char *name, struct error *err)
{
    enum outcome outcome;

    interpreter_init(&search->by_name, search->loop, search->host, name);
    search->by_name.holding = search->holding;
    search->by_name.done = base_search_on_found;
    outcome = interpreter_resolve(&search->by_name, err);
    if (outcome == OUTCOME_READY)
        base_search_take(search, &search->by_name);
    return outcome;
}

static enum outcome find_by_path(struct base_search *search, struct error *err)
{
    search->base = base_python_load(search->state, search->path);
    return search->base ? OUTCOME_READY : find_by_name(search, search->path, err);
}

static enum outcome find_default(struct base_search *search, struct error *err)
{
    AUTO_FREE char *first = search_path_find(BASE_SEARCH_DEFAULT_NAME, 0);

    if (first)
        search->base = base_python_load(search->state, first);
    return search->base ? OUTCOME_READY : find_by_name(search, BASE_SEARCH_DEFAULT_NAME, err);
}

/* Goes through the places as long as their facts are known, so that none has to be run. */
static struct base_python *find_known(const struct base_search *search)
{
    struct base_python *found = NULL;
    struct python_places places;

    python_places_find(&places, search->version);
    for (size_t i = 0; i < places.count && !found; i++) {
        struct base_python *base = base_python_load(search->state, places.paths[i]);

        if (!base)
            break;
        if (python_version_fits(search->version, base->version))
            found = base;
        else
            base_python_free(base);
    }
    python_places_deinit(&places);
    return found;
}

static enum outcome find_by_version(struct base_search *search)
{
    search->base = find_known(search);
    if (search->base)
        return OUTCOME_READY;
    python_finder_init(&search->by_version, search->loop, search->host, search->version);
    search->by_version.holding = search->holding;
    search->by_version.done = base_search_on_version_found;
    python_finder_start(&search->by_version);
    return OUTCOME_PENDING;
}

enum outcome base_search_start(struct base_search *search, struct error *err)
{
    base_search_cancel(search);
    if (search->path)
        return find_by_path(search, err);
    if (search->version)
        return find_by_version(search);
    return find_default(search, err);
}
