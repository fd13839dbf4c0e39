#include "server/replica_table.h"

#include "base/json.h"
#include "server/configuration/config.h"
#include "server/token_file.h"
#include "server/transport/http/replicas.h"

#include <stdbool.h>
#include <string.h>

static void replica_table_on_fault(void *data, const char *message)
{
    config_complain(data, message, "/replicas/key_file");
}

static const json_t *replica_table_section(const struct config *config)
{
    return json_object_get(config_tree(config), "replicas");
}

static void replica_table_on_token_fault(void *data, const char *message)
{
    (void)data; /* whoever reads the tokens for clients complains */
    (void)message;
}

/* True when clients have SECRET. */
static bool replica_table_is_token(const struct config *config, const struct token *secret)
{
    const char *path = json_object_get_string(config_tree(config), "token_file");
    struct token_file file = {0};
    bool is_token = false;

    if (!path || token_file_read(path, &file, replica_table_on_token_fault, NULL) < 0)
        return false;
    for (size_t i = 0; i < file.count; i++)
        is_token = is_token || token_equals(&file.entries[i].token, secret);
    token_file_deinit(&file);
    return is_token;
}

/* The digest of the secret in the file. A list of tokens is none: it has digests that others may
 * know. */
static int replica_table_read_secret(struct config *config, struct token *ret)
{
    const char *path = json_object_get_string(replica_table_section(config), "key_file");
    struct token_file file = {0};
    bool is_secret;

    if (token_file_read(path, &file, replica_table_on_fault, config) < 0)
        return -1;
    is_secret = file.count == 1 && file.entries[0].is_bare;
    if (is_secret)
        *ret = file.entries[0].token;
    else
        replica_table_on_fault(config, "must hold one secret and nothing else");
    token_file_deinit(&file);
    if (is_secret && replica_table_is_token(config, ret)) {
        replica_table_on_fault(config, "holds a token of token_file, which a client has");
        return -1;
    }
    return is_secret ? 0 : -1;
}

int replica_table_check(struct config *config)
{
    struct token secret;

    return replica_table_section(config) ? replica_table_read_secret(config, &secret) : 0;
}

int replica_table_open(struct ev_loop *loop, struct config *config, struct replicas **ret)
{
    const json_t *section = replica_table_section(config);
    const char *self = json_object_get_string(section, "self");
    struct error err = ERROR_INIT;
    struct token secret;
    const char *name;
    json_t *url;

    *ret = NULL;
    if (!section)
        return 0;
    if (replica_table_read_secret(config, &secret) < 0)
        return -1;
    *ret = replicas_new(loop, self, PYEXECD_VERSION, secret.digest, &err);
    if (!*ret) {
        config_complain(config, err.message, "/replicas");
        return -1;
    }
    json_object_foreach (json_object_get(section, "all"), name, url) {
        if (strcmp(name, self) != 0)
            replicas_add(*ret, name, json_string_value(url));
    }
    return 0;
}
