#include "server/authentication.h"

#include "base/cleanup.h"
#include "base/json.h"
#include "base/memory.h"
#include "server/configuration/config.h"
#include "server/tools/limits.h"
#include "server/transport/identity/authority.h"
#include "server/transport/socket/peer.h"

static void authentication_on_fault(void *data, const char *message)
{
    config_complain(data, message, "/token_file");
}

/* NAMES of an entry must be members of KNOWN, an object. */
static void authentication_check_names(struct config *config, const char *place, char **names,
                                       const json_t *known, const char *what)
{
    for (; names && *names; names++) {
        AUTO_FREE char *message = NULL;

        if (json_object_get(known, *names))
            continue;
        message = memory_format("%s: no %s is called \"%.100s\"", place, what, *names);
        config_complain(config, message, "/token_file");
    }
}

static void authentication_check_entry(struct config *config, const char *path,
                                       const struct token_file_entry *entry)
{
    const json_t *tree = config_tree(config);
    AUTO_FREE char *place = memory_format("%s:%u", path, entry->line);

    authentication_check_names(config, place, entry->environments,
                               json_object_get(tree, "environments"), "environment");
    authentication_check_names(config, place, entry->tools, json_object_get(tree, "tools"),
                               "server of tools");
}

int authentication_read_tokens(struct config *config, struct token_file *ret)
{
    const char *path = json_object_get_string(config_tree(config), "token_file");
    struct token_file file = {0};

    if (path && token_file_read(path, &file, authentication_on_fault, config) < 0)
        return -1;
    for (size_t i = 0; i < file.count; i++)
        authentication_check_entry(config, path, &file.entries[i]);
    if (config_has_errors(config)) {
        token_file_deinit(&file);
        return -1;
    }
    *ret = file;
    return 0;
}

bool authentication_is_configured(const struct config *config)
{
    return json_object_get(config_tree(config), "token_file") ||
           json_object_get(config_tree(config), "oauth");
}

/* The credentials of TOKENS, from which their names are borrowed. Owned by the caller. */
static struct credential *list_credentials(const struct token_file *tokens)
{
    struct credential *credentials = memory_new(tokens->count + 1, sizeof *credentials);

    for (size_t i = 0; i < tokens->count; i++)
        credentials[i] = (struct credential){
            .principal = tokens->entries[i].name,
            .token = tokens->entries[i].token,
        };
    return credentials;
}

/* Strings of LIST, NULL-terminated and borrowed from it. The array is owned by the caller. */
static const char **list_scopes(const json_t *list)
{
    const char **scopes = memory_new(json_array_size(list) + 1, sizeof *scopes);
    const json_t *scope;
    size_t i;

    json_array_foreach (list, i, scope)
        scopes[i] = json_string_value(scope);
    return scopes;
}

/* *RET is NULL where there is none in CONFIG. */
static int open_oauth(struct ev_loop *loop, struct config *config, struct oauth **ret)
{
    const json_t *oauth = json_object_get(config_tree(config), "oauth");
    AUTO_FREE const char **scopes = list_scopes(json_object_get(oauth, "scopes"));
    struct error err = ERROR_INIT;

    *ret = NULL;
    if (!oauth)
        return 0;
    *ret = oauth_new(
        &(struct oauth_settings){
            .loop = loop,
            .resource = json_object_get_string(oauth, "resource"),
            .issuer = json_object_get_string(oauth, "issuer"),
            .jwks_uri = json_object_get_string(oauth, "jwks_uri"),
            .audience = json_object_get_string(oauth, "audience"),
            .scopes = scopes,
        },
        &err);
    if (*ret)
        return 0;
    config_complain(config, err.message, "/oauth");
    return -1;
}

int authentication_open(struct ev_loop *loop, struct config *config,
                        const struct token_file *tokens, struct authority **ret)
{
    AUTO_FREE struct credential *credentials = list_credentials(tokens);
    struct oauth *oauth;

    if (open_oauth(loop, config, &oauth) < 0)
        return -1;
    *ret = !authentication_is_configured(config) ? NULL
                                                 : authority_new(&(struct authority_settings){
                                                       .loop = loop,
                                                       .credentials = credentials,
                                                       .credential_count = tokens->count,
                                                       .oauth = oauth,
                                                   });
    return 0;
}

void authentication_set_tokens(struct authority *authority, const struct token_file *tokens)
{
    AUTO_FREE struct credential *credentials = list_credentials(tokens);

    authority_set_credentials(authority, credentials, tokens->count);
}

/* The users that a unix socket or standard input lets in. */
static void set_users(struct limits *limits)
{
    static const struct principal_limits none = {0};
    AUTO_FREE char *own = peer_own_principal();

    limits_set(limits, own, &none);
    limits_set(limits, "uid-0", &none);
}

void authentication_set_limits(struct limits *limits, const struct config *config,
                               const struct token_file *tokens)
{
    const json_t *common = json_object_get(config_tree(config), "limits");
    unsigned calls = (unsigned)json_integer_value(json_object_get(common, "calls_per_minute"));

    limits_clear(limits);
    set_users(limits);
    if (!authentication_is_configured(config))
        return;
    limits_set(limits, NULL, &(struct principal_limits){.calls_per_minute = calls});
    for (size_t i = tokens->count; i > 0; i--) { /* a name's limits stand on its first line */
        const struct token_file_entry *entry = &tokens->entries[i - 1];

        limits_set(
            limits, entry->name,
            &(struct principal_limits){
                .calls_per_minute = entry->calls_per_minute ? entry->calls_per_minute : calls,
                .concurrent_runs = entry->concurrent_runs,
                .environments = (const char *const *)entry->environments,
                .tools = (const char *const *)entry->tools,
            });
    }
}
