/* The sandbox of an installer of packages, and so of everything that a package runs while it is
 * built: it changes the venv and its own temporary files, reads its settings and where packages
 * come from, and has the network of the machine for the index. */
#pragma once

#include "environments/interpreter/tool_sandbox.h"

struct package_installation;

/* For the installer that INSTALLATION starts with ARGUMENTS and VARIABLES, both NULL-terminated.
 * Freed with tool_sandbox_deinit. */
void installer_sandbox_init(struct tool_sandbox *tool,
                            const struct package_installation *installation,
                            const char *const *arguments, const char *const *variables);
