/* The files that are installed with this program. */
#pragma once

/* Programs and a library beside this program. */
#define COMPANION_RUNNER         "pyexecd-runner"
#define COMPANION_CORE           "pyexecd-core.so"
#define COMPANION_CONTAINER_INIT "pyexecd-init"
#define COMPANION_PROXY          "pyexecd-proxy"
#define COMPANION_PICTURE        "pyexecd-picture"

/* The path of NAME: beside this program, as in a build directory, or in the tree installed with it,
 * even if that was moved; else at its configured place. Owned by the caller. */
char *companions_find(const char *name);
