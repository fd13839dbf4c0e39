#include "server/tools/python/run_many_definition.h"

#include "server/tools/python/python_arguments.h"
#include "server/tools/python/python_schema.h"

json_t *run_many_input_schema(const struct python_offer *offer)
{
    json_t *schema = python_schema_built_in("run_many.input");

    python_arguments_refer(schema, offer, "Seconds for each run");
    return schema;
}

json_t *run_many_output_schema(void)
{
    return python_schema_of_runs("run_many.output", "results");
}
