/* Installing packages into a virtual environment: with uv when it is on PATH, else with pip.
 *
 * What is installed and where it comes from is said by whoever asks; everything else that an
 * installer can be set up with (proxies, certificates, an index of one's own) is taken from the
 * server's own variables and files, which are the operator's. */
#pragma once

#include "base/error.h"

#include <stdbool.h>

struct base_python;
struct process_host;
struct requirements;
struct subprocess;

/* Everything is borrowed until package_installation_start returns. */
struct package_installation {
    struct process_host *host;
    const char *venv;                        /* the path of one that can be used */
    const struct base_python *base;          /* it was made from; NULL: somebody else's */
    const struct requirements *requirements; /* not empty */
    const char *index_url;                   /* NULL: the server's own */
    const char *find_links;                  /* a directory of wheels beside the index, or NULL */
    bool allow_source_builds;
    const char *scratch; /* an empty directory, for what is left over */
};

/* Starts the installer; SAID and ENDED as in tool.h. NULL with ERR when there is none, which says
 * what to install. */
struct subprocess *
package_installation_start(const struct package_installation *installation, void *data,
                           void (*said)(void *data, const char *line),
                           void (*ended)(void *data, const char *output, const struct error *err),
                           struct error *err);

/* What LINE of an installer tells of the way it goes: "downloading numpy-2.0-py3-none-any.whl", or
 * NULL. Owned by the caller. */
char *package_installation_step(const char *line);
