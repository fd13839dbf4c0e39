/* This server as a resource server of OAuth 2.1: tokens that an authorization server has signed for
 * it let in. It issues none itself; it tells clients where to get a token (RFC 9728).
 *
 *     oauth        one token: signed by whom, for whom, for what
 *     key_source   the keys of the authorization server, fetched and kept
 *     key_set      what those have signed
 *     jwt          what a token says */
#pragma once

#include "base/error.h"
#include "base/outcome.h"
#include "server/transport/oauth/key_source.h"

#include <ev.h>

struct oauth;

enum {
    OAUTH_PRINCIPAL_BYTES = 39, /* "oauth-", 32 hexadecimal digits and a NUL */
    OAUTH_REASON_BYTES = 64,
};

struct oauth_settings {
    struct ev_loop *loop;      /* borrowed */
    const char *resource;      /* the URL of this server as clients use it; copied, as all below */
    const char *issuer;        /* of the authorization server */
    const char *jwks_uri;      /* of its keys; NULL: the issuer's metadata names it */
    const char *audience;      /* the audience of tokens; NULL: RESOURCE */
    const char *const *scopes; /* the scopes that a token must allow, all of them;
                                  NULL-terminated */
};

/* NULL with ERR, ERROR_CONFIG where this program was built without OAuth. */
struct oauth *oauth_new(const struct oauth_settings *settings, struct error *err);

/* No check may be under way. */
void oauth_free(struct oauth *oauth);

/* The protected resource metadata, as JSON. Borrowed. */
const char *oauth_metadata(const struct oauth *oauth);

/* The value of `WWW-Authenticate`: the place of the metadata, the needed scopes, and the fault, if
 * ERROR is not NULL. Owned by the caller. */
char *oauth_challenge(const struct oauth *oauth, const char *error, const char *description);

enum oauth_verdict {
    OAUTH_GRANTED,
    OAUTH_INVALID,      /* the token is not good */
    OAUTH_INSUFFICIENT, /* it is, but does not allow enough */
    OAUTH_UNAVAILABLE,  /* there are no keys to tell */
};

struct oauth_check {
    /* Inputs. */
    struct oauth *oauth; /* borrowed */
    const char *token;   /* borrowed until oauth_check returns */
    void (*done)(struct oauth_check *check);

    /* The result. */
    enum oauth_verdict verdict;
    char principal[OAUTH_PRINCIPAL_BYTES]; /* granted: stands for issuer and subject */
    char reason[OAUTH_REASON_BYTES];       /* otherwise: why */

    /* Private. */
    char *copy; /* of the token; owned */
    struct key_waiter waiter;
};

/* READY: the verdict is there. PENDING: keys are fetched first, `done` is called then. Never
 * FAILED. */
enum outcome oauth_check(struct oauth_check *check);

/* No `done` comes any more. May be called twice, and from `done`. */
void oauth_check_deinit(struct oauth_check *check);
