/* Building an image from a Dockerfile: the context is sent, the engine runs the steps. The images
 * of a build that fails or is cancelled are removed. */
#pragma once

#include "environments/engine/archive.h"
#include "environments/engine/engine_request.h"
#include "environments/engine/json_lines.h"
#include "environments/process/last_lines.h"

#include <stdbool.h>

struct docker_site;

enum { DOCKER_ID_BYTES = 65 };

struct docker_build {
    void (*done)(struct docker_build *build, const struct error *err);

    /* Private. */
    struct docker_site *site; /* borrowed */
    struct archive *archive;  /* owned; NULL: not under way */
    struct engine_request request;
    struct json_lines lines;
    struct last_lines said;
    struct error error;
    struct error_rest error_rest;
    char made[DOCKER_ID_BYTES]; /* the newest image of this build; "" */
    bool is_ours;               /* the step under way is neither FROM nor cached */
};

/* Builds an image called NAME; `done` will come, unless this fails. */
int docker_build_start(struct docker_build *build, struct docker_site *site, const char *name,
                       struct error *err);
void docker_build_cancel(struct docker_build *build);

/* Reads LINE, from the engine's output about the steps. For tests. */
void docker_build_note(struct docker_build *build, const char *line);
