#include "server/tools/run_python_definition.h"

#include "base/json.h"
#include "base/memory.h"
#include "environments/catalog/catalog.h"
#include "schemas/schemas.h"
#include "server/tools/environment_text.h"
#include "server/tools/python_arguments.h"
#include "server/tools/python_offer.h"

#include <assert.h>

/* Followed by the limits. OpenAI accepts at most 1024 characters in all. */
static const char introduction[] =
    "Runs a Python program in a fresh process, as `python script.py`, and returns what it printed, "
    "its exit code and the files it made.\n"
    "- Only what is printed comes back: print() what you want to see.\n"
    "- Each call starts anew: variables and imports are gone. Files stay: the current directory is "
    "the one of the call before.\n"
    "- stdin is empty.\n"
    "- When the program ends, all that it started is ended too. At its timeout it is killed; what "
    "it printed until then is returned.\n"
    "- After a failure, read the traceback, repair the program and call again.\n";

char *run_python_description(const struct python_offer *offer)
{
    AUTO_FREE char *limits =
        environment_text_limits(catalog_find(offer->catalog, offer->default_environment));

    return memory_format("%s- Limits: %s.", introduction, limits);
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
