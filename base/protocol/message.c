#include "base/protocol/message.h"

#include "base/cleanup.h"
#include "base/json.h"
#include "base/memory.h"
#include "base/protocol/error_object.h"
#include "base/protocol/long_strings.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

/* Reading */

/* In the position a long string counts as an empty one. */
static void message_explain(const json_error_t *failure, struct error *err)
{
    error_set(err, ERROR_PARSE, "%s at line %d column %d", failure->text, failure->line,
              failure->column);
}

/* The parser takes some 15 ms for a megabyte, in which nobody else is served. */
static int message_check_rest(size_t length, struct error *err)
{
    if (length <= MESSAGE_REST_BYTES)
        return 0;
    return error_set(err, ERROR_INVALID_REQUEST,
                     "message has more than %d bytes besides its strings of %d bytes and more",
                     MESSAGE_REST_BYTES, SCAN_LONG_BYTES);
}

json_t *message_parse(char *text, size_t length, struct scan *scan, struct error *err)
{
    AUTO(long_strings_deinit) struct long_strings strings = {0};
    json_error_t failure;
    json_t *value;

    if (scan_text(scan, text, length, err) < 0)
        return NULL;
    length = long_strings_take(&strings, scan, text, length);
    if (message_check_rest(length, err) < 0)
        return NULL;
    value = json_loadb(text, length, JSON_REJECT_DUPLICATES | JSON_DECODE_ANY | JSON_ALLOW_NUL,
                       &failure);
    if (value)
        long_strings_put_back(&strings, value);
    else
        message_explain(&failure, err);
    return value;
}

char *message_id_text(const json_t *value, const char *digits)
{
    char *text;

    if (digits && json_is_real(value))
        text = memory_copy_string(digits);
    else if (json_is_integer(value) || json_is_string(value))
        text = json_text(value);
    else
        return NULL;
    if (strlen(text) <= MESSAGE_ID_BYTES)
        return text;
    free(text);
    return NULL;
}

static bool is_version_2(const json_t *value)
{
    const json_t *version = json_object_get(value, "jsonrpc");

    return json_is_string(version) && strcmp(json_string_value(version), "2.0") == 0 &&
           json_string_length(version) == 3;
}

static bool is_response(const json_t *value)
{
    bool has_result = json_object_get(value, "result") != NULL;
    bool has_error = json_object_get(value, "error") != NULL;

    return has_result != has_error && json_object_get(value, "id");
}

/* The name, unless it holds a NUL: C strings would take it for another one. */
static const char *method_name(const json_t *method)
{
    const char *name = json_string_value(method);

    return strlen(name) == json_string_length(method) ? name : NULL;
}

static int read_request(struct message *message, const json_t *value, struct error *err)
{
    message->kind = json_object_get(value, "id") ? MESSAGE_REQUEST : MESSAGE_NOTIFICATION;
    message->method = method_name(json_object_get(value, "method"));
    message->params = json_object_get(value, "params");
    if (message->kind == MESSAGE_NOTIFICATION)
        return 0;
    if (!message->id)
        return error_set(err, ERROR_INVALID_REQUEST,
                         "id must be a string or an integer of at most %d bytes", MESSAGE_ID_BYTES);
    if (message->params && !json_is_object(message->params))
        return error_set(err, ERROR_INVALID_PARAMS, "params must be an object, not %s",
                         json_type_name(message->params));
    if (!message->method)
        return error_set(err, ERROR_METHOD_NOT_FOUND, "the name contains a NUL");
    return 0;
}

int message_read(struct message *message, json_t *value, const struct scan *scan, size_t element,
                 struct error *err)
{
    const json_t *method = json_object_get(value, "method");

    *message = (struct message){0};
    if (!json_is_object(value))
        return error_set(err, ERROR_INVALID_REQUEST, "a message must be an object, not %s",
                         json_type_name(value));
    /* A message without a method is a response: its id is an id of ours and must not be echoed. */
    if (method)
        message->id =
            message_id_text(json_object_get(value, "id"), scan_find(scan, element, SCAN_ID));
    if (!is_version_2(value))
        return error_set(err, ERROR_INVALID_REQUEST, "jsonrpc must be \"2.0\"");
    if (json_is_string(method))
        return read_request(message, value, err);
    if (method)
        return error_set(err, ERROR_INVALID_REQUEST, "method must be a string, not %s",
                         json_type_name(method));
    if (!is_response(value))
        return error_set(err, ERROR_INVALID_REQUEST,
                         "neither a request (method) nor a response (id and result or error)");
    message->kind = MESSAGE_RESPONSE;
    return 0;
}

void message_deinit(struct message *message)
{
    free(message->id);
    *message = (struct message){0};
}

/* Writing */

char *message_result_text(const char *id, const char *result)
{
    return memory_format("{\"jsonrpc\":\"2.0\",\"id\":%s,\"result\":%s}", id, result);
}

char *message_result(const char *id, const json_t *result)
{
    AUTO_FREE char *before = memory_format("{\"jsonrpc\":\"2.0\",\"id\":%s,\"result\":", id);

    return json_text_within(before, result, "}");
}

char *message_error(const char *id, const struct error *err, json_t *data)
{
    AUTO_JSON json_t *error = error_object(err, data);
    AUTO_FREE char *before =
        memory_format("{\"jsonrpc\":\"2.0\",\"id\":%s,\"error\":", id ? id : "null");

    return json_text_within(before, error, "}");
}

char *message_request(unsigned id, const char *method, json_t *params)
{
    AUTO_JSON json_t *message = json_pack("{s:s, s:I, s:s, s:O*}", "jsonrpc", "2.0", "id",
                                          (json_int_t)id, "method", method, "params", params);

    return json_text(message);
}

char *message_notification(const char *method, json_t *params)
{
    AUTO_JSON json_t *message =
        json_pack("{s:s, s:s, s:O}", "jsonrpc", "2.0", "method", method, "params", params);

    return json_text(message);
}
