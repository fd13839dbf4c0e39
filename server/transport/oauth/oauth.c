#include "server/transport/oauth/oauth.h"

#include "base/buffer.h"
#include "base/cleanup.h"
#include "base/digest.h"
#include "base/json.h"
#include "base/memory.h"
#include "base/text.h"
#include "server/transport/oauth/jwt.h"
#include "server/transport/oauth/key_set.h"
#include "server/transport/oauth/oauth_url.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct oauth {
    struct ev_loop *loop;    /* borrowed */
    char *issuer;            /* owned */
    char *audience;          /* owned */
    char **scopes;           /* owned, NULL-terminated */
    char *scope_text;        /* owned: the scopes with spaces between them */
    char *metadata;          /* owned */
    char *metadata_url;      /* owned */
    struct key_source *keys; /* owned */
};

/* The token */

static void name_principal(const struct jwt *jwt, char principal[OAUTH_PRINCIPAL_BYTES])
{
    char text[DIGEST_TEXT_BYTES];
    struct digest digest;

    digest_init(&digest);
    digest_add_string(&digest, json_object_get_string(jwt->claims, "iss"));
    digest_add_string(&digest, json_object_get_string(jwt->claims, "sub"));
    digest_finish(&digest, text);
    snprintf(principal, OAUTH_PRINCIPAL_BYTES, "oauth-%.32s", text);
}

static bool allows_enough(const struct oauth *oauth, const struct jwt *jwt)
{
    for (char **scope = oauth->scopes; *scope; scope++)
        if (!jwt_has_scope(jwt, *scope))
            return false;
    return true;
}

static enum oauth_verdict oauth_decide(const struct oauth *oauth, const struct jwt *jwt,
                                       const char *token, struct error *err)
{
    const struct key_set *keys = key_source_keys(oauth->keys);
    const struct jwt_rules rules = {
        .issuer = oauth->issuer,
        .audience = oauth->audience,
        .now = ev_now(oauth->loop),
    };

    if (!keys) {
        error_set(err, ERROR_UNAVAILABLE, "the keys of the issuer are not available now");
        return OAUTH_UNAVAILABLE;
    }
    if (key_set_verify(keys, jwt, token, err) < 0 || jwt_check(jwt, &rules, err) < 0)
        return OAUTH_INVALID;
    if (allows_enough(oauth, jwt))
        return OAUTH_GRANTED;
    error_set(err, ERROR_UNAVAILABLE, "the token does not allow enough");
    return OAUTH_INSUFFICIENT;
}

static void oauth_settle(struct oauth_check *check, const struct jwt *jwt, const char *token)
{
    struct error err = ERROR_INIT;

    check->verdict = oauth_decide(check->oauth, jwt, token, &err);
    if (check->verdict == OAUTH_GRANTED)
        name_principal(jwt, check->principal);
    else
        snprintf(check->reason, sizeof check->reason, "%.60s", err.message);
}

static void oauth_wipe(struct oauth_check *check)
{
    if (check->copy)
        explicit_bzero(check->copy, strlen(check->copy));
    free(STEAL_PTR(check->copy));
}

/* The token was read once already, so reading it again succeeds. */
static void oauth_on_keys(struct key_waiter *waiter)
{
    struct oauth_check *check = CONTAINER_OF(waiter, struct oauth_check, waiter);
    struct error err = ERROR_INIT;
    struct jwt jwt;

    if (jwt_read(&jwt, check->copy, &err) == 0)
        oauth_settle(check, &jwt, check->copy);
    jwt_deinit(&jwt);
    oauth_wipe(check);
    check->done(check);
}

static enum outcome look_up(struct oauth_check *check, const struct jwt *jwt)
{
    check->waiter.ready = oauth_on_keys;
    if (key_source_look_up(check->oauth->keys, jwt->kid, &check->waiter) == OUTCOME_PENDING) {
        check->copy = memory_copy_string(check->token);
        return OUTCOME_PENDING;
    }
    oauth_settle(check, jwt, check->token);
    return OUTCOME_READY;
}

