#include "environments/docker/definition.h"

#include "base/json.h"
#include "environments/docker/volume.h"

#include <arpa/inet.h>
#include <string.h>

static struct engine_tls docker_definition_read_tls(const json_t *tls)
{
    return (struct engine_tls){
        .ca_file = json_object_get_string(tls, "ca_file"),
        .cert_file = json_object_get_string(tls, "cert_file"),
        .key_file = json_object_get_string(tls, "key_file"),
    };
}

struct docker_definition docker_definition_read(const json_t *definition)
{
    const char *dockerfile = json_object_get_string(definition, "dockerfile");

    return (struct docker_definition){
        .host = json_object_get_string(definition, "host"),
        .tls = docker_definition_read_tls(json_object_get(definition, "tls")),
        .image = dockerfile ? NULL : json_object_get_string(definition, "image"),
        .dockerfile = dockerfile,
        .build_args = json_object_get(definition, "build_args"),
        .pull = json_object_get_string(definition, "pull"),
        .packages = packages_definition_read(definition),
        .volumes = json_object_get(definition, "volumes"),
        .network = json_object_get_string(definition, "network"),
        .extra_hosts = json_object_get(definition, "extra_hosts"),
        .user = json_object_get_string(definition, "user"),
        .container_name_prefix = json_object_get_string(definition, "container_name_prefix"),
        .container_startup_timeout =
            json_number_value(json_object_get(definition, "container_startup_timeout")),
        .cleanup_container = json_is_true(json_object_get(definition, "cleanup_container")),
        .keep_container_running =
            json_is_true(json_object_get(definition, "keep_container_running")),
        .gpus = json_object_get(definition, "gpus"),
        .runtime = json_object_get_string(definition, "runtime"),
    };
}

static int docker_definition_check_volumes(const json_t *volumes, struct error *err)
{
    const char *path;
    json_t *volume;

    json_object_foreach ((json_t *)volumes, path, volume) {
        if (docker_volume_check_target(docker_volume_read(path, volume).target, err) < 0)
            return -1;
    }
    return 0;
}

/* Behind the first colon stands an address, or "host-gateway". */
static int docker_definition_check_hosts(const json_t *hosts, struct error *err)
{
    unsigned char address[sizeof(struct in6_addr)];
    const json_t *host;
    size_t i;

    json_array_foreach (hosts, i, host) {
        const char *text = strchr(json_string_value(host), ':') + 1;

        if (strcmp(text, "host-gateway") != 0 && inet_pton(AF_INET, text, address) != 1 &&
            inet_pton(AF_INET6, text, address) != 1)
            return error_set(err, ERROR_CONFIG, "\"%s\" of \"%s\" is no address of IPv4 or IPv6",
                             text, json_string_value(host));
    }
    return 0;
}

int docker_definition_check(const struct docker_definition *definition, const char **ret_key,
                            struct error *err)
{
    *ret_key = "volumes";
    if (docker_definition_check_volumes(definition->volumes, err) < 0)
        return -1;
    *ret_key = "extra_hosts";
    return docker_definition_check_hosts(definition->extra_hosts, err);
}

int docker_definition_find_engine(const struct docker_definition *definition,
                                  struct engine_address *ret, struct error *err)
{
    if (definition->host)
        return engine_address_parse(definition->host, &definition->tls, ret, err);
    return engine_address_default(ret, err);
}
