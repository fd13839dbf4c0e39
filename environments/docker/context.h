/* The context of a build: a Dockerfile, its directory without the files that .dockerignore names,
 * and the values of its ARG lines. The tag of an image is a digest of the context, so that the
 * image is found again, and built anew when the context changes. */
#pragma once

#include "base/digest.h"
#include "base/error.h"
#include "environments/engine/archive.h"

#include <ev.h>

struct docker_site;

#define DOCKER_CONTEXT_FILE ".pyexecd.Dockerfile" /* the name of the Dockerfile in the archive */

struct docker_context {
    void (*done)(struct docker_context *context, const struct error *err);
    char *key; /* owned; once `done` */

    /* Private. */
    struct docker_site *site; /* borrowed */
    struct archive *archive;  /* owned; NULL: not being read */
    struct digest digest;
    ev_timer more;
};

/* The directory and the Dockerfile of SITE's definition, to be sent. Owned by the caller; NULL with
 * ERR. */
struct archive *docker_context_open(const struct docker_site *site, struct error *err);

/* Reads the context and computes its key; `done` will come, unless this fails. */
int docker_context_start(struct docker_context *context, struct docker_site *site,
                         struct error *err);
void docker_context_cancel(struct docker_context *context);
void docker_context_deinit(struct docker_context *context);