enum outcome oauth_check(struct oauth_check *check)
{
    struct error err = ERROR_INIT;
    enum outcome outcome = OUTCOME_READY;
    struct jwt jwt;

    check->verdict = OAUTH_INVALID;
    if (jwt_read(&jwt, check->token, &err) < 0)
        snprintf(check->reason, sizeof check->reason, "%.60s", err.message);
    else
        outcome = look_up(check, &jwt);
    jwt_deinit(&jwt);
    return outcome;
}

void oauth_check_deinit(struct oauth_check *check)
{
    if (!check->copy)
        return;
    list_remove(&check->waiter.link);
    oauth_wipe(check);
}

/* Texts for clients */

static json_t *scope_array(const struct oauth *oauth)
{
    json_t *scopes = json_array();

    for (char **scope = oauth->scopes; *scope; scope++)
        json_array_append_new(scopes, json_string(*scope));
    return scopes;
}

static char *make_metadata(const struct oauth *oauth, const char *resource)
{
    AUTO_JSON json_t *metadata =
        json_pack("{s:s, s:[s], s:[s], s:s}", "resource", resource, "authorization_servers",
                  oauth->issuer, "bearer_methods_supported", "header", "resource_name", "pyexecd");

    if (*oauth->scopes)
        json_object_set_new(metadata, "scopes_supported", scope_array(oauth));
    return json_text(metadata);
}

const char *oauth_metadata(const struct oauth *oauth)
{
    return oauth->metadata;
}

char *oauth_challenge(const struct oauth *oauth, const char *error, const char *description)
{
    AUTO_FREE char *fault =
        error ? memory_format(", error=\"%s\", error_description=\"%s\"", error, description)
              : NULL;

    return memory_format("Bearer resource_metadata=\"%s\"%s%s%s%s", oauth->metadata_url,
                         *oauth->scope_text ? ", scope=\"" : "", oauth->scope_text,
                         *oauth->scope_text ? "\"" : "", text_or_none(fault));
}

/* The resource server */

static void copy_scopes(struct oauth *oauth, const char *const *scopes)
{
    size_t count = 0;

    while (scopes[count])
        count++;
    oauth->scopes = memory_new(count + 1, sizeof *oauth->scopes);
    oauth->scope_text = memory_copy_string("");
    for (size_t i = 0; i < count; i++) {
        AUTO_FREE char *before = oauth->scope_text;

        oauth->scopes[i] = memory_copy_string(scopes[i]);
        oauth->scope_text = memory_format("%s%s%s", before, i ? " " : "", scopes[i]);
    }
}

struct oauth *oauth_new(const struct oauth_settings *settings, struct error *err)
{
    struct key_source *keys = key_source_new(
        &(struct key_source_settings){
            .loop = settings->loop,
            .issuer = settings->issuer,
            .jwks_uri = settings->jwks_uri,
        },
        err);
    struct oauth *oauth;

    if (!keys)
        return NULL;
    oauth = NEW(struct oauth);
    oauth->loop = settings->loop;
    oauth->keys = keys;
    oauth->issuer = memory_copy_string(settings->issuer);
    oauth->audience =
        memory_copy_string(settings->audience ? settings->audience : settings->resource);
    copy_scopes(oauth, settings->scopes);
    oauth->metadata = make_metadata(oauth, settings->resource);
    oauth->metadata_url = oauth_url_well_known(settings->resource, "oauth-protected-resource");
    return oauth;
}

void oauth_free(struct oauth *oauth)
{
    if (!oauth)
        return;
    key_source_free(oauth->keys);
    for (char **scope = oauth->scopes; *scope; scope++)
        free(*scope);
    free(oauth->scopes);
    free(oauth->scope_text);
    free(oauth->metadata);
    free(oauth->metadata_url);
    free(oauth->issuer);
    free(oauth->audience);
    free(oauth);
}
