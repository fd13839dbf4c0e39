/* Where the server tells how it is, as the operator writes it: `http://HOST:PORT` of a loopback
 * address, or `unix:///PATH`. */
#pragma once

#include "base/error.h"

/* The same as an address that address_parse() reads; owned by the caller. NULL with ERROR_CONFIG
 * for anything that others than this machine could reach. */
char *admin_address_read(const char *text, struct error *err);
