#include "environments/docker/context.h"

#include "base/cleanup.h"
#include "base/list.h"
#include "base/memory.h"
#include "base/untrusted.h"
#include "environments/docker/site.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>

#define LIMIT_BYTES ((uint64_t)8 << 30)

enum {
    RULES = 1, /* the version of the rules for building an image; part of its key */
    FILE_BYTES = 1 << 20,
    PIECE_BYTES = 256 * 1024, /* read in one turn of the loop */
};

static char *build_context_folder_of(const char *path)
{
    return memory_format("%.*s", (int)(strrchr(path, '/') - path), path);
}

/* NULL without ERR: there is none. */
static struct dockerignore *read_ignore(const char *folder, struct error *err)
{
    AUTO_FREE char *path = memory_format("%s/.dockerignore", folder);
    size_t length;
    AUTO_FREE char *text = untrusted_read(AT_FDCWD, path, DOCKERIGNORE_BYTES, &length, err);
    struct dockerignore *ignore;

    if (!text && err->number == ENOENT)
        error_clear(err);
    if (!text)
        return NULL;
    ignore = dockerignore_new(text, length, err);
    if (!ignore)
        error_prefix(err, "%s", path);
    return ignore;
}

static int build_context_fill(struct archive *archive, const char *path, struct error *err)
{
    AUTO_FREE char *folder = build_context_folder_of(path);
    struct dockerignore *ignore;
    size_t length;
    AUTO_FREE char *text = untrusted_read(AT_FDCWD, path, FILE_BYTES, &length, err);

    if (!text)
        return -1;
    ignore = read_ignore(folder, err);
    if (err->code != ERROR_NONE)
        return -1;
    archive_add_file(archive, DOCKER_CONTEXT_FILE, text, length);
    return archive_set_directory(archive, *folder ? folder : "/", ignore, err);
}

struct archive *docker_context_open(const struct docker_site *site, struct error *err)
{
    struct archive *archive = archive_new(LIMIT_BYTES);

    if (build_context_fill(archive, site->definition.dockerfile, err) == 0)
        return archive;
    archive_free(archive);
    return NULL;
}

static void stop_reading(struct docker_context *context)
{
    char ignored[DIGEST_TEXT_BYTES];

    if (!context->archive)
        return;
    ev_timer_stop(context->site->environment->loop, &context->more);
    digest_finish(&context->digest, ignored);
    archive_free(context->archive);
    context->archive = NULL;
}

/* The whole context has been read: its digest becomes the tag of the image. */
static void build_context_finish(struct docker_context *context)
{
    char key[DIGEST_TEXT_BYTES];

    ev_timer_stop(context->site->environment->loop, &context->more);
    digest_finish(&context->digest, key);
    archive_free(context->archive);
    context->archive = NULL;
    free(context->key);
    context->key = memory_copy_string(key);
    context->done(context, NULL);
}

static void build_context_on_more(struct ev_loop *loop, ev_timer *timer, int events)
{
    struct docker_context *context = CONTAINER_OF(timer, struct docker_context, more);
    AUTO_FREE char *room = memory_new(PIECE_BYTES, 1);
    struct error err = ERROR_INIT;
    ssize_t count = archive_read(context->archive, room, PIECE_BYTES, &err);

    (void)events;
    if (count > 0) {
        digest_add(&context->digest, room, (size_t)count);
        ev_timer_again(loop, timer);
    } else if (count == 0) {
        build_context_finish(context);
    } else {
        stop_reading(context);
        context->done(context, &err);
    }
}

static void begin_digest(struct docker_context *context)
{
    AUTO_FREE char *arguments = json_dumps(context->site->definition.build_args,
                                           JSON_ENCODE_ANY | JSON_SORT_KEYS | JSON_COMPACT);
    const int rules = RULES;

    digest_init(&context->digest);
    digest_add(&context->digest, &rules, sizeof rules);
    digest_add_string(&context->digest, arguments);
}

int docker_context_start(struct docker_context *context, struct docker_site *site,
                         struct error *err)
{
    context->site = site;
    environment_step(site->environment, -1, "reading %s", site->definition.dockerfile);
    context->archive = docker_context_open(site, err);
    if (!context->archive)
        return -1;
    begin_digest(context);
    ev_timer_init(&context->more, build_context_on_more, 0., 1e-6);
    ev_timer_start(site->environment->loop, &context->more);
    return 0;
}

void docker_context_cancel(struct docker_context *context)
{
    stop_reading(context);
}

void docker_context_deinit(struct docker_context *context)
{
    stop_reading(context);
    free(context->key);
    context->key = NULL;
}
