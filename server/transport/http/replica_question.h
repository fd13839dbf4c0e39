/* The question of one replica to another, whether it would believe its seals: for `pyexecd doctor`,
 * which runs beside a server of the same name and must use up none of its numbers. So it has a key
 * of its own, may be repeated, and nothing is executed. Both sides are here. */
#pragma once

#include "base/buffer.h"
#include "base/curl/transfer.h"
#include "base/error.h"
#include "server/transport/http/replicas.h"

#include <jansson.h>

#define REPLICA_QUESTION_FIELD "Pyexecd-Question"

/* The answer of the other replica. */
struct replica_answer {
    const char *name;     /* its own */
    const char *version;  /* of its program */
    const char *problem;  /* the fault of our seals; NULL: none */
    double ahead_seconds; /* its clock, of ours; may be wrong by half of SECONDS */
    double seconds;       /* from the question to the answer */
};

/* A question that is asked. */
struct replica_question {
    struct replicas *replicas; /* borrowed */
    struct replica *replica;   /* borrowed: it is asked */

    /* The end, from the loop. */
    void (*over)(struct replica_question *question);

    /* Private. */
    struct transfer transfer;
    struct curl_slist *fields; /* owned */
    struct buffer received;
    CURLcode code;  /* how it ended */
    json_t *answer; /* owned; or NULL */
    int64_t asked;  /* in milliseconds */
};

void replica_question_begin(struct replica_question *question);

/* From `over`, or later: borrowed from QUESTION. -1 with ERR: no answer; ERROR_UNAVAILABLE: nobody
 * was reached; ERROR_DENIED: it does not know the key. */
int replica_question_read(const struct replica_question *question, struct replica_answer *ret,
                          struct error *err);

/* Also before the end. */
void replica_question_deinit(struct replica_question *question);

/* The answer to QUESTION, a seal. NULL: it is none of a replica with our key. Owned by the
 * caller. */
char *replica_question_answer(struct replicas *replicas, const char *question);
