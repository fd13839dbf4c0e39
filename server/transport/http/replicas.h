/* The servers behind one balancer: their addresses, and the key by which they believe each other
 * who has sent a request. docs/internals/replicas.md */
#pragma once

#include "base/digest.h"
#include "base/list.h"
#include "server/transport/http/http_exchange.h"
#include "server/transport/identity/replay_window.h"
#include "server/transport/identity/replica_seal.h"

#include <curl/curl.h>
#include <ev.h>
#include <stdbool.h>
#include <stdint.h>

#define REPLICAS_FIELD "Pyexecd-Forwarded"

struct incoming;
struct transfers;

struct replica {
    struct list link;
    char name[REPLICA_NAME_BYTES];
    char *url;                   /* owned */
    struct replay_window window; /* of its requests to us */
    bool is_lost;                /* it was not reached lately: said once in the log */
};

struct replicas {
    char self[REPLICA_NAME_BYTES];
    const char *version; /* of the program: static storage */
    unsigned char key[DIGEST_KEY_BYTES];
    unsigned char question_key[DIGEST_KEY_BYTES]; /* replica_question.h */
    struct list others;                           /* of struct replica: owned */
    struct transfers *transfers;                  /* owned */
    int64_t epoch;                                /* when we began, in milliseconds */
    uint64_t last_number;
    const char *last_problem; /* why the last seal that was refused was; NULL: none was */
};

/* SELF: our name. VERSION: of the program; static storage. SECRET: what all replicas have and
 * nobody else. NULL with ERR without libcurl. */
struct replicas *replicas_new(struct ev_loop *loop, const char *self, const char *version,
                              const unsigned char secret[static DIGEST_BYTES], struct error *err);

/* Harmless for NULL. */
void replicas_free(struct replicas *replicas);

/* NAME is another of them, at URL, which without a path is that of /mcp. */
void replicas_add(struct replicas *replicas, const char *name, const char *url);

/* The other replica that HANDLE, which may be NULL, names; NULL: none. */
struct replica *replicas_find(const struct replicas *replicas, const char *handle);

/* True when a handle of another replica may stand in TEXT. */
bool replicas_are_named(const struct replicas *replicas, const char *text, size_t length);

/* The replica that has what INCOMING, a request that stands alone, is about; NULL: none. */
struct replica *replicas_find_owner(const struct replicas *replicas,
                                    const struct incoming *incoming);

/* True for the fields of a request that are forwarded with it. */
bool replicas_forward_field(const char *name);

/* A handle of libcurl for a request to REPLICA; owned by the caller. */
CURL *replicas_connect(const struct replica *replica);

/* The seal of EXCHANGE, which PRINCIPAL has sent, for REPLICA. Owned by the caller. */
char *replicas_seal(struct replicas *replicas, const struct replica *replica,
                    const struct http_exchange *exchange, const char *principal);

/* By the wall clock, in milliseconds. */
int64_t replicas_now(void);

/* The fault of SEAL, just opened, whether or not it was used before; NULL: none. Its sender is in
 * *RET_FROM where it is known, else NULL. */
const char *replicas_judge(struct replicas *replicas, const struct replica_seal *seal,
                           struct replica **ret_from);

/* Opens TEXT, the seal of a request that has just come, which cannot be used again. Returns what is
 * wrong with it; NULL: nothing, and RET is written. */
const char *replicas_open_seal(struct replicas *replicas, const char *text,
                               struct replica_seal *ret);

/* A request with a seal was refused because of PROBLEM, a constant. Says so in the log unless it
 * was the same with the one before: anybody may send what is no seal. */
void replicas_note_refusal(struct replicas *replicas, const char *problem);

/* True when EXCHANGE, whose body is there, is what SEAL was made for. */
bool replicas_seal_fits(const struct replica_seal *seal, const struct http_exchange *exchange);
