/* One run of an installer, in its sandbox and with its proxy, if it has them. */
#pragma once

#include "base/error.h"

/* What SETTINGS are told first of an installer with the machine's network that nobody opened. */
#define PACKAGE_RUN_OPEN "Reaching all of the network"

struct package_installation;
struct subprocess;
struct subprocess_settings;

/* Starts SETTINGS, which say nothing of a sandbox, for INSTALLATION. When it fails and has asked
 * for a place that its sandbox does not reach, the error tells. NULL with ERR. */
struct subprocess *package_run_start(const struct package_installation *installation,
                                     const struct subprocess_settings *settings, struct error *err);
