/* The layers of a sandbox in words: which of them held a run. */
#pragma once

#include "environments/process/receipt.h"

#include <jansson.h>

/* "own network" for LAYER_NETWORK; only of layers of a sandbox. Static storage. A text of what is
 * missing that is about a layer begins with its name and ": ". */
const char *process_layer_name(enum process_layer layer);

/* The names of those in LAYERS. New reference. */
json_t *process_layer_names(unsigned layers);

/* {NAME: "enforced", "absent" or "not asked for"}; of a container {"container": "enforced"}. New
 * reference. */
json_t *process_receipt_layers(const struct process_receipt *receipt);
