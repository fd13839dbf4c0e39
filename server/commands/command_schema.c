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
#include "server/tools/python/python_host.h"
#include "server/tools/python/python_tools.h"
#include "server/tools/registry.h"
#include "server/tools/tool.h"

#include <sysexits.h>

static int command_schema_print_tool(const struct provider *provider, const struct tool *tool)
{
    const json_t *output_schema =
        tool_is_structured(tool, RESULT_FORM_UNSAID) ? tool->output_schema : NULL;
    AUTO_JSON json_t *declaration =
        provider_declare(provider, &(struct provider_function){
                                       .name = tool->name,
                                       .title = tool->title,
                                       .description = tool->description,
                                       .input_schema = tool->input_schema,
                                       .output_schema = output_schema,
                                       .annotations = tool->annotations,
                                   });

    return command_print_json(declaration);
}

/* One declaration after the other, of the tools that a server with SETTINGS offers. */
static int command_schema_print_tools(const struct provider *provider,
                                      const struct python_settings *settings)
{
    struct registry *registry = registry_new();
    struct python_host *host = python_host_new(settings);
    struct error err = ERROR_INIT;
    int status = EX_OK;

    if (python_tools_offer(registry, host, &err) < 0)
        status = command_fail(&err);
    for (size_t i = 0; status == EX_OK && i < registry_count(registry, REGISTRY_TOOLS); i++)
        status =
            command_schema_print_tool(provider, tool_of(registry_at(registry, REGISTRY_TOOLS, i)));
    registry_free(registry);
    python_host_free(host);
    return status;
}

/* `environment_definition` is declared if a server with this configuration would accept it. */
static int command_schema_print(const struct provider *provider, const struct options *options,
                                struct config *config)
{
    const char *addresses[OPTIONS_ADDRESSES + 1] = {0};
    AUTO_FREE char *start = NULL;
    struct catalog *catalog;
    struct caller_rules *rules;
    struct python_settings settings = {
        .default_environment = json_object_get_string(config_tree(config), "default_environment"),
        .code_blocks = json_object_get(config_tree(config), "code_blocks"),
        .has_many = json_is_true(json_object_get(config_tree(config), "run_many")),
        .results = command_result_form(options, config),
    };
    int status;

    command_list_addresses(options, config, addresses);
    start = service_find_start(command_find_start(addresses), NULL);
    settings.catalog = catalog = service_open_catalog(&(struct catalog_settings){0}, config, start);
    rules = service_open_rules(config, start);
    if (config_callers(config, addresses).define_environments)
        settings.rules = rules;
    status = config_has_errors(config) ? command_fail_config(config)
                                       : command_schema_print_tools(provider, &settings);
    caller_rules_free(rules);
    catalog_free(catalog);
    return status;
}

int command_schema(const struct options *options)
{
    struct error err = ERROR_INIT;
    const struct provider *provider =
        provider_find(options->provider ? options->provider : "mcp", &err);
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
