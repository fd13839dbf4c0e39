#include "environments/interpreter/script_places.h"

#include "base/memory.h"
#include "environments/interpreter/python_needs.h"

#include <stddef.h>
#include <string.h>

void script_places_add(struct script_places *places, const char *const *more)
{
    size_t count = 0;
    size_t added = 0;

    while (places->paths && places->paths[count])
        count++;
    while (more && more[added])
        added++;
    places->paths = memory_resize(places->paths, (count + added + 1) * sizeof *places->paths);
    for (size_t i = 0; i < added; i++)
        places->paths[count + i] = memory_copy_string(more[i]);
    places->paths[count + added] = NULL;
}

void script_places_deinit(struct script_places *places)
{
    memory_free_strings(places->paths);
    *places = (struct script_places){0};
}

/* True for real paths, of which INNER may be PLACE itself. */
static bool script_place_holds(const char *place, const char *inner)
{
    const size_t length = strcmp(place, "/") == 0 ? 0 : strlen(place);

    return strncmp(inner, place, length) == 0 && (inner[length] == '/' || !inner[length]);
}

static const char *script_places_find(const struct script_places *places, char *const *way)
{
    for (; *way; way++)
        for (char *const *place = places->paths; *place; place++)
            if (script_place_holds(*place, *way))
                return *place;
    return NULL;
}

const char *script_places_reach(const struct script_places *places, const char *path)
{
    const char *found;
    char **way;

    if (!places || !places->paths || *path != '/')
        return NULL;
    way = python_needs_way(path);
    found = script_places_find(places, way);
    memory_free_strings(way);
    return found;
}

bool script_places_hold(const struct script_places *places, const char *path)
{
    for (char *const *place = places ? places->paths : NULL; place && *place; place++)
        if (script_place_holds(*place, path))
            return true;
    return false;
}
