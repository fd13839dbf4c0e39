/* The tools of a server that scripts may call. The server lists its tools page by page. */
#pragma once

#include "base/error.h"

#include <jansson.h>
#include <stdbool.h>

struct server_settings;

enum {
    TOOL_LIST_PAGES = 64,
    TOOL_LIST_TOOLS = 1000,
    TOOL_LIST_BYTES = 8 * 1024 * 1024, /* of all of them, as JSON */
    TOOL_LIST_SENTENCE = 200,          /* bytes of the shortened description */
};

struct tool_list {
    json_t *tools;  /* owned; by name: name, title, description, inputSchema, outputSchema,
                       annotations; without secrets */
    json_t *fields; /* owned; by name, what tool_headers_read found; most have nothing */
    size_t bytes;
    unsigned pages;
    bool has_fields; /* the server wants arguments in fields of HTTP, too: a tool whose schema says
                        how in a way that cannot be followed is left out */
};

void tool_list_init(struct tool_list *list, bool has_fields);
void tool_list_deinit(struct tool_list *list);

/* Adds RESULT, a page. *RET_CURSOR is a new reference to where the next page begins, or NULL. -1
 * with ERROR_LIMIT. */
int tool_list_add(struct tool_list *list, const struct server_settings *settings,
                  const json_t *result, json_t **ret_cursor, struct error *err);

/* The fields of HTTP for a call of TOOL with ARGUMENTS, array of "Name: value". New reference, or
 * NULL: there are none. */
json_t *tool_list_make_fields(const struct tool_list *list, const char *tool,
                              const json_t *arguments);

/* The first sentence of a description, on one line; invisible characters are named. Owned by the
 * caller. */
char *tool_list_shorten(const char *description);
