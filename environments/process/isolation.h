/* How much a script is kept from the machine and from other scripts. Files pass from one level to
 * another only where the operator says so: a script that is held by a container must not be able to
 * leave something for one that is not. */
#pragma once

enum isolation {
    ISOLATION_NONE,    /* all rights of the server's user */
    ISOLATION_SANDBOX, /* what its policy names; on this machine */
    ISOLATION_DOCKER,  /* a container */
    ISOLATIONS,
};

/* "none", "sandbox", "docker". Static storage. */
const char *isolation_name(enum isolation isolation);
