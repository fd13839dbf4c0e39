/* The known tools of all servers, for the texts that models read. They are looked up when the
 * server begins and after each change of the configuration, so that these texts stay the same
 * from call to call. */
#pragma once

#include "toolbox/toolbox.h"

#include <ev.h>
#include <jansson.h>
#include <stdbool.h>

struct environment;
struct principal;

struct tool_catalog {
    /* Inputs; borrowed. */
    struct ev_loop *loop;
    struct toolbox *toolbox;
    void (*learned)(void *data); /* more is known than before */
    void *data;

    /* Private. */
    json_t *tools; /* owned: an array, as in a survey; or NULL */
    struct tool_survey survey;
    bool is_looking;
    ev_timer patience; /* with servers that are not listed yet */
};

/* Looks at the tools; `learned` may come, also from inside. */
void tool_catalog_look(struct tool_catalog *catalog);

/* The tools that scripts of PRINCIPAL (NULL: with all rights) reach in ENVIRONMENT: an object with
 * an array for each server, which is empty where nothing is known. New reference. */
json_t *tool_catalog_find(const struct tool_catalog *catalog, const struct environment *environment,
                          const struct principal *principal);

void tool_catalog_deinit(struct tool_catalog *catalog);
