#include "server/transport/identity/authority.h"

#include "base/ascii.h"
#include "base/cleanup.h"
#include "base/log.h"
#include "base/memory.h"
#include "base/text.h"

#include <openssl/crypto.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#define DELAY_SECONDS    0.25
#define FAILURES_SECONDS 60.0

enum {
    FAILURES_UNPUNISHED = 5, /* from one address, in FAILURES_SECONDS */
    FAILURES_ADDRESSES = 64, /* kept in mind; a further one takes the place of the oldest */
};

enum {
    STATUS_GRANTED = 0,
    STATUS_MALFORMED = 400,
    STATUS_UNAUTHORIZED = 401,
    STATUS_FORBIDDEN = 403,
    STATUS_UNAVAILABLE = 503,
};

/* The bad tokens from one address in its current minute. */
struct failures {
    struct peer peer;
    ev_tstamp since; /* 0: the place is free */
    unsigned count;
};

struct authority {
    struct ev_loop *loop;           /* borrowed */
    struct credential *credentials; /* owned, with their names */
    size_t credential_count;
    struct oauth *oauth; /* owned, or NULL */
    struct failures failures[FAILURES_ADDRESSES];
};

/* The token */

struct token token_of(const char *text, size_t length)
{
    struct digest digest;
    struct token token;

    digest_init(&digest);
    digest_add(&digest, text, length);
    digest_finish_bytes(&digest, token.digest);
    return token;
}

bool token_read_digest(const char *text, struct token *ret)
{
    struct token token;

    if (strlen(text) != 2 * sizeof token.digest)
        return false;
    for (size_t i = 0; i < sizeof token.digest; i++) {
        int high = ascii_hex_value(text[2 * i]);
        int low = ascii_hex_value(text[2 * i + 1]);

        if (high < 0 || low < 0)
            return false;
        token.digest[i] = (unsigned char)(high << 4 | low);
    }
    *ret = token;
    return true;
}

bool token_equals(const struct token *token, const struct token *other)
{
    return CRYPTO_memcmp(token->digest, other->digest, sizeof token->digest) == 0;
}

bool token_is_word(const char *text, size_t length)
{
    for (size_t i = 0; i < length; i++)
        if (text[i] <= ' ' || text[i] > '~')
            return false;
    return length > 0;
}

/* The answer */

static void authority_grant(struct authority_check *check, const char *principal)
{
    check->status = STATUS_GRANTED;
    snprintf(check->principal, sizeof check->principal, "%s", principal);
}

/* ERROR, of RFC 6750, and DESCRIPTION only if something was shown. */
static void authority_refuse(struct authority_check *check, unsigned status, const char *error,
                             const char *description)
{
    const struct oauth *oauth = check->authority->oauth;

    check->status = status;
    check->challenge = oauth
                           ? oauth_challenge(oauth, error, description)
                           : memory_format("Bearer realm=\"mcp\"%s%s%s", error ? ", error=\"" : "",
                                           text_or_none(error), error ? "\"" : "");
}

/* The place for PEER: its own, else that which was begun first. */
static struct failures *find_failures(struct authority *authority, const struct peer *peer)
{
    struct failures *oldest = &authority->failures[0];

    for (size_t i = 0; i < FAILURES_ADDRESSES; i++) {
        struct failures *failures = &authority->failures[i];

        if (failures->since > 0 && peer_equals(&failures->peer, peer))
            return failures;
        if (failures->since < oldest->since)
            oldest = failures;
    }
    oldest->since = 0;
    return oldest;
}

/* How many bad tokens there were lately from where CHECK comes, with this one. */
static unsigned count_failure(const struct authority_check *check)
{
    struct failures *failures = find_failures(check->authority, &check->peer);
    ev_tstamp now = ev_now(check->authority->loop);

    if (now - failures->since > FAILURES_SECONDS)
        *failures = (struct failures){.peer = check->peer, .since = now};
    return ++failures->count;
}

static void authority_on_delay_end(struct ev_loop *loop, struct ev_timer *timer, int events)
{
    struct authority_check *check = CONTAINER_OF(timer, struct authority_check, timer);

    (void)loop;
    (void)events;
    check->done(check);
}

static enum outcome authority_delay(struct authority_check *check)
{
    ev_timer_init(&check->timer, authority_on_delay_end, DELAY_SECONDS, 0);
    ev_timer_start(check->authority->loop, &check->timer);
    return OUTCOME_PENDING;
}

/* The shown token is unknown: a client that guesses has to wait. */
static enum outcome refuse_token(struct authority_check *check, unsigned status, const char *error,
                                 const char *description)
{
    unsigned failures = count_failure(check);

    authority_refuse(check, status, error, description);
    if (failures <= FAILURES_UNPUNISHED) {
        log_warning("a client without the right token was refused");
        return OUTCOME_READY;
    }
    if (failures == FAILURES_UNPUNISHED + 1)
        log_warning("many clients without the right token: further ones are answered late");
    return authority_delay(check);
}

