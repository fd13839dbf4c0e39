/* The layers of a sandbox in words, and how a receipt shows them. */
#pragma once

#include "environments/process/receipt.h"

#include <jansson.h>

/* "own network" for LAYER_NETWORK; "" if it is no layer of a sandbox or container. Static storage.
 * The text of a missing layer begins with its name and ": ". */
const char *process_layer_name(enum process_layer layer);

/* The names of the layers in LAYERS. New reference. */
json_t *process_layer_names(unsigned layers);

/* {NAME: "enforced", "absent" or "not asked for"}; of a container {"container": "enforced"}. New
 * reference. */
json_t *process_receipt_layers(const struct process_receipt *receipt);
