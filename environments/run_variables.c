#include "environments/run_variables.h"

#include "base/cleanup.h"
#include "base/memory.h"
#include "base/text.h"
#include "environments/thread_count.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char *const leading[] = {
    "PYTHONPATH=",          "PYTHONHOME=", "PYTHONUSERBASE=", "PYTHONPLATLIBDIR=",
    "PYTHONPYCACHEPREFIX=", "GCONV_PATH=", "LOCPATH=",        "LD_"};

enum { OURS = 6 + THREAD_VARIABLES };

static size_t count_strings(const char *const *strings)
{
    size_t count = 0;

    while (strings && strings[count])
        count++;
    return count;
}

/* Adds VARIABLE (taken), or replaces the variable of the same name. */
static void run_variables_set(char **variables, char *variable)
{
    size_t name = strcspn(variable, "=") + 1;
    size_t i = 0;

    while (variables[i] && strncmp(variables[i], variable, name) != 0)
        i++;
    free(variables[i]);
    variables[i] = variable;
}

/* The virtual environment whose interpreters are in the directory BIN of LENGTH bytes, or NULL.
 * Owned by the caller. */
static char *find_virtual_environment(const char *bin, size_t length)
{
    AUTO_FREE char *root = memory_format("%.*s", (int)length, bin);
    char *slash = strrchr(root, '/');
    AUTO_FREE char *configuration = NULL;

    if (!slash)
        return NULL;
    *slash = '\0';
    configuration = memory_format("%s/pyvenv.cfg", root);
    return access(configuration, F_OK) == 0 ? STEAL_PTR(root) : NULL;
}

char **run_variables_new(const char *interpreter, const char *directory, unsigned threads,
                         const char *const *held, char *const *own, const char *const *further)
{
    size_t count = OURS + count_strings(held) + count_strings((const char *const *)own) +
                   count_strings(further);
    char **variables = memory_new(count + 1, sizeof *variables);
    int bin = (int)(strrchr(interpreter, '/') - interpreter);
    AUTO_FREE char *virtual_environment = find_virtual_environment(interpreter, (size_t)bin);

    run_variables_set(variables,
                      memory_format("PATH=%.*s:/usr/local/bin:/usr/bin:/bin", bin, interpreter));
    run_variables_set(variables, memory_format("HOME=%s", directory));
    run_variables_set(variables, memory_copy_string("LANG=C.UTF-8"));
    run_variables_set(variables, memory_copy_string("TMPDIR=/tmp"));
    run_variables_set(variables, memory_copy_string("PYTHONDONTWRITEBYTECODE=1"));
    if (virtual_environment)
        run_variables_set(variables, memory_format("VIRTUAL_ENV=%s", virtual_environment));
    for (unsigned i = 0; i < THREAD_VARIABLES; i++)
        run_variables_set(variables, thread_count_variable(i, threads));
    for (size_t i = 0; held && held[i]; i++)
        run_variables_set(variables, memory_copy_string(held[i]));
    for (size_t i = 0; own && own[i]; i++)
        run_variables_set(variables, memory_copy_string(own[i]));
    for (size_t i = 0; further && further[i]; i++)
        run_variables_set(variables, memory_copy_string(further[i]));
    return variables;
}

bool run_variables_lead_python(const char *const *variables)
{
    for (; variables && *variables; variables++)
        for (size_t i = 0; i < ARRAY_SIZE(leading); i++)
            if (text_starts_with(*variables, leading[i]))
                return true;
    return false;
}
