#include "server/tools/python/run_many_definition.h"

#include "base/json.h"
#include "schemas/schemas.h"
#include "server/tools/python/python_arguments.h"
#include "server/tools/python/run_python.h"

#include <assert.h>

/* Built-in schemas are valid JSON. New reference. */
static json_t *run_many_schema(const char *name)
{
    json_t *schema = json_loads(schemas_find(name), 0, NULL);

    assert(schema);
    return schema;
}

json_t *run_many_input_schema(const struct python_offer *offer)
{
    json_t *schema = run_many_schema("run_many.input");

    python_arguments_refer(schema, offer, "Seconds for each run");
    return schema;
}

json_t *run_many_output_schema(void)
{
    json_t *schema = run_many_schema("run_many.output");
    json_t *properties = json_object_get(schema, "properties");
    json_t *entry = json_object_get(json_object_get(properties, "results"), "items");
    json_t *result = json_object_get(json_object_get(entry, "properties"), "result");
    AUTO_JSON json_t *run = run_python_output_schema();

    json_object_set(result, "properties", json_object_get(run, "properties"));
    json_object_set(result, "required", json_object_get(run, "required"));
    return schema;
}