/* The question */

/* RFC 6750, 2.1: the scheme in any case, the token exactly. NULL for another scheme. */
static const char *skip_scheme(const char *authorization)
{
    static const char scheme[] = "Bearer";
    const size_t length = sizeof scheme - 1;

    if (strncasecmp(authorization, scheme, length) != 0)
        return NULL;
    if (authorization[length] != ' ' && authorization[length] != '\t' && authorization[length])
        return NULL;
    return authorization + length + strspn(authorization + length, " \t");
}

/* All are looked at, so that the time says nothing. Borrowed, or NULL. */
static const char *find_principal(const struct authority *authority, const struct token *token)
{
    const char *principal = NULL;

    for (size_t i = 0; i < authority->credential_count; i++)
        if (token_equals(&authority->credentials[i].token, token))
            principal = authority->credentials[i].principal;
    return principal;
}

static enum outcome settle_signed(struct authority_check *check)
{
    switch (check->oauth.verdict) {
    case OAUTH_GRANTED:
        authority_grant(check, check->oauth.principal);
        return OUTCOME_READY;
    case OAUTH_INSUFFICIENT:
        authority_refuse(check, STATUS_FORBIDDEN, "insufficient_scope", check->oauth.reason);
        return OUTCOME_READY;
    case OAUTH_UNAVAILABLE:
        check->status = STATUS_UNAVAILABLE;
        return OUTCOME_READY;
    case OAUTH_INVALID:
        break;
    }
    return refuse_token(check, STATUS_UNAUTHORIZED, "invalid_token", check->oauth.reason);
}

static void authority_on_signed(struct oauth_check *oauth)
{
    struct authority_check *check = CONTAINER_OF(oauth, struct authority_check, oauth);

    if (settle_signed(check) == OUTCOME_READY)
        check->done(check);
}

static enum outcome check_signed(struct authority_check *check, const char *token)
{
    check->oauth = (struct oauth_check){
        .oauth = check->authority->oauth,
        .token = token,
        .done = authority_on_signed,
    };
    return oauth_check(&check->oauth) == OUTCOME_READY ? settle_signed(check) : OUTCOME_PENDING;
}

static enum outcome check_token(struct authority_check *check, const char *text, size_t length)
{
    struct token token = token_of(text, length);
    const char *principal = find_principal(check->authority, &token);

    explicit_bzero(&token, sizeof token);
    if (!principal && check->authority->oauth)
        return check_signed(check, text);
    if (!principal)
        return refuse_token(check, STATUS_UNAUTHORIZED, "invalid_token", NULL);
    authority_grant(check, principal);
    return OUTCOME_READY;
}

static enum outcome answer_none(struct authority_check *check)
{
    authority_refuse(check, STATUS_UNAUTHORIZED, NULL, NULL);
    return OUTCOME_READY;
}

enum outcome authority_check(struct authority_check *check)
{
    const char *token;
    size_t length;

    if (!check->authorization)
        return answer_none(check);
    token = skip_scheme(check->authorization);
    if (!token && *check->authorization)
        return answer_none(check); /* Basic and the like: none of ours was shown */
    length = token ? strlen(token) : 0;
    if (length > TOKEN_MOST_BYTES || !token_is_word(token, length))
        return refuse_token(check, STATUS_MALFORMED, "invalid_request",
                            "there must be one word behind Bearer");
    return check_token(check, token, length);
}

void authority_check_deinit(struct authority_check *check)
{
    if (check->authority)
        ev_timer_stop(check->authority->loop, &check->timer);
    oauth_check_deinit(&check->oauth);
    free(STEAL_PTR(check->challenge));
}

/* The authority itself */

static void free_credentials(struct authority *authority)
{
    for (size_t i = 0; i < authority->credential_count; i++)
        free((char *)authority->credentials[i].principal);
    free(authority->credentials);
}

void authority_set_credentials(struct authority *authority, const struct credential *credentials,
                               size_t count)
{
    free_credentials(authority);
    authority->credentials = memory_new(count + 1, sizeof *credentials);
    authority->credential_count = count;
    for (size_t i = 0; i < count; i++)
        authority->credentials[i] = (struct credential){
            .principal = memory_copy_string(credentials[i].principal),
            .token = credentials[i].token,
        };
}

const char *authority_metadata(const struct authority *authority)
{
    return authority->oauth ? oauth_metadata(authority->oauth) : NULL;
}

struct authority *authority_new(const struct authority_settings *settings)
{
    struct authority *authority = NEW(struct authority);

    authority->loop = settings->loop;
    authority->oauth = settings->oauth;
    authority_set_credentials(authority, settings->credentials, settings->credential_count);
    return authority;
}

void authority_free(struct authority *authority)
{
    if (!authority)
        return;
    free_credentials(authority);
    oauth_free(authority->oauth);
    free(authority);
}
