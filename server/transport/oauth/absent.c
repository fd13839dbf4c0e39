/* Stands for oauth.c in a program that is built without OAuth: oauth_new fails, so nothing else is
 * ever called. */
#include "server/transport/oauth/oauth.h"

#include <stdlib.h>

struct oauth *oauth_new(const struct oauth_settings *settings, struct error *err)
{
    (void)settings;
    error_set(err, ERROR_CONFIG, "this pyexecd was built without OAuth");
    return NULL;
}

void oauth_free(struct oauth *oauth)
{
    (void)oauth;
}

const char *oauth_metadata(const struct oauth *oauth)
{
    (void)oauth;
    return NULL;
}

char *oauth_challenge(const struct oauth *oauth, const char *error, const char *description)
{
    (void)oauth;
    (void)error;
    (void)description;
    return NULL;
}

enum outcome oauth_check(struct oauth_check *check)
{
    (void)check;
    abort();
}

void oauth_check_deinit(struct oauth_check *check)
{
    (void)check;
}
