/* Reads the fields Content-Type and Accept, as far as they matter here. */
#pragma once

#include <stdbool.h>

/* True when VALUE, of Content-Type, is TYPE, whatever its parameters. */
bool http_type_is(const char *value, const char *type);

/* True when VALUE, of Accept, lists TYPE, such as "text/event-stream"; NULL lists all types. */
bool http_accept_lists(const char *value, const char *type);
