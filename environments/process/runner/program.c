#include "environments/process/runner/program.h"

#include <stdlib.h>
#include <string.h>

/* Takes the next NUL-terminated string from *TEXT; NULL when there is none. */
static char *next_string(char **text, size_t *left)
{
    char *string = *text;
    size_t length = strnlen(string, *left);

    if (length == *left)
        return NULL;
    *text += length + 1;
    *left -= length + 1;
    return string;
}

static char **next_strings(char **text, size_t *left, size_t count)
{
    char **strings = calloc(count + 1, sizeof *strings);

    if (!strings)
        return NULL;
    for (size_t i = 0; i < count; i++) {
        strings[i] = next_string(text, left);
        if (!strings[i]) {
            free(strings);
            return NULL;
        }
    }
    return strings;
}

static bool program_take_descriptors(struct program *program,
                                     const int descriptors[CONTROL_DESCRIPTORS])
{
    const struct control_run *run = &program->run;
    const bool has_code = run->has_script && !run->is_ahead;
    size_t next = 0;

    program->gate = -1;
    program->code = has_code ? descriptors[next++] : -1;
    program->input = run->has_input ? descriptors[next++] : -1;
    program->tools = run->has_tools ? descriptors[next++] : -1;
    if (run->is_zygote) {
        program->orders = descriptors[0];
        program->core = descriptors[1];
        return program->orders >= 0 && program->core >= 0 && next == 0 && !run->has_outlet;
    }
    program->outlet = run->has_outlet ? descriptors[next] : -1;
    return (!has_code || program->code >= 0) && (!run->has_input || program->input >= 0) &&
           (!run->has_tools || program->tools >= 0) && (!run->has_outlet || program->outlet >= 0);
}

bool program_has_devices(const struct program *program)
{
    for (char **path = program->paths; *path; path++)
        if (**path == CONTROL_DEVICE)
            return true;
    return false;
}

bool program_parse(struct program *program, char *payload, size_t length,
                   const int descriptors[CONTROL_DESCRIPTORS])
{
    char *text = payload + sizeof program->run;
    size_t left = length - sizeof program->run;

    program->payload = payload;
    program->length = length;
    memcpy(&program->run, payload, sizeof program->run);
    if (program->run.argument_count > left || program->run.variable_count > left ||
        program->run.path_count > left)
        return false;
    program->arguments = next_strings(&text, &left, program->run.argument_count);
    program->variables = next_strings(&text, &left, program->run.variable_count);
    program->paths = next_strings(&text, &left, program->run.path_count);
    program->directory = next_string(&text, &left);
    if (program->run.has_script) {
        program->script = next_string(&text, &left);
        if (!program->script)
            return false;
    }
    if (program->run.is_ahead && !program->run.has_starter)
        return false;
    return program_take_descriptors(program, descriptors) && program->arguments &&
           program->run.argument_count > 0 && program->variables && program->paths &&
           program->directory;
}
