/* A tool in the form that a provider of language models wants for function calling, made from the
 * schema that MCP clients see. */
#pragma once

#include "base/error.h"

#include <jansson.h>

struct provider;

/* A function that a model may call. Everything is borrowed. */
struct provider_function {
    const char *name;
    const char *title;
    const char *description;
    const json_t *input_schema;  /* in the common subset: an object of strings and numbers, and of
                                    optional objects, which strict forms leave out */
    const json_t *output_schema; /* or NULL */
    const json_t *annotations;
};

/* The provider called NAME, or NULL with ERROR_USAGE and the names there are. */
const struct provider *provider_find(const char *name, struct error *err);

/* FUNCTION in PROVIDER's form. New reference. */
json_t *provider_declare(const struct provider *provider, const struct provider_function *function);
