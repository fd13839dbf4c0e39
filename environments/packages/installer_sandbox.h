/* The sandbox of an installer of packages, and of the programs that a package runs while it is
 * built. The installer can change the venv and its own temporary files, read its settings and local
 * packages, and reach the indexes that its settings name, or the default index, and the hosts of
 * scripts. Where packages may be built, it sees no passwords. */
#pragma once

#include "base/error.h"
#include "environments/interpreter/tool_sandbox.h"

struct egress;
struct package_installation;

struct installer_sandbox {
    struct tool_sandbox tool;
    bool is_uv;
    bool may_build;   /* code of packages may run */
    char *secret;     /* owned: the settings with a password that such code would see, or NULL */
    bool no_index;    /* the installer is told to ask no index */
    bool lacks_index; /* the index that it will ask is unknown */
    char **indexes;   /* owned: "HOST:PORT", NULL-terminated */
    char **claimed;   /* owned, like `indexes`: named only by a Python that is not believed */
    char **proxies;   /* owned: see installer_proxies.h */
    char *pip_proxy;  /* owned: the proxy in pip's settings, or NULL */
};

/* For the installer that INSTALLATION starts with ARGUMENTS and VARIABLES, both NULL-terminated. */
void installer_sandbox_init(struct installer_sandbox *box,
                            const struct package_installation *installation,
                            const char *const *arguments, const char *const *variables);
void installer_sandbox_deinit(struct installer_sandbox *box);

/* Opens the way to the indexes. Fails if BOX has a secret. *RET_EGRESS, owned by the caller, is its
 * proxy; NULL: BOX has the network of the machine, or there is no sandbox. If the index is unknown,
 * BOX has the network of the machine, too, and lacks_index. */
int installer_sandbox_connect(struct installer_sandbox *box,
                              const struct package_installation *installation,
                              const char *const *variables, struct egress **ret_egress,
                              struct error *err);

/* The variables that name the proxy; for memory_free_strings. */
char **installer_sandbox_variables(const struct installer_sandbox *box);
