#include "environments/notebook/kernel_check.h"

#include "base/cleanup.h"
#include "base/text.h"
#include "environments/environment.h"
#include "environments/notebook/kernel_search.h"

#include <string.h>

/* The value of NAME, which ends with "=", in VARIABLES; or NULL. */
static const char *kernel_check_variable(char *const *variables, const char *name)
{
    for (; variables && *variables; variables++)
        if (text_starts_with(*variables, name))
            return *variables + strlen(name);
    return NULL;
}

/* Looks for no kernel in a home: the home of a session is its working directory. */
static int kernel_check_find(const struct environment *environment, const char *python,
                             struct error *err)
{
    char *const *variables = environment->settings.variables;
    const struct kernel_search search = {
        .interpreter = python,
        .path = kernel_check_variable(variables, "JUPYTER_PATH="),
        .data = kernel_check_variable(variables, "JUPYTER_DATA_DIR="),
    };

    return kernel_search_find(&search, environment_kernel(environment), err);
}

int kernel_check(const struct environment *environment, struct error *err)
{
    AUTO_FREE char *python = NULL;

    if (environment_kernel(environment) && environment->ops->find_python)
        python = environment->ops->find_python(environment);
    return python ? kernel_check_find(environment, python, err) : 0;
}
