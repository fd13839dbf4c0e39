#include "server/configuration/tls_config.h"

#include "base/json.h"
#include "base/log.h"
#include "server/configuration/config.h"
#include "server/transport/http/tls.h"

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
