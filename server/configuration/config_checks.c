#include "server/configuration/config_checks.h"

#include "base/json.h"
#include "base/memory.h"
#include "environments/kinds/kinds.h"
#include "server/configuration/sandbox_checks.h"
#include "server/transport/socket/address.h"

#include <stdlib.h>
#include <string.h>

/* KEY of DEFINITION, or where it has none, the server's. Borrowed, or NULL. */
static const json_t *config_checks_inherited(const json_t *root, const json_t *definition,
                                             const char *key)
{
    const json_t *own = json_object_get(definition, key);

    return own ? own : json_object_get(root, key);
}

/* DEFINITION, at POINTER, is the whole configuration or an environment: either may have a timeout,
 * a max_timeout, both or none. */
static void check_timeouts(struct config *config, const struct yaml_tree *tree, const json_t *root,
                           const json_t *definition, const char *pointer)
{
    const json_t *timeout = config_checks_inherited(root, definition, "timeout");
    const json_t *most = config_checks_inherited(root, definition, "max_timeout");
    AUTO_FREE char *timeout_pointer = memory_format("%s/timeout", pointer);
    AUTO_FREE char *most_pointer = memory_format("%s/max_timeout", pointer);
    AUTO_FREE char *message = NULL;

    if (!json_is_number(timeout) || !json_is_number(most) ||
        json_number_value(timeout) <= json_number_value(most))
        return;
    if (yaml_tree_find(tree, timeout_pointer)) {
        message = memory_format("is %g seconds, more than max_timeout (%g)",
                                json_number_value(timeout), json_number_value(most));
        config_complain(config, message, "%s", timeout_pointer);
    } else if (yaml_tree_find(tree, most_pointer)) {
        message = memory_format("is %g seconds, less than timeout (%g)", json_number_value(most),
                                json_number_value(timeout));
        config_complain(config, message, "%s", most_pointer);
    }
}

static void check_all_timeouts(struct config *config, const struct yaml_tree *tree,
                               const json_t *root)
{
    const char *name;
    json_t *definition;

    check_timeouts(config, tree, root, root, "");
    json_object_foreach (json_object_get(root, "environments"), name, definition) {
        AUTO_FREE char *pointer = yaml_pointer("/environments", name);

        check_timeouts(config, tree, root, definition, pointer);
    }
}

/* "a, b and 3 more" for messages. Owned by the caller. */
static char *list_names(const json_t *environments)
{
    enum { NAMES_SHOWN = 8 };
    char *list = memory_copy_string("");
    size_t count = 0;
    const char *name;
    json_t *definition;

    json_object_foreach ((json_t *)environments, name, definition) {
        AUTO_FREE char *before = list;

        list = memory_format("%s%s%s", before, count ? ", " : "", name);
        if (++count == NAMES_SHOWN)
            break;
    }
    return list;
}

static const char *config_checks_choose_environment(const json_t *environments)
{
    if (json_object_get(environments, "system"))
        return "system";
    if (json_object_size(environments) == 1)
        return json_object_iter_key(json_object_iter((json_t *)environments));
    return NULL;
}

static void complain_about_names(struct config *config, const json_t *environments,
                                 const char *written)
{
    AUTO_FREE char *names = list_names(environments);
    AUTO_FREE char *message = NULL;

    if (written)
        message =
            memory_format("no environment is called \"%.100s\"; there are: %s", written, names);
    else
        message = memory_format("default_environment is needed: one of %s", names);
    config_complain(config, message, "%s", written ? "/default_environment" : "/environments");
}

void config_checks_client(struct config *config, const json_t *root)
{
    static const char *const keys[] = {"mcpServers", "mcp_servers", "context_servers", "servers"};

    for (size_t i = 0; i < ARRAY_SIZE(keys); i++)
        if (json_object_get(root, keys[i]))
            config_complain(config,
                            "is for the settings of a client, and this is the configuration of the "
                            "server; `pyexecd install CLIENT` writes that, `pyexecd config init` "
                            "this",
                            "/%s", keys[i]);
}

