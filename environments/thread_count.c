#include "environments/thread_count.h"

#include "base/memory.h"

#include <assert.h>
#include <math.h>

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

static unsigned lesser(unsigned a, uint64_t b)
{
    return a < b ? a : (unsigned)b;
}

unsigned thread_count(double cpus, unsigned processes, uint64_t data)
{
    unsigned count = cpus > 1 ? (unsigned)ceil(cpus) : 1;

    count = lesser(count, processes / PROCESSES_PER_THREAD);
    if (data > 0)
        count = lesser(count, data > BASE_BYTES ? (data - BASE_BYTES) / PER_THREAD_BYTES : 0);
    return count > 0 ? count : 1;
}

char *thread_count_variable(unsigned index, unsigned count)
{
    assert(index < THREAD_VARIABLES);
    return memory_format("%s=%u", thread_variable_names[index], count);
}
