/* The form of a call in each API, and the form of its result:
 *
 *     openai            {"id", "type": "function", "function": {"name", "arguments": "{...}"}}
 *                       {"role": "tool", "tool_call_id", "content"}
 *     openai-responses  {"type": "function_call", "call_id", "name", "arguments": "{...}"}
 *                       {"type": "function_call_output", "call_id", "output"}
 *     anthropic         {"type": "tool_use", "id", "name", "input": {...}}
 *                       {"type": "tool_result", "tool_use_id", "content", "is_error"}
 *     gemini            {"functionCall": {"id", "name", "args": {...}}}, or what is in it alone
 *                       {"functionResponse": {"id", "name", "response": {"output" or "error"}}}
 *
 * Images reach the model through openai-responses and anthropic; the others take text here. */
#include "server/commands/provider_call.h"

#include "base/buffer.h"
#include "base/cleanup.h"
#include "base/json.h"
#include "base/memory.h"
#include "base/text.h"

#include <stdlib.h>
#include <string.h>

struct provider_form {
    const char *name;
    bool takes_images;
    bool (*is_call)(const json_t *object);
    /* Sets id and name of CALL and returns its arguments, borrowed: text or an object. */
    const json_t *(*read)(struct provider_call *call);
    json_t *(*result)(const struct provider_call *call, const json_t *content, bool is_error);
};

/* Reading */

static bool has_type(const json_t *object, const char *type)
{
    const char *own = json_object_get_string(object, "type");

    return own && strcmp(own, type) == 0;
}

static bool is_openai_call(const json_t *object)
{
    return json_object_get(object, "function") && !has_type(object, "tool_use");
}

static bool is_responses_call(const json_t *object)
{
    return has_type(object, "function_call");
}

static bool is_anthropic_call(const json_t *object)
{
    return has_type(object, "tool_use");
}

/* Its own object; SDKs write it in two ways. */
static const json_t *gemini_call(const json_t *object)
{
    static const char *const keys[] = {"functionCall", "function_call"};

    for (size_t i = 0; i < ARRAY_SIZE(keys); i++) {
        const json_t *call = json_object_get(object, keys[i]);

        if (json_is_object(call))
            return call;
    }
    return object;
}

static bool is_gemini_call(const json_t *object)
{
    const json_t *call = gemini_call(object);

    return call != object || (json_object_get(call, "name") && json_object_get(call, "args"));
}

static const char *provider_call_text(const json_t *object, const char *key)
{
    const char *text = json_object_get_string(object, key);

    return text_or_none(text);
}

static const json_t *read_openai(struct provider_call *call)
{
    const json_t *function = json_object_get(call->object, "function");

    call->id = provider_call_text(call->object, "id");
    call->name = provider_call_text(function, "name");
    return json_object_get(function, "arguments");
}

static const json_t *read_responses(struct provider_call *call)
{
    call->id = provider_call_text(call->object, "call_id");
    call->name = provider_call_text(call->object, "name");
    return json_object_get(call->object, "arguments");
}

static const json_t *read_anthropic(struct provider_call *call)
{
    call->id = provider_call_text(call->object, "id");
    call->name = provider_call_text(call->object, "name");
    return json_object_get(call->object, "input");
}

static const json_t *read_gemini(struct provider_call *call)
{
    const json_t *own = gemini_call(call->object);

    call->id = provider_call_text(own, "id");
    call->name = provider_call_text(own, "name");
    return json_object_get(own, "args");
}

/* Results */

/* All text of CONTENT, a blank line between two blocks. New reference. */
static json_t *text_of(const json_t *content)
{
    char *text = memory_copy_string("");
    const json_t *block;
    json_t *result;
    size_t i;

    json_array_foreach (content, i, block) {
        const char *own = has_type(block, "text") ? json_object_get_string(block, "text") : NULL;
        char *longer;

        if (!own)
            continue;
        longer = memory_format("%s%s%s", text, *text ? "\n\n" : "", own);
        free(text);
        text = longer;
    }
    result = json_string(text);
    free(text);
    return result;
}

static bool has_images(const json_t *content)
{
    const json_t *block;
    size_t i;

    json_array_foreach (content, i, block)
        if (has_type(block, "image"))
            return true;
    return false;
}

/* CONTENT as IMAGE and TEXT make blocks of it, or as text where there is nothing else. New. */
static json_t *blocks_of(const json_t *content, json_t *(*text)(const json_t *block),
                         json_t *(*image)(const json_t *block))
{
    json_t *blocks;
    const json_t *block;
    size_t i;

    if (!has_images(content))
        return text_of(content);
    blocks = json_array();
    json_array_foreach (content, i, block) {
        if (has_type(block, "text"))
            json_array_append_new(blocks, text(block));
        else if (has_type(block, "image"))
            json_array_append_new(blocks, image(block));
    }
    return blocks;
}

static json_t *anthropic_text(const json_t *block)
{
    return json_pack("{s:s, s:O}", "type", "text", "text", json_object_get(block, "text"));
}

static json_t *anthropic_image(const json_t *block)
{
    return json_pack("{s:s, s:{s:s, s:O, s:O}}", "type", "image", "source", "type", "base64",
                     "media_type", json_object_get(block, "mimeType"), "data",
                     json_object_get(block, "data"));
}

static json_t *responses_text(const json_t *block)
{
    return json_pack("{s:s, s:O}", "type", "input_text", "text", json_object_get(block, "text"));
}

static json_t *responses_image(const json_t *block)
{
    AUTO_FREE char *url = memory_format("data:%s;base64,%s", provider_call_text(block, "mimeType"),
                                        provider_call_text(block, "data"));

    return json_pack("{s:s, s:s, s:s}", "type", "input_image", "detail", "auto", "image_url", url);
}

