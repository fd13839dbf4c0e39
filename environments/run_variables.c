#include "environments/run_variables.h"

#include "base/cleanup.h"
#include "base/memory.h"
#include "base/text.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char *const leading[] = {
    "PYTHONPATH=",          "PYTHONHOME=", "PYTHONUSERBASE=", "PYTHONPLATLIBDIR=",
    "PYTHONPYCACHEPREFIX=", "GCONV_PATH=", "LOCPATH=",        "LD_"};

/* Measured with numpy 2.4, scipy 1.17, pandas 3.1, matplotlib 3.11 and scikit-learn 1.9, all
 * imported and used: 310 MiB of address space with one thread, 100 MiB more with each further one.
 * The threads use little of it: numpy and scipy bring an OpenBLAS each, scikit-learn an OpenMP; a
 * thread of each has a stack of 8 MiB, and a thread of OpenBLAS a buffer of 32 MiB, too. */
#define BASE_BYTES       ((uint64_t)512 << 20) /* for the libraries and the script's own data */
#define PER_THREAD_BYTES ((uint64_t)128 << 20)

/* Three pools, and as many processes again for programs that the script starts. */
enum { PROCESSES_PER_THREAD = 8 };

/* OpenBLAS, MKL, BLIS, OpenMP, numexpr, PyTorch and Arrow all read the first one. An own number of
 * theirs, such as OPENBLAS_NUM_THREADS, goes before it, so none is set here: an operator who sets
 * OMP_NUM_THREADS alone has set all of them. The other libraries do not read it. */
static const char *const thread_variable_names[THREAD_VARIABLES] = {
    "OMP_NUM_THREADS",    "NUMBA_NUM_THREADS", /* Numba */
    "POLARS_MAX_THREADS", "RAYON_NUM_THREADS", /* programs in Rust */
    "LOKY_MAX_CPU_COUNT",                      /* joblib, n_jobs of scikit-learn */
    "PYTHON_CPU_COUNT",                        /* os.cpu_count(), pools of processes; 3.13 */
};

enum { OURS = 6 + THREAD_VARIABLES };

static unsigned lesser(unsigned a, uint64_t b)
{
    return a < b ? a : (unsigned)b;
}

unsigned run_variables_thread_count(double cpus, unsigned processes, uint64_t data)
{
    unsigned count = cpus > 1 ? (unsigned)ceil(cpus) : 1;

    count = lesser(count, processes / PROCESSES_PER_THREAD);
    if (data > 0)
        count = lesser(count, data > BASE_BYTES ? (data - BASE_BYTES) / PER_THREAD_BYTES : 0);
    return count > 0 ? count : 1;
}

char *run_variables_thread(unsigned index, unsigned count)
{
    assert(index < THREAD_VARIABLES);
    return memory_format("%s=%u", thread_variable_names[index], count);
}

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
        run_variables_set(variables, run_variables_thread(i, threads));
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
