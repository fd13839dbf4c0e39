#include "environments/interpreter/system_index.h"

#include "base/cleanup.h"
#include "base/memory.h"
#include "environments/interpreter/base_python.h"
#include "environments/interpreter/bundled_pip.h"
#include "environments/interpreter/tool_sandbox.h"
#include "environments/process/subprocess.h"

#include <stddef.h>
#include <unistd.h>

static const char SYSTEM_INDEX_QUESTION[] = "import sys\n"
                                            "\n" BUNDLED_PIP_SOURCE "\n" DEFAULT_INDEX_SOURCE "\n"
                                            "try:\n"
                                            "    wheel = find_bundled_pip()\n"
                                            "except Exception:\n"
                                            "    wheel = None\n"
                                            "print(default_index(wheel) or '')\n";

static const char *system_index_python(void)
{
    static const char *const pythons[] = {"/usr/bin/python3", "/usr/local/bin/python3"};

    for (size_t i = 0; i < ARRAY_SIZE(pythons); i++)
        if (access(pythons[i], X_OK) == 0 && base_python_is_believed(pythons[i]))
            return pythons[i];
    return NULL;
}

struct subprocess *
system_index_ask(struct process_host *host, const struct tool_holding *holding, void *data,
                 void (*ended)(void *data, const char *output, const struct error *err),
                 struct error *err)
{
    const char *python = system_index_python();
    const char *const arguments[] = {python, "-Ic", SYSTEM_INDEX_QUESTION, NULL};
    const char *const variables[] = {"LANG=C.UTF-8", "PATH=/usr/local/bin:/usr/bin:/bin", NULL};
    AUTO(tool_sandbox_deinit) struct tool_sandbox tool;
    struct subprocess_settings settings = {
        .host = host,
        .name = python,
        .arguments = arguments,
        .variables = variables,
        .directory = "/",
        .absent = holding->absent,
        .data = data,
        .ended = ended,
    };

    tool_sandbox_init(&tool, holding);
    if (!python)
        return NULL;
    tool_sandbox_show_program(&tool, python, NULL);
    settings.sandbox = tool_sandbox_of(&tool);
    return subprocess_start(&settings, err);
}
