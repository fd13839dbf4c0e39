/* How much a script is kept from the machine and from other scripts. Files pass from one level to
 * another only if the operator says so: a script in a container must not be able to leave files for
 * a script outside. */
#pragma once

enum isolation {
    ISOLATION_NONE,    /* it has all rights of the server's user */
    ISOLATION_SANDBOX, /* on this machine, it can use only paths that its policy names */
    ISOLATION_DOCKER,  /* a container */
    ISOLATIONS,
};

/* "none", "sandbox", "docker". Static storage. */
const char *isolation_name(enum isolation isolation);
