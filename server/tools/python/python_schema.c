#include "server/tools/python/python_schema.h"

#include "base/json.h"
#include "schemas/schemas.h"

#include <assert.h>

json_t *python_schema_built_in(const char *name)
{
    json_t *schema = json_loads(schemas_find(name), 0, NULL);

    assert(schema);
    return schema;
}

json_t *python_schema_of_runs(const char *name, const char *list)
{
    json_t *schema = python_schema_built_in(name);
    json_t *properties = json_object_get(schema, "properties");
    json_t *item = json_object_get(json_object_get(properties, list), "items");
    json_t *result = json_object_get(json_object_get(item, "properties"), "result");
    AUTO_JSON json_t *run = python_schema_built_in("run_python.output");

    json_object_set(result, "properties", json_object_get(run, "properties"));
    json_object_set(result, "required", json_object_get(run, "required"));
    return schema;
}