static void check_default_environment(struct config *config, json_t *root)
{
    const json_t *environments = json_object_get(root, "environments");
    const json_t *written = json_object_get(root, "default_environment");
    const char *name =
        written ? json_string_value(written) : config_checks_choose_environment(environments);

    if (json_object_size(environments) == 0 || (written && !name))
        return;
    if (!name || !json_object_get(environments, name))
        complain_about_names(config, environments, name);
    else
        json_object_set_new(root, "default_environment", json_string(name));
}

/* Any user of this machine can reach a TCP port, so access must be configured explicitly. */
static void check_port(struct config *config, const json_t *root, const struct address *address,
                       size_t index)
{
    bool is_local = endpoint_is_loopback(&address->endpoints[0]);
    bool is_open = json_object_get(root, "auth");

    if (!is_local)
        config_complain(config,
                        is_open ? "other machines can reach it: auth: none is for loopback "
                                  "addresses only; it needs token_file or oauth"
                                : "other machines can reach it: it needs token_file or oauth",
                        "/listen/%zu", index);
    else if (!is_open)
        config_complain(config,
                        "a TCP address needs token_file or oauth, or auth: none, which lets every "
                        "user of this machine in",
                        "/listen/%zu", index);
}

static void check_https(struct config *config, const json_t *root)
{
    const json_t *text;
    size_t i;

    json_array_foreach (json_object_get(root, "listen"), i, text) {
        if (json_is_string(text) && strncmp(json_string_value(text), "https://", 8) == 0 &&
            !json_object_get(root, "tls"))
            config_complain(config, "it needs tls: {certificate: FILE, key: FILE}", "/listen/%zu",
                            i);
    }
}

/* Texts that are no address have their complaint already. */
static void check_tcp(struct config *config, const json_t *root)
{
    const json_t *text;
    size_t i;

    const char *shown = json_object_get(root, "oauth") ? "oauth" : "token_file";

    if (json_object_get(root, shown)) {
        AUTO_FREE char *message = memory_format("contradicts %s; give one of the two", shown);

        if (json_object_get(root, "auth"))
            config_complain(config, message, "/auth");
        return;
    }
    json_array_foreach (json_object_get(root, "listen"), i, text) {
        struct error err = ERROR_INIT;
        struct address address;

        if (json_is_string(text) && address_parse(json_string_value(text), &address, &err) == 0 &&
            (address.kind == ADDRESS_TCP || address.kind == ADDRESS_HTTP ||
             address.kind == ADDRESS_HTTPS))
            check_port(config, root, &address, i);
    }
}

/* True for `https://name:password@host/`: with text before an "@" in the authority. */
static bool has_password(const char *url)
{
    const char *authority = strstr(url, "://");

    return authority && strcspn(authority + 3, "@") < strcspn(authority + 3, "/?#");
}

static void check_passwords(struct config *config, const json_t *root)
{
    const char *name;
    json_t *definition;

    json_object_foreach (json_object_get(root, "environments"), name, definition) {
        const char *url = json_object_get_string(definition, "pip_index_url");
        AUTO_FREE char *pointer = yaml_pointer("/environments", name);
        AUTO_FREE char *message = NULL;

        if (!url || !has_password(url) || !config_is_shared(config))
            continue;
        message =
            memory_format("has a password in it, and others may read this file; chmod go-r %s",
                          config_path(config));
        config_complain(config, message, "%s/pip_index_url", pointer);
    }
}

/* An image is pulled or built, not both. */
static void check_images(struct config *config, const struct yaml_tree *tree, const json_t *root)
{
    const char *name;
    json_t *definition;

    json_object_foreach (json_object_get(root, "environments"), name, definition) {
        AUTO_FREE char *pointer = yaml_pointer("/environments", name);
        AUTO_FREE char *image = memory_format("%s/image", pointer);

        if (json_object_get(definition, "dockerfile") && yaml_tree_find(tree, image))
            config_complain(config, "contradicts image; give one of the two", "%s/dockerfile",
                            pointer);
    }
}

