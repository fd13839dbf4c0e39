/* HTTP transfers of libcurl, driven by the loop. curl_library_load comes before.
 *
 * libcurl may not be called from inside its own callbacks, and what is above cannot know when that
 * is: so they only take bytes and mark their transfer, and everything is told afterwards, once
 * libcurl has returned. Whoever is told may start and end any transfer. */
#pragma once

#include "base/list.h"

#include <curl/curl.h>
#include <ev.h>

struct transfers;

struct transfer {
    CURL *easy; /* owned */

    /* Something marked it; may be NULL where nothing does. */
    void (*progress)(struct transfer *transfer);

    /* libcurl has finished. transfer_end is still to be called, now or later. */
    void (*over)(struct transfer *transfer, CURLcode code);

    struct transfers *transfers;   /* borrowed; NULL: not started */
    struct list link;              /* in those that are marked */
    char failure[CURL_ERROR_SIZE]; /* libcurl's words for what went wrong; or empty */
};

struct transfers *transfers_new(struct ev_loop *loop);
void transfers_free(struct transfers *transfers);

void transfer_start(struct transfers *transfers, struct transfer *transfer);

/* Ends it wherever it stands, and frees its handle; nothing is called any more. */
void transfer_end(struct transfer *transfer);

/* For libcurl's callbacks: `progress` is to be called. */
void transfer_mark(struct transfer *transfer);
