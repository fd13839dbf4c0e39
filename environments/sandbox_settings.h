/* The paths and devices that the operator opens to sandboxed scripts, and their network. */
#pragma once

#include "base/error.h"

#include <jansson.h>
#include <stdbool.h>

struct sandbox_settings {
    bool is_wanted;   /* false: there is no sandbox, and nothing below counts */
    bool is_optional; /* a run that cannot have one goes without, and says so */
    bool required;    /* a run that cannot have every layer is refused */
    bool network;     /* scripts have the network of the machine */
    char **hosts; /* "HOST:PORT", NULL-terminated: the hosts that scripts reach beyond a network of
                     their own, by a proxy; or NULL: none; owned. With them no sandbox is
                     optional */
    const char *start; /* a real path that is read, too, by a sandbox that is optional and has no
                          network; borrowed, outlives the environments; or NULL */
    char **read;       /* real paths, NULL-terminated, or NULL: none; owned */
    char **write;      /* real paths, NULL-terminated, or NULL: none; owned. Scripts may change the
                          files there, too */
    bool holds_python; /* its Python may lie in a folder of the working directory, which scripts
                          then only read: nobody else has the environment */
    bool gpu;          /* scripts may use the GPUs of this machine (gpu_files.h) */
};

/* Reads from DEFINITION whether there is to be a sandbox, and how much of one, into SETTINGS, which
 * have the defaults. */
void sandbox_settings_read_level(struct sandbox_settings *settings, const json_t *definition);

/* Reads what DEFINITION says into SETTINGS, which have the defaults and no paths. STATE: the state
 * directory, which no script gets; or NULL. -1 with ERR; *RET_KEY (static storage) is the key to
 * blame. */
int sandbox_settings_read(struct sandbox_settings *settings, const json_t *definition,
                          const char *state, const char **ret_key, struct error *err);
void sandbox_settings_deinit(struct sandbox_settings *settings);

/* The same as SETTINGS, which have been read. */
struct sandbox_settings sandbox_settings_copy(const struct sandbox_settings *settings);

/* The real path of PATH, a member of KEY (`read` or `write`), for sandboxes. NULL with ERR. Owned
 * by the caller. */
char *sandbox_settings_resolve(const char *path, const char *key, const char *state,
                               struct error *err);

/* HOST, a member of `network`, names a host and a port. */
int sandbox_settings_check_host(const char *host, struct error *err);

/* True unless the definition of an environment of this machine wants no sandbox. */
bool sandbox_settings_are_wanted(const json_t *definition);
