/* Input: a schema, NUL, an instance. Whatever they are, compiling ends in a schema or in an error
 * with a message, and validating in an answer that is the same with and without reports. */
#include "base/json.h"
#include "base/schema/schema.h"

#include <assert.h>
#include <jansson.h>
#include <stdint.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void count(void *data, enum schema_problem_place place, const char *pointer,
                  const char *message)
{
    assert(place == SCHEMA_AT_VALUE || place == SCHEMA_AT_KEY);
    assert((*pointer == '\0' || *pointer == '/') && *message);
    ++*(size_t *)data;
}

static void validate(const struct schema *schema, const char *text, size_t length)
{
    AUTO_JSON json_t *instance = json_loadb(text, length, JSON_DECODE_ANY | JSON_ALLOW_NUL, NULL);
    size_t problems = 0;
    bool fits;

    if (!instance)
        return;
    fits = schema_validate(schema, instance, count, &problems);
    assert(fits == (problems == 0));
    /* Explaining takes steps, too: what is too long to explain may be short enough to answer. */
    if (fits)
        assert(schema_validate(schema, instance, NULL, NULL));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const char *text = (const char *)data;
    const char *end = size > 0 ? memchr(data, '\0', size) : NULL;
    struct error err = ERROR_INIT;
    struct schema *schema;
    json_t *document;

    if (!end)
        return 0;
    document = json_loadb(text, (size_t)(end - text), JSON_DECODE_ANY | JSON_ALLOW_NUL, NULL);
    if (!document)
        return 0;
    schema = schema_new(document, &err);
    json_decref(document);
    if (schema)
        validate(schema, end + 1, size - (size_t)(end + 1 - text));
    else
        assert(err.code == ERROR_CONFIG && err.message[0]);
    schema_free(schema);
    return 0;
}
