/* Input: a URI template and, on a line of its own, a URI. Nothing but variables of a valid template
 * is found in the URI, and their values are text without NUL. */
#include "base/cleanup.h"
#include "base/json.h"
#include "base/memory.h"
#include "server/tools/uri_template.h"

#include <assert.h>
#include <stdint.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    AUTO_FREE char *text = memory_format("%.*s", (int)size, (const char *)data);
    char *uri = strchr(text, '\n');
    AUTO_JSON json_t *values = NULL;
    struct error err = ERROR_INIT;
    const char *name;
    json_t *value;

    if (!uri)
        return 0;
    *uri++ = '\0';
    if (uri_template_check(text, &err) < 0)
        return 0;
    values = uri_template_match(text, uri);
    json_object_foreach (values, name, value) {
        assert(uri_template_has(text, name));
        assert(strlen(json_string_value(value)) == json_string_length(value));
    }
    return 0;
}
