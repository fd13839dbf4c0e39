/* The image that scripts run in: looked for, pulled or built, and looked at. */
#pragma once

#include "environments/docker/build.h"
#include "environments/docker/context.h"
#include "environments/docker/pull.h"
#include "environments/engine/engine_request.h"

struct docker_site;

#define DOCKER_REPOSITORY "pyexecd" /* of images that are made here; the tag is their key */

/* What is known of an image. */
struct docker_facts {
    char *id;        /* owned: "sha256:..."; NULL: nothing is known */
    json_t *volumes; /* owned: the paths that it declares as such, an array; NULL: none */
};

void docker_facts_deinit(struct docker_facts *facts);

struct docker_image {
    void (*done)(struct docker_image *image, const struct error *err);
    struct docker_facts facts; /* once `done` */

    /* Private. */
    enum docker_image_state {
        DOCKER_IMAGE_IDLE,       /* not under way */
        DOCKER_IMAGE_READING,    /* waiting for the key of what it is built from */
        DOCKER_IMAGE_LOOKING,    /* waiting for the engine to say whether it has it */
        DOCKER_IMAGE_FETCHING,   /* waiting for it to be pulled or built */
        DOCKER_IMAGE_INSPECTING, /* waiting for what the engine knows of what was fetched */
    } state;
    struct docker_site *site; /* borrowed */
    char *name;               /* owned: what is looked for */
    struct engine_request request;
    struct docker_pull pull;
    struct docker_context context;
    struct docker_build build;
};

/* Finds or gets what the definition of SITE names; `done` will come, unless this fails. */
int docker_image_start(struct docker_image *image, struct docker_site *site, struct error *err);
void docker_image_cancel(struct docker_image *image);
void docker_image_deinit(struct docker_image *image);

/* What ANSWER, of GET /images/NAME/json, says. */
void docker_facts_read(struct docker_facts *facts, const json_t *answer);

/* The path of that question. Owned by the caller. */
char *docker_image_path(const char *name);
