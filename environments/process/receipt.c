#include "environments/process/receipt.h"

#include "base/memory.h"
#include "base/text.h"

#include <string.h>

unsigned process_receipt_absent(const struct process_receipt *receipt)
{
    return receipt->asked & ~receipt->layers;
}

bool process_receipt_add_missing(json_t *missing, const char *what)
{
    const json_t *known;
    size_t i;

    json_array_foreach (missing, i, known)
        if (strcmp(json_string_value(known), what) == 0)
            return false;
    json_array_append_new(missing, json_string(what));
    return true;
}

bool process_receipt_is_replaced(const char *what)
{
    return text_starts_with(what, MISSING_MEMORY_CGROUP) ||
           text_starts_with(what, MISSING_PROCESS_CGROUP);
}

enum isolation process_receipt_isolation(const struct process_receipt *receipt)
{
    if (receipt->layers & LAYER_CONTAINER)
        return ISOLATION_DOCKER;
    return receipt->layers & LAYERS_OF_FILES ? ISOLATION_SANDBOX : ISOLATION_NONE;
}

const char *process_receipt_tree(const struct process_receipt *receipt)
{
    static const struct {
        enum process_layer layer;
        const char *name;
    } layers[] = {
        {LAYER_CONTAINER, "container"},
        {LAYER_PID_NAMESPACE, "pid namespace"},
        {LAYER_CGROUP_KILL, "cgroup"},
        {LAYER_LANDLOCK, "landlock"},
    };

    for (size_t i = 0; i < ARRAY_SIZE(layers); i++)
        if (receipt->layers & layers[i].layer)
            return layers[i].name;
    return "best effort";
}

const char *process_limiter_name(enum process_limiter limiter)
{
    static const char *const names[] = {
        [LIMITER_RLIMITS] = "rlimits",
        [LIMITER_CGROUP_V1] = "cgroup v1",
        [LIMITER_CGROUP_V2] = "cgroup v2",
        [LIMITER_CONTAINER] = "container",
    };

    return names[limiter];
}

json_t *process_receipt_containment(const struct process_receipt *receipt)
{
    json_t *missing = receipt->missing ? json_copy((json_t *)receipt->missing) : json_array();

    return json_pack("{s:s, s:s, s:o, s:O*, s:O*}",                    //
                     "process_tree", process_receipt_tree(receipt),    //
                     "limits", process_limiter_name(receipt->limiter), //
                     "missing", missing,                               //
                     "devices", receipt->devices, "node", receipt->node);
}

/* The layers of a sandbox */

static const struct {
    enum process_layer layer;
    const char *name;
} layer_names[] = {
    {LAYER_ROOT, "own root directory"}, {LAYER_NETWORK, "own network"}, {LAYER_FILES, "file rules"},
    {LAYER_CALLS, "system calls"},      {LAYER_CONTAINER, "container"}, /* alone */
};

const char *process_layer_name(enum process_layer layer)
{
    for (size_t i = 0; i < ARRAY_SIZE(layer_names); i++)
        if (layer_names[i].layer == layer)
            return layer_names[i].name;
    return "";
}

json_t *process_layer_names(unsigned layers)
{
    json_t *names = json_array();

    for (size_t i = 0; i < ARRAY_SIZE(layer_names); i++)
        if (layers & layer_names[i].layer)
            json_array_append_new(names, json_string(layer_names[i].name));
    return names;
}

static const char *process_layer_state(const struct process_receipt *receipt,
                                       enum process_layer layer)
{
    if (receipt->layers & layer)
        return "enforced";
    return receipt->asked & layer ? "absent" : "not asked for";
}

json_t *process_receipt_layers(const struct process_receipt *receipt)
{
    const bool is_container = receipt->layers & LAYER_CONTAINER;
    json_t *layers = json_object();

    for (size_t i = 0; i < ARRAY_SIZE(layer_names); i++)
        if (is_container == (layer_names[i].layer == LAYER_CONTAINER))
            json_object_set_new(layers, layer_names[i].name,
                                json_string(process_layer_state(receipt, layer_names[i].layer)));
    return layers;
}
