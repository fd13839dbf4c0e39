/* A server with a tool of its own, made with pyexecd's layers; built as build/examples/own_tool. */
#include "base/error.h"
#include "server/mcp/server.h"
#include "server/tools/tool.h"
#include "server/transport/transport.h"

#include <ev.h>
#include <stdio.h>
#include <sys/random.h>

/* The arguments fit the schema below when this is called; 5.0 is an integer, too. */
static enum outcome throw_dice(struct invocation *invocation, struct error *err)
{
    int count = (int)json_number_value(json_object_get(invocation->arguments, "count"));
    unsigned char random[100];
    char text[5 * sizeof random] = "";
    size_t length = 0;

    (void)err;
    (void)!getrandom(random, sizeof random, 0); /* so few bytes cannot fail */
    for (int i = 0; i < count; i++)
        length += (size_t)snprintf(text + length, sizeof text - length, "%d ", random[i] % 6 + 1);
    invocation_add_text(invocation, text, length - 1);
    return OUTCOME_READY;
}

static void own_tool_on_finished(void *loop)
{
    ev_break(loop, EVBREAK_ALL);
}

int main(void)
{
    struct error err = ERROR_INIT;
    struct ev_loop *loop = EV_DEFAULT;
    struct registry *registry = registry_new();
    struct mcp_server server = {.loop = loop, .registry = registry, .name = "dice", .version = "1"};
    struct tool dice = {.name = "dice", .description = "Throws dice.", .start = throw_dice};
    struct transport_settings settings = {.loop = loop,
                                          .server = &server,
                                          .addresses = (const char *const[]){"stdio", NULL},
                                          .limits = transport_default_limits,
                                          .finished = own_tool_on_finished,
                                          .data = loop};
    struct transport *transport = NULL;

    dice.input_schema =
        json_pack("{s:s, s:{s:{s:s, s:i, s:i}}, s:[s]}", "type", "object", "properties", "count",
                  "type", "integer", "minimum", 1, "maximum", 100, "required", "count");
    mcp_server_init(&server);
    if (tool_register_function(registry, &dice, &err) == 0)
        transport = transport_open(&settings, &err);
    if (transport)
        ev_run(loop, 0);
    else
        fprintf(stderr, "own_tool: %s\n", err.message);
    transport_free(transport);
    mcp_server_deinit(&server);
    registry_free(registry);
    return transport == NULL;
}
