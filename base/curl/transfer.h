/* HTTP transfers of libcurl, driven by the loop. curl_library_load comes before.
 *
 * libcurl must not be called from inside its own callbacks. So these callbacks only take bytes and
 * mark their transfer; `progress` and `over` are called when libcurl has returned. They may start
 * and end any transfer. */
#pragma once

#include "base/list.h"

#include <curl/curl.h>
#include <ev.h>

struct transfers;

struct transfer {
    CURL *easy; /* owned */

    /* The transfer was marked. May be NULL if nothing marks it. */
    void (*progress)(struct transfer *transfer);

    /* libcurl has finished. transfer_end is still to be called, now or later. */
    void (*over)(struct transfer *transfer, CURLcode code);

    struct transfers *transfers;   /* borrowed; NULL: not started */
    struct list link;              /* among the marked transfers */
    char failure[CURL_ERROR_SIZE]; /* libcurl's message about the failure; or empty */
};

struct transfers *transfers_new(struct ev_loop *loop);
void transfers_free(struct transfers *transfers);

void transfer_start(struct transfers *transfers, struct transfer *transfer);

/* Ends it wherever it stands, and frees its handle; nothing is called any more. */
void transfer_end(struct transfer *transfer);

/* For libcurl's callbacks: `progress` is to be called. */
void transfer_mark(struct transfer *transfer);
