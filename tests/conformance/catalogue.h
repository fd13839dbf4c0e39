/* What the official conformance suite expects a server to offer: tools, prompts and resources that
 * do on demand whatever these can do. Each part has a file; none of them knows of a revision. */
#pragma once

#include "server/tools/registry.h"

#include <jansson.h>

struct invocation;
struct tool;

void catalogue_add_content_tools(struct registry *registry);
void catalogue_add_telling_tools(struct registry *registry);
void catalogue_add_asking_tools(struct registry *registry);
void catalogue_add_task_tools(struct registry *registry);
void catalogue_add_changing_tools(struct registry *registry);
void catalogue_add_prompts(struct registry *registry);
void catalogue_add_resources(struct registry *registry);

/* For these files. */

/* The JSON in TEXT, a literal that quotes with ' instead of ". New reference. */
json_t *catalogue_json(const char *text);

/* The schema of an object with PROPERTIES (as for catalogue_json), of which those without a default
 * are required. New reference. */
json_t *catalogue_object(const char *properties);

/* Registers TOOL, with REGISTRY as its data. Without an input schema of its own it gets that of an
 * object with PROPERTIES, or with none for NULL. */
void catalogue_add_tool(struct registry *registry, const struct tool *tool, const char *properties);

/* A whole answer in one line. */
void catalogue_answer(struct invocation *invocation, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* A picture, as a content block. New reference. */
json_t *catalogue_image(void);
