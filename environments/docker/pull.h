/* Pulling an image: the engine does it, and says how far it is with which layer. */
#pragma once

#include "environments/engine/engine_request.h"
#include "environments/engine/json_lines.h"

struct docker_site;

struct docker_pull {
    void (*done)(struct docker_pull *pull, const struct error *err);

    /* Private. */
    struct docker_site *site; /* borrowed */
    struct engine_request request;
    struct json_lines lines;
    json_t *layers; /* owned: by id, how much of it is there, 0 to 1 */
    double told;    /* the fraction that was said last */
    size_t at;      /* the layer that was said last, from 1 */
    struct error error;
    struct error_rest error_rest;
};

/* Pulls NAME; `done` will come. */
void docker_pull_start(struct docker_pull *pull, struct docker_site *site, const char *name);
void docker_pull_cancel(struct docker_pull *pull);

/* Takes one line of the engine's into LAYERS. For tests, as is the next. */
void docker_pull_note(json_t *layers, const json_t *line);

/* What LAYERS come to: how many of *RET_COUNT layers are complete, and *RET_FRACTION of all. */
size_t docker_pull_complete(const json_t *layers, size_t *ret_count, double *ret_fraction);