static json_t *openai_result(const struct provider_call *call, const json_t *content, bool is_error)
{
    (void)is_error; /* the text says it */
    return json_pack("{s:s, s:s, s:o}", "role", "tool", "tool_call_id", call->id, "content",
                     text_of(content));
}

static json_t *responses_result(const struct provider_call *call, const json_t *content,
                                bool is_error)
{
    (void)is_error;
    return json_pack("{s:s, s:s, s:o}", "type", "function_call_output", "call_id", call->id,
                     "output", blocks_of(content, responses_text, responses_image));
}

static json_t *anthropic_result(const struct provider_call *call, const json_t *content,
                                bool is_error)
{
    return json_pack("{s:s, s:s, s:o, s:b}", "type", "tool_result", "tool_use_id", call->id,
                     "content", blocks_of(content, anthropic_text, anthropic_image), "is_error",
                     is_error);
}

/* In the form of the call: a part of a message, or only the response in it. */
static json_t *gemini_result(const struct provider_call *call, const json_t *content, bool is_error)
{
    json_t *response =
        json_pack("{s:s*, s:s, s:{s:o}}", "id", *call->id ? call->id : NULL, "name", call->name,
                  "response", is_error ? "error" : "output", text_of(content));

    if (is_gemini_call(call->object) && gemini_call(call->object) == call->object)
        return response;
    return json_pack("{s:o}", "functionResponse", response);
}

/* Forms */

static const struct provider_form provider_forms[] = {
    {"openai", false, is_openai_call, read_openai, openai_result},
    {"openai-responses", true, is_responses_call, read_responses, responses_result},
    {"anthropic", true, is_anthropic_call, read_anthropic, anthropic_result},
    {"gemini", false, is_gemini_call, read_gemini, gemini_result},
};

static const struct provider_form *detect_form(const json_t *object)
{
    for (size_t i = 0; i < ARRAY_SIZE(provider_forms); i++)
        if (provider_forms[i].is_call(object))
            return &provider_forms[i];
    return NULL;
}

static const struct provider_form *find_form(const char *name)
{
    for (size_t i = 0; i < ARRAY_SIZE(provider_forms); i++)
        if (strcmp(provider_forms[i].name, name) == 0)
            return &provider_forms[i];
    return NULL;
}

/* OBJECT (taken) is the call, or NULL: the text was no JSON. */
static void provider_call_init(struct provider_call *call, json_t *object, const char *provider)
{
    const struct provider_form *named = provider ? find_form(provider) : NULL;

    *call = (struct provider_call){.object = object, .id = "", .name = ""};
    call->form = named ? named : detect_form(object);
    if (!call->form)
        call->form = &provider_forms[0];
}

/* The arguments, new: some providers write them as JSON in a string. */
static json_t *parse_arguments(const json_t *written, struct error *err)
{
    json_error_t error;
    json_t *parsed;

    if (!written || json_is_null(written))
        return json_object();
    if (!json_is_string(written))
        return json_incref((json_t *)written);
    if (json_string_length(written) == 0)
        return json_object();
    parsed = json_loadb(json_string_value(written), json_string_length(written), JSON_DECODE_ANY,
                        &error);
    if (!parsed)
        error_set(err, ERROR_INVALID_ARGUMENTS,
                  "the arguments are not valid JSON: %s (character %d)", error.text,
                  error.position);
    return parsed;
}

static int read_arguments(struct provider_call *call, const json_t *written, struct error *err)
{
    AUTO_JSON json_t *arguments = parse_arguments(written, err);

    if (!arguments)
        return -1;
    if (!json_is_object(arguments))
        return error_set(err, ERROR_INVALID_ARGUMENTS, "the arguments must be an object, not %s",
                         json_type_name(arguments));
    call->arguments = STEAL_PTR(arguments);
    return 0;
}

static int check_call(const struct provider_call *call, const char *provider, struct error *err)
{
    const struct provider_form *seen = detect_form(call->object);

    if (provider && !find_form(provider))
        return error_set(err, ERROR_USAGE,
                         "unknown provider %s: must be openai, openai-responses, anthropic or "
                         "gemini",
                         provider);
    if (!seen)
        return error_set(
            err, ERROR_INVALID_ARGUMENTS,
            "this is not a tool call of openai, openai-responses, anthropic or gemini; "
            "pass one call, as the API has it");
    if (seen != call->form)
        return error_set(err, ERROR_USAGE, "this is a tool call of %s, not of %s", seen->name,
                         call->form->name);
    return 0;
}

int provider_call_read(struct provider_call *call, const char *text, size_t length,
                       const char *provider, struct error *err)
{
    json_error_t error;
    const json_t *arguments;

    provider_call_init(call, json_loadb(text, length, JSON_REJECT_DUPLICATES, &error), provider);
    arguments = call->object ? call->form->read(call) : NULL;
    if (!call->object && length == 0)
        return error_set(err, ERROR_INVALID_ARGUMENTS,
                         "standard input is empty: it should be the tool call, as JSON");
    if (!call->object)
        return error_set(err, ERROR_INVALID_ARGUMENTS,
                         "the tool call is not valid JSON: %s (line %d, column %d)", error.text,
                         error.line, error.column);
    if (check_call(call, provider, err) < 0)
        return -1;
    return read_arguments(call, arguments, err);
}

void provider_call_deinit(struct provider_call *call)
{
    json_decref(call->object);
    json_decref(call->arguments);
    *call = (struct provider_call){0};
}

bool provider_call_takes_images(const struct provider_call *call)
{
    return call->form->takes_images;
}

json_t *provider_call_result(const struct provider_call *call, const json_t *content, bool is_error)
{
    return call->form->result(call, content, is_error);
}
