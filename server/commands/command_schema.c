/* `pyexecd schema`: the tools in a provider's form, for programs that call models themselves. */
#include "base/cleanup.h"
#include "base/json.h"
#include "environments/callers/caller_rules.h"
#include "environments/catalog/catalog.h"
#include "server/commands/command.h"
#include "server/commands/options.h"
#include "server/commands/provider.h"
#include "server/configuration/config.h"
#include "server/service.h"
#include "server/tools/run_python_definition.h"

#include <stdio.h>
#include <sysexits.h>

static json_t *command_schema_declare(const struct provider *provider,
                                      const struct catalog *catalog,
                                      const struct caller_rules *rules, const char *environment)
{
    AUTO_FREE char *description = run_python_description(catalog, environment);
    AUTO_JSON json_t *input_schema = run_python_input_schema(catalog, environment, rules);
    AUTO_JSON json_t *output_schema = run_python_output_schema();
    AUTO_JSON json_t *annotations = run_python_annotations();

    return provider_declare(provider, &(struct provider_function){
                                          .name = RUN_PYTHON_NAME,
                                          .title = RUN_PYTHON_TITLE,
                                          .description = description,
                                          .input_schema = input_schema,
                                          .output_schema = output_schema,
                                          .annotations = annotations,
                                      });
}

/* `environment_definition` is declared if a server with this configuration would accept it. */
static int command_schema_print(const struct provider *provider, const struct options *options,
                                struct config *config)
{
    const char *addresses[OPTIONS_ADDRESSES + 1] = {0};
    struct catalog *catalog = service_open_catalog(&(struct catalog_settings){0}, config);
    struct caller_rules *rules = service_open_rules(config);
    bool may_define;
    AUTO_JSON json_t *declaration = NULL;

    command_list_addresses(options, config, addresses);
    may_define = config_callers(config, addresses).define_environments;
    if (!config_has_errors(config))
        declaration = command_schema_declare(
            provider, catalog, may_define ? rules : NULL,
            json_object_get_string(config_tree(config), "default_environment"));
    caller_rules_free(rules);
    catalog_free(catalog);
    if (!declaration)
        return command_fail_config(config);
    return command_print_json(declaration);
}

int command_schema(const struct options *options)
{
    struct error err = ERROR_INIT;
    const struct provider *provider = provider_find(options->provider, &err);
    struct config *config;
    int status;

    if (!provider)
        return command_fail(&err);
    config = command_load_config(options, &status);
    if (!config)
        return status;
    status = command_schema_print(provider, options, config);
    config_free(config);
    return status;
}
