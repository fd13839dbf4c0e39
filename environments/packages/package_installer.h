/* Installing packages into a virtual environment: with uv when it is on PATH, else with pip.
 *
 * The virtual environment may hold packages that are not trusted, and an installer has a network
 * and passwords of indexes. So an installer runs nothing of it. Its Python is that of a second
 * virtual environment, which is empty: the runner.
 *
 * The caller says which packages to install and where they come from. All other settings of an
 * installer (proxies, certificates, another index) come from the variables and files of the server,
 * which are the operator's. */
#pragma once

#include "base/error.h"

#include <stdbool.h>

struct base_python;
struct process_host;
struct requirements;
struct subprocess;
struct tool_holding;

/* Everything is borrowed until package_installation_start returns. */
struct package_installation {
    struct process_host *host;
    const char *venv;               /* the path of a venv */
    const char *runner;             /* the path of an empty venv without pip, made from BASE */
    const char *parent;             /* packages of another venv that are there, too; or NULL */
    const struct base_python *base; /* the Python of both, with the directories that it uses */
    const char *default_index;      /* URLs of the index that pip or uv ask by default; or NULL */
    const struct tool_holding *holding;
    const struct requirements *requirements; /* not empty */
    const char *index_url;                   /* NULL: the server's own */
    const char *find_links;                  /* a directory of wheels beside the index, or NULL */
    bool allow_source_builds;                /* code of packages runs, which gets no passwords */
    const char *scratch;                     /* an empty directory for temporary files */
};

/* Starts the installer. SAID and ENDED: see process/subprocess.h. The programs that it installs
 * name the Python of RUNNER. NULL with ERR when there is no installer; ERR says how to get one. */
struct subprocess *
package_installation_start(const struct package_installation *installation, void *data,
                           void (*said)(void *data, const char *line),
                           void (*ended)(void *data, const char *output, const struct error *err),
                           struct error *err);

/* The step that LINE of an installer reports, "downloading numpy-2.0-py3-none-any.whl", or NULL.
 * Owned by the caller. */
char *package_installation_step(const char *line);

/* Returns advice if pip or uv has SAID that it reached no index or did not trust it, or that it
 * found no version and sources are not built; static storage, or NULL. A package without a wheel
 * looks like a package that does not exist. */
const char *package_installation_advice(const char *said, bool allow_source_builds);
