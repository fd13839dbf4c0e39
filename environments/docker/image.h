/* The image that scripts run in: looked for, pulled or built, and looked at. */
#pragma once

#include "environments/docker/build.h"
#include "environments/docker/context.h"
#include "environments/docker/pull.h"
#include "environments/engine/engine_request.h"

struct docker_site;

#define DOCKER_REPOSITORY "pyexecd" /* of the images that we make; their tag is a key */

/* Facts about an image, from its engine. */
struct docker_facts {
    char *id;        /* owned: "sha256:..."; NULL: nothing is known */
    json_t *volumes; /* owned: an array of paths that it declares as volumes; NULL: none */
};

void docker_facts_deinit(struct docker_facts *facts);

struct docker_image {
    void (*done)(struct docker_image *image, const struct error *err);
    struct docker_facts facts; /* once `done` */

    /* Private. */
    enum docker_image_state {
        DOCKER_IMAGE_IDLE,       /* not under way */
        DOCKER_IMAGE_READING,    /* waiting for the key of its context */
        DOCKER_IMAGE_LOOKING,    /* waiting for the engine to say whether it has the image */
        DOCKER_IMAGE_FETCHING,   /* waiting for the image to be pulled or built */
        DOCKER_IMAGE_INSPECTING, /* waiting for the facts about the fetched image */
    } state;
    struct docker_site *site; /* borrowed */
    char *name;               /* owned: the image that is looked for */
    struct engine_request request;
    struct docker_pull pull;
    struct docker_context context;
    struct docker_build build;
};

/* Finds, pulls or builds the image of SITE's definition; `done` will come, unless this fails. */
int docker_image_start(struct docker_image *image, struct docker_site *site, struct error *err);
void docker_image_cancel(struct docker_image *image);
void docker_image_deinit(struct docker_image *image);

/* Reads FACTS from ANSWER, the answer to GET /images/NAME/json. */
void docker_facts_read(struct docker_facts *facts, const json_t *answer);

/* The path of such a request about image NAME. Owned by the caller. */
char *docker_image_path(const char *name);
