#include "environments/execution.h"

#include "base/memory.h"

char **execution_command(const char *interpreter, const char *script, const char *const *arguments)
{
    size_t count = 0;
    char **command;

    while (arguments && arguments[count])
        count++;
    command = memory_new(count + 3, sizeof *command);
    command[0] = memory_copy_string(interpreter);
    command[1] = memory_copy_string(script);
    for (size_t i = 0; i < count; i++)
        command[2 + i] = memory_copy_string(arguments[i]);
    return command;
}

char **execution_program_command(const char *interpreter, const char *program, const char *kernel)
{
    const char *const arguments[] = {program, kernel, NULL};

    return execution_command(interpreter, "-qc", arguments);
}
