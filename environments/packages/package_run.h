/* One run of an installer, in its sandbox and with its proxy, if it has them. */
#pragma once

#include "base/error.h"

#include <stdbool.h>

/* The first line that `said` of SETTINGS gets if an installer has the machine's network without the
 * operator's permission. */
#define PACKAGE_RUN_OPEN "Reaching all of the network"

struct package_installation;
struct subprocess;
struct subprocess_settings;

/* Starts SETTINGS, which have no sandbox, for INSTALLATION. If it fails and has asked for a host
 * that its sandbox does not reach, the error says so. NULL with ERR. */
struct subprocess *package_run_start(const struct package_installation *installation,
                                     const struct subprocess_settings *settings, struct error *err);

/* True if pip or uv has SAID that it reached no index. */
bool package_run_lacks_index(const char *said);
