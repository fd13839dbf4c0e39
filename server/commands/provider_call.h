/* One tool call of a model as its provider's API has it, and the tool result that answers it. */
#pragma once

#include "base/error.h"

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

struct provider_form;

struct provider_call {
    const struct provider_form *form; /* of the result; never NULL once it is read */
    json_t *object;                   /* owned: the call as it came, or NULL */
    const char *id;                   /* borrowed from OBJECT; "" where it has none */
    const char *name;                 /* of the tool; borrowed from `object`; "" where it has
                                         none */
    json_t *arguments;                /* owned: an object, or NULL */
};

/* Reads TEXT as a call of PROVIDER or, for NULL, of the provider whose call it is. -1 with
 * ERROR_INVALID_ARGUMENTS or ERROR_USAGE, which the model can read: CALL is then good for
 * provider_call_result() all the same, as far as its provider and its id could be told; the
 * provider is openai where it could not. */
int provider_call_read(struct provider_call *call, const char *text, size_t length,
                       const char *provider, struct error *err);
void provider_call_deinit(struct provider_call *call);

/* Whether a result of CALL can show images. */
bool provider_call_takes_images(const struct provider_call *call);

/* The result of CALL: CONTENT has the content blocks of a tool of MCP. New reference. */
json_t *provider_call_result(const struct provider_call *call, const json_t *content,
                             bool is_error);
