#include "base/protocol/error_object.h"

#include "base/json.h"
#include "base/memory.h"

#include <stddef.h>

/* The numbers and names of error codes in answers. Codes that are not listed are internal errors.
 * The failure of a tool is a result, not an error, long before it gets here. */
static const struct {
    enum error_code code;
    int number;
    const char *name;
} NUMBERS[] = {
    {ERROR_INTERNAL, -32603, "Internal error"},
    {ERROR_PARSE, -32700, "Parse error"},
    {ERROR_INVALID_REQUEST, -32600, "Invalid Request"},
    {ERROR_METHOD_NOT_FOUND, -32601, "Method not found"},
    {ERROR_INVALID_PARAMS, -32602, "Invalid params"},
    {ERROR_ENVELOPE, -32602, "Invalid params"},
    {ERROR_HEADER_MISMATCH, -32020, "Header mismatch"},
    {ERROR_UNKNOWN_TOOL, -32602, "Unknown tool"},
    {ERROR_UNKNOWN_RESOURCE, -32002, "Resource not found"},
    {ERROR_INVALID_ARGUMENTS, -32602, "Invalid params"},
    {ERROR_MISSING_CAPABILITY, -32021, "Missing required client capability"},
    {ERROR_UNSUPPORTED_VERSION, -32022, "Unsupported protocol version"},
    {ERROR_BUSY, -32603, "Busy"},
};

static size_t find_number(const struct error *err)
{
    for (size_t i = 0; i < ARRAY_SIZE(NUMBERS); i++) {
        if (NUMBERS[i].code == err->code)
            return i;
    }
    return 0;
}

json_t *error_object(const struct error *err, json_t *data)
{
    size_t i = find_number(err);
    AUTO_FREE char *text = error_text(err);

    return json_pack("{s:i, s:o, s:O*}", "code", NUMBERS[i].number, "message",
                     json_string_format("%s: %s", NUMBERS[i].name, text), "data", data);
}
