#include "environments/docker/jupyter.h"

#include "base/cleanup.h"
#include "base/memory.h"
#include "environments/docker/container_description.h"

#include <link.h>
#include <stdlib.h>
#include <string.h>

#define JUPYTER_PROGRAM   "/run/pyexecd-jupyter"
#define JUPYTER_LIBRARIES "/run/pyexecd-libraries"

/* Takes the first object, which is the program itself: its interpreter is the loader. */
static int docker_jupyter_on_object(struct dl_phdr_info *object, size_t size, void *data)
{
    const char **loader = data;

    (void)size;
    for (int i = 0; i < object->dlpi_phnum; i++)
        if (object->dlpi_phdr[i].p_type == PT_INTERP)
            *loader = (const char *)(object->dlpi_addr + object->dlpi_phdr[i].p_vaddr);
    return 1;
}

/* The real path of the loader that has loaded this program. Owned by the caller; NULL: it is
 * static.
 */
static char *docker_jupyter_loader(void)
{
    const char *loader = NULL;

    dl_iterate_phdr(docker_jupyter_on_object, &loader);
    return loader ? realpath(loader, NULL) : NULL;
}

int docker_jupyter_add_mounts(json_t *mounts, const char *program, struct error *err)
{
    AUTO_FREE char *folder = docker_jupyter_loader();

    if (!folder)
        return error_set(err, ERROR_SYSTEM,
                         "cannot find the libraries that Jupyter kernels in a container need");
    *strrchr(folder, '/') = '\0';
    json_array_append_new(mounts, docker_mount(program, JUPYTER_PROGRAM, false));
    json_array_append_new(mounts, docker_mount(folder, JUPYTER_LIBRARIES, false));
    return 0;
}

char **docker_jupyter_command(const char *python, const char *kernel)
{
    AUTO_FREE char *found = docker_jupyter_loader();
    AUTO_FREE char *loader =
        memory_format(JUPYTER_LIBRARIES "%s", found ? strrchr(found, '/') : "/ld.so");
    const char *const command[] = {
        loader, "--library-path", JUPYTER_LIBRARIES, JUPYTER_PROGRAM, python, kernel, NULL};

    return memory_copy_strings(command);
}
