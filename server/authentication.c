#include "server/authentication.h"

#include "base/cleanup.h"
#include "base/json.h"
#include "base/memory.h"
#include "server/config.h"
#include "server/transport/authority.h"

static void on_fault(void *data, const char *message)
{
    config_complain(data, message, "/token_file");
}

static void check_environments(struct config *config, const char *path,
                               const struct token_file_entry *entry)
{
    const json_t *environments = json_object_get(config_tree(config), "environments");

    for (char **name = entry->environments; name && *name; name++) {
        AUTO_FREE char *message = NULL;

        if (json_object_get(environments, *name))
            continue;
        message =
            memory_format("%s:%u: no environment is called \"%.100s\"", path, entry->line, *name);
        config_complain(config, message, "/token_file");
    }
}

int authentication_read_tokens(struct config *config, struct token_file *ret)
{
    const char *path = json_object_get_string(config_tree(config), "token_file");
    struct token_file file = {0};

    if (path && token_file_read(path, &file, on_fault, config) < 0)
        return -1;
    for (size_t i = 0; i < file.count; i++)
        check_environments(config, path, &file.entries[i]);
    if (config_has_errors(config)) {
        token_file_deinit(&file);
        return -1;
    }
    *ret = file;
    return 0;
}

bool authentication_is_configured(const struct config *config)
{
    return json_object_get(config_tree(config), "token_file") != NULL;
}

/* The names in it are those of TOKENS. Owned by the caller. */
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

struct authority *authentication_open(struct ev_loop *loop, const struct config *config,
                                      const struct token_file *tokens)
{
    AUTO_FREE struct credential *credentials = list_credentials(tokens);

    if (!authentication_is_configured(config))
        return NULL;
    return authority_new(&(struct authority_settings){
        .loop = loop,
        .credentials = credentials,
        .credential_count = tokens->count,
    });
}

void authentication_set_tokens(struct authority *authority, const struct token_file *tokens)
{
    AUTO_FREE struct credential *credentials = list_credentials(tokens);

    authority_set_credentials(authority, credentials, tokens->count);
}
