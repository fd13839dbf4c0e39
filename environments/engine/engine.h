/* A client, in the loop, of one Docker engine or of Podman's service, which has the same API.
 *
 * Nothing is sent before the first request. The first request makes the client ask which versions
 * of its API the engine speaks, and the newest that both know is used from then on. Connections are
 * kept and used again, and made anew after a restart of the engine.
 *
 *     base/curl       libcurl in the loop
 *     engine          where, which version, what must still be waited for
 *     engine_request  one request and its answer
 *     hijack          a connection that becomes a container's output, split by `frames`
 *     container, exec programs inside, from their start to their end
 *     discard         what is removed without anybody waiting for it
 *     archive         what is sent to the engine as a tar stream, chosen by `dockerignore` */
#pragma once

#include "base/error.h"
#include "base/list.h"
#include "base/outcome.h"
#include "environments/engine/engine_address.h"

#include <ev.h>
#include <stdbool.h>

struct engine;
struct transfers;

/* Takes ADDRESS. Waits for nothing. */
struct engine *engine_new(struct ev_loop *loop, struct engine_address *address);

/* True when no clean-up is under way; one takes at most ENGINE_CLEAN_UP_SECONDS. Requests,
 * containers and execs that have an owner are not counted. */
bool engine_is_idle(const struct engine *engine);

#define ENGINE_CLEAN_UP_SECONDS 10.0

/* Gives up the clean-up that is under way. No request, container or exec may be. */
void engine_free(struct engine *engine);

/* The address as it was written. Borrowed. */
const char *engine_name(const struct engine *engine);

/* The path of its socket; NULL where it is reached by TCP. Borrowed. */
const char *engine_socket(const struct engine *engine);

/* True once an answer has shown that it is Podman. */
bool engine_is_podman(const struct engine *engine);

struct ev_loop *engine_loop(const struct engine *engine);

/* ---- For the other files of this layer. ---- */

/* Waits for the version of the API to be known. */
struct engine_waiter {
    struct list link;
    void (*ready)(struct engine_waiter *waiter, const struct error *err);
};

/* READY: requests can be sent. PENDING: WAITER->ready will be called, unless it is taken out of its
 * list. */
enum outcome engine_meet(struct engine *engine, struct engine_waiter *waiter);

/* A new handle for PATH, which begins with a slash and goes behind the version. */
void *engine_easy(const struct engine *engine, const char *path);

/* "/v1.41", or "" while it is not known. Borrowed. */
const char *engine_prefix(const struct engine *engine);

struct transfers *engine_transfers(const struct engine *engine);

/* The engine could not be reached. Its version is asked for again, because another engine may
 * answer next time. */
void engine_forget_version(struct engine *engine);

/* Clean-up that has no owner. The object that this is embedded in belongs to the engine. */
struct engine_duty {
    struct list link;
    void (*give_up)(struct engine_duty *duty); /* frees it */
};

void engine_add_duty(struct engine *engine, struct engine_duty *duty);
