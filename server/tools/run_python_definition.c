#include "server/tools/run_python_definition.h"

#include "base/buffer.h"
#include "base/json.h"
#include "base/memory.h"
#include "schemas/schemas.h"
#include "server/tools/guide.h"
#include "server/tools/python_arguments.h"
#include "server/tools/python_offer.h"

#include <assert.h>

/* OpenAI accepts at most 1024 characters. */
char *run_python_description(const struct python_offer *offer)
{
    struct buffer text;
    char *ret;

    buffer_init(&text, GUIDE_BYTES);
    buffer_print(&text, "%s\n", GUIDE_PURPOSE);
    guide_append_rules(&text, offer);
    guide_append_limits(&text, offer);
    ret = memory_format("%.*s", (int)buffer_length(&text) - 1, buffer_bytes(&text));
    buffer_deinit(&text);
    return ret;
}

/* Built-in schemas are valid JSON. New reference. */
static json_t *built_in(const char *name)
{
    json_t *schema = json_loads(schemas_find(name), 0, NULL);

    assert(schema);
    return schema;
}

json_t *run_python_input_schema(const struct python_offer *offer)
{
    json_t *schema = built_in("run_python.input");

    python_arguments_describe(schema, offer);
    return schema;
}

json_t *run_python_output_schema(void)
{
    return built_in("run_python.output");
}

json_t *run_python_annotations(void)
{
    return json_pack("{s:s, s:b, s:b, s:b, s:b}", "title", RUN_PYTHON_TITLE, "readOnlyHint", 0,
                     "destructiveHint", 1, "idempotentHint", 0, "openWorldHint", 1);
}
