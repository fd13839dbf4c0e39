/* Whether a person has to agree before a script runs. Environments only store the policy; the tools
 * ask. */
#pragma once

enum approval_policy {
    APPROVAL_NEVER,
    APPROVAL_FIRST, /* before the first script of a caller in an environment */
    APPROVAL_ALWAYS,
};

/* The word of the configuration. */
const char *approval_policy_name(enum approval_policy policy);

/* The policy called NAME. OTHERWISE if NAME is NULL or unknown. */
enum approval_policy approval_policy_find(const char *name, enum approval_policy otherwise);
