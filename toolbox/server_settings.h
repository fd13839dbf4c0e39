/* The settings of one MCP server whose tools scripts may call: a member of `tools` in the
 * configuration. */
#pragma once

#include "base/error.h"
#include "toolbox/secrets.h"

#include <jansson.h>
#include <stdbool.h>

enum tool_approval {
    TOOL_APPROVAL_NEVER,  /* nobody is asked */
    TOOL_APPROVAL_WRITES, /* a person is asked, unless the server says that it only reads */
    TOOL_APPROVAL_ALWAYS,
};

/* Kept by the servers that are made of it. */
struct server_settings {
    unsigned references;
    char *name;
    json_t *definition; /* as it was written; owned: two that are equal mean the same server */

    char **command;   /* of a server over stdio, NULL-terminated; or NULL; owned, as all below */
    char **variables; /* NAME=VALUE, which `command` gets beside its own */
    char *directory;  /* absolute: where `command` begins */
    char *path;       /* the folders in which it is looked for, and its variable PATH */
    char *url;        /* of a server over HTTP; or NULL */
    char *socket;     /* the path of the Unix socket that leads to `url`; or NULL */
    char **headers;   /* "Name: value" */
    struct secrets secrets;

    char **allow;              /* patterns: a tool must fit one of these */
    char **deny;               /* and none of these */
    double timeout;            /* seconds, of a call */
    double idle;               /* seconds without a call, after which the server is left */
    unsigned calls_per_minute; /* 0: as many as there are */
    bool by_caller;            /* each principal has an instance of its own */
    bool any_isolation;        /* scripts without isolation may call it, though it has secrets */
};

/* The surroundings of programs. Borrowed. */
struct server_surroundings {
    const char *start;  /* absolute: where they begin */
    const char *folder; /* absolute: where relative paths of their commands begin */
    const char *path;   /* absolute folders: their PATH */
};

/* DEFINITION is valid by its schema. NULL with ERR, and the member to blame in *RET_KEY (static
 * storage, or NULL). */
struct server_settings *server_settings_new(const char *name, const json_t *definition,
                                            const struct server_surroundings *around,
                                            const char **ret_key, struct error *err);
struct server_settings *server_settings_ref(struct server_settings *settings);
void server_settings_unref(struct server_settings *settings);

/* True when both name the same server with the same rules. */
bool server_settings_are_equal(const struct server_settings *a, const struct server_settings *b);

/* True when it has fields of HTTP or a `${NAME}`. */
bool server_settings_has_secret(const struct server_settings *settings);

/* True when the operator lets scripts call TOOL. */
bool server_settings_allow(const struct server_settings *settings, const char *tool);

/* True when a person is to be asked before TOOL is called, whose list says ANNOTATIONS (may be
 * NULL). */
bool server_settings_asks(const struct server_settings *settings, const char *tool,
                          const json_t *annotations);

/* Whether a person is asked before TOOL is called: by its name, else by the pattern that it fits
 * first. */
enum tool_approval server_settings_approval(const struct server_settings *settings,
                                            const char *tool);

/* "never", "writes", "always". Static storage. */
const char *tool_approval_name(enum tool_approval approval);
