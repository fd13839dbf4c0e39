#include "environments/execution.h"

#include "base/memory.h"

static size_t execution_count(const char *const *list)
{
    size_t count = 0;

    while (list && list[count])
        count++;
    return count;
}

/* Both are NULL-terminated, and the second one may be NULL. */
static char **execution_join(const char *const *beginning, const char *const *arguments)
{
    const size_t first = execution_count(beginning);
    const size_t count = execution_count(arguments);
    char **command = memory_new(first + count + 1, sizeof *command);

    for (size_t i = 0; i < first; i++)
        command[i] = memory_copy_string(beginning[i]);
    for (size_t i = 0; arguments && i < count; i++)
        command[first + i] = memory_copy_string(arguments[i]);
    return command;
}

char **execution_command(const char *interpreter, const char *script,
                         const struct execution_request *request)
{
    const char *const of_file[] = {interpreter, script, NULL};
    const char *const of_text[] = {interpreter, "-qc", request->text, NULL};

    return execution_join(request->text ? of_text : of_file, request->arguments);
}

char **execution_program_command(const char *interpreter, const struct execution_request *request)
{
    const char *const beginning[] = {interpreter, "-qc", request->program, request->kernel, NULL};

    return execution_join(beginning, NULL);
}
