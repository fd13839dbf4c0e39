#include "server/tools/python/run_code_blocks_definition.h"

#include "base/buffer.h"
#include "base/json.h"
#include "base/memory.h"
#include "server/tools/python/python_arguments.h"
#include "server/tools/python/python_schema.h"

#include <string.h>

/* The languages that RULES say are to be DONE so. Owned by the caller. */
static char *run_code_blocks_languages(const json_t *rules, const char *done)
{
    AUTO_JSON json_t *names = json_array();
    const char *name;
    json_t *rule;

    json_object_foreach ((json_t *)rules, name, rule)
        if (strcmp(json_string_value(rule), done) == 0)
            json_array_append_new(names, json_string(name));
    return json_list(names);
}

char *run_code_blocks_description(const json_t *rules)
{
    AUTO_FREE char *run = run_code_blocks_languages(rules, "run");
    AUTO_FREE char *save = run_code_blocks_languages(rules, "save");

    return memory_format(
        "Runs code blocks one after the other in one working directory, each in a fresh process, "
        "and returns the output and exit code of each. The first that fails is the last.\n"
        "- Languages that are run: %s; that are only saved: %s.\n"
        "- A block whose first line is `# filename: NAME` (or the same in a comment of its "
        "language) is saved under that name, too; a later block can use it.\n"
        "- Variables do not stay from block to block, files do. There is no input() and no "
        "screen.",
        *run ? run : "none", *save ? save : "none");
}

json_t *run_code_blocks_input_schema(const struct python_offer *offer)
{
    json_t *schema = python_schema_built_in("run_code_blocks.input");

    python_arguments_refer(schema, offer, "Seconds for all blocks");
    return schema;
}

json_t *run_code_blocks_output_schema(void)
{
    return python_schema_of_runs("run_code_blocks.output", "blocks");
}
