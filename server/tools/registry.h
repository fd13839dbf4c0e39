/* The tools of one server, in the order in which they were registered. */
#pragma once

#include "server/tools/tool.h"

struct schema;

struct registry *registry_new(void);
void registry_free(struct registry *registry);

/* Borrowed, or NULL. */
const struct tool *registry_find(const struct registry *registry, const char *name);

size_t registry_count(const struct registry *registry);

/* The tool at POSITION (< registry_count), borrowed: tools/list has a stable order. */
const struct tool *registry_at(const struct registry *registry, size_t position);

/* The compiled input schema of TOOL, which is in a registry. Borrowed. */
const struct schema *registry_input_schema(const struct tool *tool);
