/* A batch (2025-03-26 only): messages that come in one array and are answered in one array. */
#pragma once

#include "base/buffer.h"
#include "base/list.h"

#include <stdbool.h>
#include <stddef.h>

enum {
    BATCH_MESSAGES = 64,            /* most messages in one batch */
    BATCH_BYTES = 16 * 1024 * 1024, /* most bytes of answers kept for one */
};

struct sink;

struct batch {
    struct list link;   /* in the session */
    struct sink *sink;  /* borrowed: where the answer goes; NULL: nowhere */
    bool is_owed;       /* at least one member gets an answer, unless it is cancelled */
    size_t open;        /* members that may still be answered */
    struct buffer text; /* "[" and the answers so far, with commas */
};

/* A batch of SIZE messages. */
struct batch *batch_new(size_t size);
void batch_free(struct batch *batch);

/* Adds ANSWER, the text of a response to ID. An answer that finds no room becomes an error. */
void batch_add(struct batch *batch, const char *id, const char *answer);

/* Counts one member as done, answered or not. True for the last one: `text` is then the whole
 * answer, or empty where no member is answered. */
bool batch_close_member(struct batch *batch);
