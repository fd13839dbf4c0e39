/* Checks between the keys of a configuration, which JSON Schema cannot express. */
#pragma once

#include "server/configuration/config.h"
#include "server/configuration/yaml_tree.h"

#include <jansson.h>

/* Complains about the settings of a client, which are not for the server. */
void config_checks_client(struct config *config, const json_t *root);

/* Complains about keys that contradict each other and fills in `default_environment`. ROOT is TREE
 * with its defaults; members of the wrong type are passed over. */
void config_checks_relations(struct config *config, const struct yaml_tree *tree, json_t *root);
