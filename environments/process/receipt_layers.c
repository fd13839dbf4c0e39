#include "environments/process/receipt_layers.h"

#include "base/memory.h"

#include <stddef.h>

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
