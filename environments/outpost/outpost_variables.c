/* The variables by which a scheduler tells its jobs which GPUs are theirs. */
#include "base/memory.h"
#include "environments/outpost/outpost_private.h"

#include <stdlib.h>
#include <string.h>

/* As Slurm sets them: of NVIDIA, AMD (two) and Intel. */
static const char *const outpost_gpu_variables[] = {
    "CUDA_VISIBLE_DEVICES",
    "ROCR_VISIBLE_DEVICES",
    "GPU_DEVICE_ORDINAL",
    "ZE_AFFINITY_MASK",
};

static bool outpost_variables_have(char *const *variables, const char *name)
{
    const size_t length = strlen(name);

    for (; variables && *variables; variables++)
        if (strncmp(*variables, name, length) == 0 && (*variables)[length] == '=')
            return true;
    return false;
}

char **outpost_variables_new(const struct environment *environment, const char *const *own)
{
    size_t count = 0;
    size_t given = 0;
    char **variables;

    while (own && own[count])
        count++;
    variables = memory_new(ARRAY_SIZE(outpost_gpu_variables) + count + 1, sizeof *variables);
    for (size_t i = 0; i < ARRAY_SIZE(outpost_gpu_variables); i++) {
        const char *name = outpost_gpu_variables[i];
        const char *value = getenv(name);

        if (value && !outpost_variables_have(environment->settings.variables, name))
            variables[given++] = memory_format("%s=%s", name, value);
    }
    for (size_t i = 0; i < count; i++)
        variables[given++] = memory_copy_string(own[i]);
    return variables;
}
