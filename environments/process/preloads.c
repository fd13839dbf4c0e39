#include "environments/process/preloads.h"

#include "base/json.h"
#include "base/log.h"
#include "base/memory.h"

#include <stdlib.h>
#include <string.h>

enum { REFUSED_MAX = 32 }; /* with more, all modules are tried again */

struct preloads *preloads_new(json_t *names)
{
    struct preloads *preloads = NEW(struct preloads);

    preloads->names = names;
    preloads->refused = json_object();
    preloads->failed = json_object();
    preloads->holders = 1;
    return preloads;
}

struct preloads *preloads_hold(struct preloads *preloads)
{
    if (preloads)
        preloads->holders++;
    return preloads;
}

void preloads_drop(struct preloads *preloads)
{
    if (!preloads || --preloads->holders > 0)
        return;
    json_decref(preloads->names);
    json_decref(preloads->refused);
    json_decref(preloads->failed);
    free(preloads);
}

void preloads_refuse(struct preloads *preloads, const char *name, const char *why)
{
    log_debug("%s is not imported ahead of scripts: %s", name, why);
    if (json_object_size(preloads->refused) >= REFUSED_MAX)
        json_object_clear(preloads->refused);
    json_object_set_new(preloads->refused, name, json_string_repaired(why, strlen(why)));
}

void preloads_fail(struct preloads *preloads, const char *name)
{
    json_object_set_new(preloads->failed, name, json_true());
}
