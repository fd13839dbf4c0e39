/* Admits clients over TCP and HTTP: a client must show a token that is known here. The server has
 * one authority, which checks the first line of a TCP connection and the `Authorization` field of
 * each HTTP request in the same way. */
#pragma once

#include "base/digest.h"
#include "base/error.h"
#include "base/list.h"
#include "base/outcome.h"
#include "server/transport/oauth/oauth.h"
#include "server/transport/socket/peer.h"

#include <ev.h>
#include <stdbool.h>
#include <stddef.h>

struct authority;

enum { AUTHORITY_PRINCIPAL_BYTES = 80 };

enum {
    TOKEN_LEAST_BYTES = 16,  /* of a token that is kept in clear */
    TOKEN_MOST_BYTES = 8192, /* of any token that is shown: signed tokens are long */
};

/* A secret that a client shows, as it is kept: by its digest. A reader of our memory, or of a file
 * of digests, cannot come in with a digest; and since tokens are random, nobody can guess a token
 * from its digest. */
struct token {
    unsigned char digest[DIGEST_BYTES];
};

/* The token of the LENGTH bytes of TEXT. */
struct token token_of(const char *text, size_t length);

/* Reads TEXT, the 64 hexadecimal digits of a SHA-256 alone; false when it is anything else. */
bool token_read_digest(const char *text, struct token *ret);

/* True when both are the same. Takes the same time for all tokens. */
bool token_equals(const struct token *token, const struct token *other);

/* True for text that a header field can carry as one word: at least one character, all of them
 * visible ASCII. */
bool token_is_word(const char *text, size_t length);

/* A principal with a token. A principal may have several. */
struct credential {
    const char *principal; /* at most AUTHORITY_PRINCIPAL_BYTES - 1 */
    struct token token;
};

struct authority_settings {
    struct ev_loop *loop;                 /* borrowed */
    const struct credential *credentials; /* copied */
    size_t credential_count;
    struct oauth *oauth; /* taken; NULL: only the tokens above let in */
};

struct authority *authority_new(const struct authority_settings *settings);

/* No check may be under way. */
void authority_free(struct authority *authority);

/* Replaces the credentials by copies of CREDENTIALS. Connected clients stay connected. */
void authority_set_credentials(struct authority *authority, const struct credential *credentials,
                               size_t count);

/* The metadata that clients may read without a token, to get a token: protected resource metadata
 * (RFC 9728), JSON. Borrowed; NULL: there is none, and no answer may suggest it, else clients would
 * look for it. */
const char *authority_metadata(const struct authority *authority);

/* A check of one token: the principal that has shown it. */
struct authority_check {
    /* Inputs. */
    struct authority *authority; /* borrowed */
    struct peer peer;
    const char *authorization; /* "Bearer TOKEN": the value of the field; NULL: there is none. It is
                                  borrowed until authority_check returns. Where the field is there
                                  twice, "": that is malformed. */
    void (*done)(struct authority_check *check);

    /* The result. */
    unsigned status;                           /* 0: granted; else of HTTP: 400, 401, 403 or 503 */
    char principal[AUTHORITY_PRINCIPAL_BYTES]; /* granted: the principal */
    char *challenge; /* refused: the value of `WWW-Authenticate`, or NULL; owned */

    /* Private. */
    struct oauth_check oauth;
    struct ev_timer timer;
};

/* READY: the answer is there. PENDING: it will be, and `done` is called then: a bad token from an
 * address that has sent many is answered late, a signed token waits until there are keys. Never
 * FAILED. */
enum outcome authority_check(struct authority_check *check);

/* No `done` comes any more; the result is released. May be called twice, from `done`, and for a
 * check that is all zero. */
void authority_check_deinit(struct authority_check *check);
