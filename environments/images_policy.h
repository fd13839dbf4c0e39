/* How the pictures that a script leaves are shown. Environments only store the policy; the tools
 * apply it. */
#pragma once

enum images_policy {
    IMAGES_INLINE, /* results show them */
    IMAGES_FILE,   /* they are files like others */
    IMAGES_OFF,    /* they are files like others; and only the script itself saves any */
};

/* The word of the configuration. */
const char *images_policy_name(enum images_policy policy);

/* The policy called NAME. OTHERWISE if NAME is NULL or unknown. */
enum images_policy images_policy_find(const char *name, enum images_policy otherwise);
