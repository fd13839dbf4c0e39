#include "environments/interpreter/tool_sandbox.h"

#include "base/memory.h"
#include "environments/interpreter/python_guess.h"
#include "environments/interpreter/python_needs.h"

#include <stddef.h>
#include <stdlib.h>

/* Moves MORE (taken) behind what is in LIST. */
static char **tool_sandbox_join(char **list, char **more)
{
    size_t count = 0;
    size_t added = 0;

    while (list && list[count])
        count++;
    while (more[added])
        added++;
    list = memory_resize(list, (count + added + 1) * sizeof *list);
    for (size_t i = 0; i <= added; i++)
        list[count + i] = more[i];
    free(more);
    return list;
}

void tool_sandbox_init(struct tool_sandbox *tool, const struct tool_holding *holding)
{
    *tool = (struct tool_sandbox){
        .holding = holding,
        .sandbox = {.required = holding->required},
    };
}

void tool_sandbox_deinit(struct tool_sandbox *tool)
{
    memory_free_strings(tool->read);
    memory_free_strings(tool->write);
    *tool = (struct tool_sandbox){0};
}

/* Shows PATHS (taken). */
static void tool_sandbox_add(struct tool_sandbox *tool, char **paths)
{
    tool->read = tool_sandbox_join(tool->read, paths);
    tool->sandbox.read = (const char *const *)tool->read;
}

void tool_sandbox_show_program(struct tool_sandbox *tool, const char *program,
                               const char *const *directories)
{
    tool_sandbox_add(tool, python_needs_find(program, directories, tool->holding->state));
}

void tool_sandbox_show_candidate(struct tool_sandbox *tool, const char *program)
{
    char **places = python_guess_places(program);
    char **files = python_guess_files(program);

    tool_sandbox_show_program(tool, program, (const char *const *)places);
    for (char **file = files; *file; file++)
        tool_sandbox_show_program(tool, *file, NULL);
    memory_free_strings(places);
    memory_free_strings(files);
}

void tool_sandbox_show(struct tool_sandbox *tool, const char *path)
{
    tool_sandbox_add(tool, python_needs_follow(path));
}

void tool_sandbox_open(struct tool_sandbox *tool, const char *path)
{
    char *real = realpath(path, NULL);
    char **paths = memory_new(2, sizeof *paths);

    tool_sandbox_show(tool, path); /* the links on its way */
    paths[0] = real ? real : memory_copy_string(path);
    tool->write = tool_sandbox_join(tool->write, paths);
    tool->sandbox.write = (const char *const *)tool->write;
}

const struct process_sandbox *tool_sandbox_of(const struct tool_sandbox *tool)
{
    return tool->holding->is_held ? &tool->sandbox : NULL;
}
