#include "server/configuration/http_config.h"

#include "base/cleanup.h"
#include "base/json.h"
#include "base/log.h"
#include "base/memory.h"
#include "server/configuration/config.h"
#include "server/mcp/server.h"
#include "server/transport/http/http_endpoint.h"
#include "server/transport/http/tls.h"

/* The endpoint */

/* The strings of ARRAY, borrowed, with a NULL behind them. The list is the caller's. */
static const char **list_strings(const json_t *array)
{
    const char **list = memory_new(json_array_size(array) + 1, sizeof(*list));
    const json_t *value;
    size_t i;

    json_array_foreach (array, i, value) {
        list[i] = json_string_value(value);
    }
    return list;
}

struct http_endpoint *http_config_open(struct mcp_server *server, struct authority *authority,
                                       struct replicas *replicas, const json_t *tree)
{
    const json_t *http = json_object_get(tree, "http");
    AUTO_FREE const char **hosts = list_strings(json_object_get(http, "allowed_hosts"));
    AUTO_FREE const char **origins = list_strings(json_object_get(http, "allowed_origins"));
    struct http_endpoint_settings settings = {
        .loop = server->loop,
        .server = server,
        .authority = authority,
        .replicas = replicas,
        .allowed_hosts = hosts,
        .allowed_origins = origins,
        .sessions = (unsigned)json_integer_value(json_object_get(http, "sessions")),
        .session_idle_seconds = json_number_value(json_object_get(http, "session_idle")),
    };

    return http_endpoint_new(&settings);
}

/* The certificate */

static struct tls_files files_of(const json_t *tls)
{
    return (struct tls_files){
        .certificate = json_object_get_string(tls, "certificate"),
        .key = json_object_get_string(tls, "key"),
    };
}

int tls_config_open(struct config *config, struct tls **ret)
{
    const json_t *tls = json_object_get(config_tree(config), "tls");
    const struct tls_files files = files_of(tls);
    struct error err = ERROR_INIT;

    *ret = tls ? tls_new(&files, &err) : NULL;
    if (*ret || !tls)
        return 0;
    config_complain(config, err.message, "/tls");
    return -1;
}

void tls_config_reload(struct tls *tls, const struct config *config)
{
    const struct tls_files files = files_of(json_object_get(config_tree(config), "tls"));
    struct error err = ERROR_INIT;

    if (tls && files.certificate && tls_reload(tls, &files, &err) < 0)
        log_error("the certificate stays as it was: %s", err.message);
}
