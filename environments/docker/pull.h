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
    json_t *layers; /* owned: the fraction of each layer that is there, by id */
    double told;    /* the last reported fraction */
    size_t at;      /* the last reported layer, from 1 */
    struct error error;
    struct error_rest error_rest;
};

/* Pulls NAME; `done` will come. */
void docker_pull_start(struct docker_pull *pull, struct docker_site *site, const char *name);
void docker_pull_cancel(struct docker_pull *pull);

/* Enters the engine's LINE about a layer into LAYERS. For tests, like the next function. */
void docker_pull_note(json_t *layers, const json_t *line);

/* The number of layers that are complete, of *RET_COUNT, and the complete *RET_FRACTION of all. */
size_t docker_pull_complete(const json_t *layers, size_t *ret_count, double *ret_fraction);
