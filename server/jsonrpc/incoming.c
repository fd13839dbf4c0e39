#include "server/jsonrpc/incoming.h"

#include "base/json.h"
#include "base/protocol/message.h"
#include "server/jsonrpc/salvage.h"
#include "server/mcp/request.h"

#include <stdlib.h>
#include <string.h>

static enum incoming_kind kind_of_request(const struct message *message)
{
    static const enum incoming_kind KINDS[] = {
        [MCP_ERA_ANY] = INCOMING_REQUEST,
        [MCP_ERA_HANDSHAKE] = INCOMING_INITIALIZE,
        [MCP_ERA_MODERN] = INCOMING_MODERN,
    };

    return KINDS[mcp_era_of(message->method, message->params)];
}

static enum incoming_kind kind_of_message(const struct message *message)
{
    switch (message->kind) {
    case MESSAGE_REQUEST:
        return kind_of_request(message);
    case MESSAGE_NOTIFICATION:
        return INCOMING_NOTIFICATION;
    case MESSAGE_RESPONSE:
        return INCOMING_RESPONSE;
    }
    return INCOMING_INVALID;
}

static enum incoming_kind kind_of(const struct incoming *incoming)
{
    struct message message;
    struct error err = ERROR_INIT;
    enum incoming_kind kind = INCOMING_INVALID;

    if (!incoming->value)
        return INCOMING_INVALID;
    if (json_is_array(incoming->value))
        return INCOMING_BATCH;
    if (message_read(&message, incoming->value, &incoming->scan, 0, &err) == 0)
        kind = kind_of_message(&message);
    message_deinit(&message);
    return kind;
}

void incoming_init(struct incoming *incoming, char *text, size_t length)
{
    *incoming = (struct incoming){.bytes = length};
    incoming->value = message_parse(text, length, &incoming->scan, &incoming->fault);
    if (!incoming->value && incoming->fault.code == ERROR_PARSE)
        incoming->id = salvage_id(text, length, &incoming->scan);
    incoming->kind = kind_of(incoming);
}

void incoming_deinit(struct incoming *incoming)
{
    scan_deinit(&incoming->scan);
    free(incoming->id);
    json_decref(incoming->value);
    incoming->value = NULL;
    incoming->id = NULL;
}

bool incoming_is_endless(const struct incoming *incoming)
{
    const char *method = json_object_get_string(incoming->value, "method");

    return incoming->kind == INCOMING_MODERN && method &&
           strcmp(method, "subscriptions/listen") == 0;
}
