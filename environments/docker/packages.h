/* An image with packages in it, made once from another image: pip runs in a container of the base
 * image, and the container becomes the new image. Its tag is a digest of all inputs, so that it is
 * found again, and made anew when an input changes. */
#pragma once

#include "environments/docker/image.h"
#include "environments/docker/output.h"
#include "environments/engine/container.h"
#include "environments/engine/engine_request.h"
#include "environments/engine/exec.h"
#include "environments/execution.h"
#include "environments/process/last_lines.h"

struct docker_site;

struct docker_packages {
    void (*done)(struct docker_packages *packages, const struct error *err);
    struct docker_facts facts; /* of the image with the packages, once `done` */

    /* Private. */
    enum image_packages_state {
        IMAGE_PACKAGES_IDLE,       /* not under way */
        IMAGE_PACKAGES_LOOKING,    /* waiting for the engine to say whether it has the image */
        IMAGE_PACKAGES_STARTING,   /* waiting for the container */
        IMAGE_PACKAGES_INSTALLING, /* waiting for pip */
        IMAGE_PACKAGES_COMMITTING, /* waiting for the container to become an image */
        IMAGE_PACKAGES_INSPECTING, /* waiting for the facts about the new image */
    } state;
    struct docker_site *site;        /* borrowed */
    const struct docker_facts *base; /* borrowed */
    char *python;                    /* owned: the program that runs pip */
    char *names;                     /* owned: of the packages, for people */
    char *tag;                       /* owned: the tag of the image */
    char *file; /* owned: the requirements, as pip gets them; NULL: not written */
    struct engine_request request;
    struct container container;
    struct exec exec;
    struct docker_output output;
    struct execution_listener listener; /* to it */
    struct last_lines said;
};

/* True when there are packages to install. */
bool docker_packages_are_wanted(const struct docker_site *site);

/* `done` will come, unless this fails. BASE must stay as it is. */
int docker_packages_start(struct docker_packages *packages, struct docker_site *site,
                          const struct docker_facts *base, const char *python, struct error *err);
void docker_packages_cancel(struct docker_packages *packages);
void docker_packages_deinit(struct docker_packages *packages);