static void config_checks_nodes(struct config *config, const json_t *root)
{
    const json_t *nodes = json_object_get(root, "nodes");
    const char *name;
    json_t *definition;

    json_object_foreach (json_object_get(root, "environments"), name, definition) {
        const char *node = json_object_get_string(definition, "node");
        AUTO_FREE char *pointer = yaml_pointer("/environments", name);
        AUTO_FREE char *names = NULL;
        AUTO_FREE char *message = NULL;

        if (!node || json_object_get(nodes, node))
            continue;
        names = list_names(nodes);
        message = memory_format("no node is called \"%.100s\"; %s%s", node,
                                *names ? "there are: " : "nodes says how one is started", names);
        config_complain(config, message, "%s/node", pointer);
    }
}

/* Complains about a name that has the address of one before it. */
static void config_checks_addresses(struct config *config, const json_t *all)
{
    AUTO_JSON json_t *seen = json_object();
    const char *name;
    json_t *url;

    json_object_foreach ((json_t *)all, name, url) {
        const char *text = json_string_value(url);
        const char *other = text ? json_object_get_string(seen, text) : NULL;
        AUTO_FREE char *pointer = yaml_pointer("/replicas/all", name);
        AUTO_FREE char *message = NULL;

        if (other) {
            message = memory_format("is the address of %s, too", other);
            config_complain(config, message, "%s", pointer);
        } else if (text) {
            json_object_set_new(seen, text, json_string(name));
        }
    }
}

static void config_checks_replicas(struct config *config, const json_t *root)
{
    const json_t *replicas = json_object_get(root, "replicas");
    const char *self = json_object_get_string(replicas, "self");

    if (self && !json_object_get(json_object_get(replicas, "all"), self))
        config_complain(config, "is not among the names in all", "/replicas/self");
    config_checks_addresses(config, json_object_get(replicas, "all"));
}

/* The environments with ISOLATION, as "none: a, b". Owned by the caller; NULL: there is none. */
static char *config_checks_list_isolated(const json_t *environments, enum isolation isolation)
{
    AUTO_JSON json_t *chosen = json_object();
    AUTO_FREE char *names = NULL;
    const char *name;
    json_t *definition;

    json_object_foreach ((json_t *)environments, name, definition) {
        if (environment_kinds_find(definition) &&
            environment_kinds_isolation(definition) == isolation)
            json_object_set(chosen, name, definition);
    }
    if (json_object_size(chosen) == 0)
        return NULL;
    names = list_names(chosen);
    return memory_format("%s: %s", isolation_name(isolation), names);
}

/* One directory for runs of different isolation: files that a weakly isolated run leaves there are
 * code for the other runs. */
static void check_shared_directory(struct config *config, const json_t *root)
{
    const char *directory = json_object_get_string(root, "working_directory");
    const json_t *environments = json_object_get(root, "environments");
    AUTO_FREE char *all = NULL;
    AUTO_FREE char *message = NULL;
    unsigned count = 0;

    if (!directory || *directory != '/' ||
        json_is_true(json_object_get(root, "share_directory_across_isolation")))
        return;
    for (int isolation = 0; isolation < ISOLATIONS; isolation++) {
        AUTO_FREE char *list = config_checks_list_isolated(environments, (enum isolation)isolation);
        char *longer;

        if (!list)
            continue;
        longer = memory_format("%s%s%s", all ? all : "", all ? "; " : "", list);
        free(all);
        all = longer;
        count++;
    }
    if (count < 2)
        return;
    message = memory_format("is for environments of different isolation (%s), so a script that is "
                            "held can leave code there that others import and execute on "
                            "this machine; share_directory_across_isolation: true allows that",
                            all);
    config_complain(config, message, "/working_directory");
}

void config_checks_relations(struct config *config, const struct yaml_tree *tree, json_t *root)
{
    check_all_timeouts(config, tree, root);
    check_default_environment(config, root);
    check_tcp(config, root);
    check_https(config, root);
    check_passwords(config, root);
    check_shared_directory(config, root);
    check_images(config, tree, root);
    config_checks_nodes(config, root);
    config_checks_replicas(config, root);
    sandbox_checks_keys(config, root);
    sandbox_checks_pythons(config, root);
}
