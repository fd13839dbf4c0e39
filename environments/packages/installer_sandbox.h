/* The sandbox of an installer of packages, and so of everything that a package runs while it is
 * built: it changes the venv and its own temporary files, reads its settings and where packages
 * come from, and reaches the indexes that these settings name, or the default one, and what scripts
 * do. */
#pragma once

#include "base/error.h"
#include "environments/interpreter/tool_sandbox.h"

struct egress;
struct package_installation;

struct installer_sandbox {
    struct tool_sandbox tool;
    bool is_uv;
    bool no_index;    /* it is told to ask none */
    bool lacks_index; /* nothing says which one it asks */
    char **indexes;   /* owned: "HOST:PORT", NULL-terminated */
    char **
        claimed; /* owned, likewise: by a Python that is not believed, where nothing else says it */
    char **proxies;  /* owned: see installer_proxies.h */
    char *pip_proxy; /* owned: what pip is told beside its variables, or NULL */
};

/* For the installer that INSTALLATION starts with ARGUMENTS and VARIABLES, both NULL-terminated. */
void installer_sandbox_init(struct installer_sandbox *box,
                            const struct package_installation *installation,
                            const char *const *arguments, const char *const *variables);
void installer_sandbox_deinit(struct installer_sandbox *box);

/* Opens the way to the indexes. *RET_EGRESS, owned by the caller: its proxy; NULL: BOX has the
 * network of the machine, or there is no sandbox. Where nothing says which
 * index it asks, BOX has that network, too, and lacks_index. */
int installer_sandbox_connect(struct installer_sandbox *box,
                              const struct package_installation *installation,
                              const char *const *variables, struct egress **ret_egress,
                              struct error *err);

/* The variables that name the proxy; for memory_free_strings. */
char **installer_sandbox_variables(const struct installer_sandbox *box);
