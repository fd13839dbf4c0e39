/* What the fields Content-Type and Accept say, as far as it matters here. */
#pragma once

#include <stdbool.h>

/* True when VALUE, of Content-Type, is TYPE, whatever its parameters. */
bool http_type_is(const char *value, const char *type);

/* True when TYPE, "text/event-stream", is among those that VALUE, of Accept, lists; NULL lists all
 * of them. */
bool http_accept_lists(const char *value, const char *type);
