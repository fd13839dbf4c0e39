/* The MCP clients whose settings are known: the places of the settings, and the form of an
 * entry. */
#pragma once

#include "server/clients/settings_file.h"

#include <jansson.h>
#include <stdbool.h>

/* The name of the server in all of them. */
#define CLIENT_ENTRY_NAME "pyexecd"

struct client_server;

/* A place below the home of the user. */
struct client_place {
    const char *variable; /* of the environment, which names the folder instead; or NULL */
    const char *folder;   /* from the home; ".config/..." is moved by $XDG_CONFIG_HOME */
    const char *file;
    const char *other; /* a second name of the file, which counts if only this second file exists;
                          or NULL */
};

struct client {
    const char *name;  /* on the command line */
    const char *title; /* as people call it */
    const char *sign;  /* a file or folder that the client makes in the home */
    struct client_place place;
    const struct settings_format *format;
    const char *path[SETTINGS_DEPTH + 1]; /* the objects around the list of servers */
    json_t *(*describe)(const struct client_server *server);
    struct client_place permissions; /* settings with the tools that need no question; or no file */
    const char *advice;              /* the step that the user still has to take */
    const char *memory; /* the file of a project that the client's model always reads; or NULL */
};

/* All of them, COUNT in *RET_COUNT; static storage. */
const struct client *client_list(size_t *ret_count);

/* NULL with ERROR_USAGE, which suggests a similar name, or has all names. */
const struct client *client_find(const char *name, struct error *err);

/* The path of PLACE; owned by the caller. NULL with ERR when there is no HOME. */
char *client_place_path(const struct client_place *place, struct error *err);

/* True when the user seems to have CLIENT. */
bool client_is_there(const struct client *client);

/* The change of CLIENT's settings at PATH, so that it has SERVER, or no longer has it. *RET_VALUE
 * is to be released after the edit. */
struct settings_edit client_edit(const struct client *client, const char *path,
                                 const struct client_server *server, json_t **ret_value);

/* The change by which CLIENT calls the tools without asking, or no longer does. */
struct settings_edit client_edit_permission(const char *path, json_t **ret_value);
