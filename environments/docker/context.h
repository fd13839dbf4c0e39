/* What an image is built from: a Dockerfile, the directory that it is in without what .dockerignore
 * names, and the values of its ARG lines. An image is called after all of that, so that it is found
 * again, and built anew when any of it changes. */
#pragma once

#include "base/digest.h"
#include "base/error.h"
#include "environments/engine/archive.h"

#include <ev.h>

struct docker_site;

#define DOCKER_CONTEXT_FILE ".pyexecd.Dockerfile" /* what the Dockerfile is called there */

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

/* Reads it all for its key; `done` will come, unless this fails. */
int docker_context_start(struct docker_context *context, struct docker_site *site,
                         struct error *err);
void docker_context_cancel(struct docker_context *context);
void docker_context_deinit(struct docker_context *context);
