#include "environments/gpu_files.h"

#include "base/cleanup.h"
#include "base/fd.h"
#include "base/memory.h"
#include "base/text.h"
#include "environments/real_path.h"

#include <errno.h>
#include <glob.h>
#include <grp.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

enum { GPU_FILES_MOST = 256, GPU_CLASS_BYTES = 16 };

static const char *const gpu_devices[] = {
    "/dev/nvidia[0-9]*",  "/dev/nvidiactl", "/dev/nvidia-uvm",   "/dev/nvidia-uvm-tools",
    "/dev/nvidia-caps/*", "/dev/kfd",       "/dev/dri/renderD*", "/dev/dxg",
};

/* Links by which a device is found, and single files. */
static const char *const gpu_names[] = {
    "/sys/class/drm/*",
    "/sys/class/kfd/*",
    "/sys/module/amdgpu/initstate", /* rocminfo asks it first */
    "/sys/module/amdgpu/version",
};

static void gpu_files_add(char ***list, const char *path)
{
    size_t count = 0;

    while ((*list)[count])
        count++;
    if (count == GPU_FILES_MOST)
        return;
    *list = memory_resize(*list, (count + 2) * sizeof **list);
    (*list)[count] = memory_copy_string(path);
    (*list)[count + 1] = NULL;
}

static bool gpu_files_hold(char *const *list, const char *path)
{
    for (; *list; list++)
        if (real_path_holds(*list, path))
            return true;
    return false;
}

static void gpu_files_for_each(struct gpu_files *files, const char *pattern,
                               void (*look)(struct gpu_files *files, const char *path))
{
    glob_t found;

    if (glob(pattern, 0, NULL, &found) == 0)
        for (size_t i = 0; i < found.gl_pathc; i++)
            look(files, found.gl_pathv[i]);
    globfree(&found);
}

/* A script of a server that is root has a uid of its own, and joins the groups of its devices. */
static bool gpu_files_can_use(const char *path, const struct stat *status)
{
    if (geteuid() != 0)
        return access(path, R_OK | W_OK) == 0;
    return (status->st_mode & 0006) == 0006 ||
           ((status->st_mode & 0060) == 0060 && status->st_gid != 0);
}

/* Some files are for administrators alone, such as most of /dev/nvidia-caps. */
static void gpu_files_look_at_device(struct gpu_files *files, const char *path)
{
    struct stat status;

    if (lstat(path, &status) == 0 && S_ISCHR(status.st_mode) && gpu_files_can_use(path, &status))
        gpu_files_add(&files->devices, path);
}

/* Shows the target of LINK, or the target of its member NAME if there is one, and the link. */
static void gpu_files_add_device(struct gpu_files *files, const char *link, const char *name)
{
    AUTO_FREE char *member = memory_format("%s/%s", link, name);
    AUTO_FREE char *place = realpath(member, NULL);

    if (!place)
        place = realpath(link, NULL);
    if (!place)
        return;
    if (!gpu_files_hold(files->facts, place))
        gpu_files_add(&files->facts, place);
    gpu_files_add(&files->facts, link);
}

/* Adapters of displays (class 3), and adapters that only compute (class 0x12). */
static void gpu_files_look_at_pci(struct gpu_files *files, const char *path)
{
    AUTO_FREE char *place = memory_format("%s/class", path);
    struct error ignored = ERROR_INIT;
    size_t length;
    AUTO_FREE char *class = fd_read_file(place, GPU_CLASS_BYTES, &length, &ignored);

    if (class && (text_starts_with(class, "0x03") || text_starts_with(class, "0x12")))
        gpu_files_add_device(files, path, ".");
}

static void gpu_files_look_at_number(struct gpu_files *files, const char *device)
{
    AUTO_FREE char *link = NULL;
    struct stat status;

    if (lstat(device, &status) < 0)
        return;
    link = memory_format("/sys/dev/char/%u:%u", major(status.st_rdev), minor(status.st_rdev));
    gpu_files_add_device(files, link, "device");
}

/* A link is added only if its target is shown, too. */
static void gpu_files_look_at_name(struct gpu_files *files, const char *path)
{
    AUTO_FREE char *place = realpath(path, NULL);

    if (place && (strcmp(place, path) == 0 || gpu_files_hold(files->facts, place)))
        gpu_files_add(&files->facts, path);
}

static void gpu_files_find_devices(struct gpu_files *files)
{
    *files = (struct gpu_files){memory_new(1, sizeof *files->devices),
                                memory_new(1, sizeof *files->facts)};
    for (size_t i = 0; i < ARRAY_SIZE(gpu_devices); i++)
        gpu_files_for_each(files, gpu_devices[i], gpu_files_look_at_device);
}

void gpu_files_find(struct gpu_files *files)
{
    gpu_files_find_devices(files);
    if (!files->devices[0])
        return;
    gpu_files_for_each(files, "/sys/bus/pci/devices/*", gpu_files_look_at_pci);
    for (char **device = files->devices; *device; device++)
        gpu_files_look_at_number(files, *device);
    for (size_t i = 0; i < ARRAY_SIZE(gpu_names); i++)
        gpu_files_for_each(files, gpu_names[i], gpu_files_look_at_name);
}

void gpu_files_deinit(struct gpu_files *files)
{
    memory_free_strings(STEAL_PTR(files->devices));
    memory_free_strings(STEAL_PTR(files->facts));
}

bool gpu_files_are_there(void)
{
    struct gpu_files files;
    bool ret;

    gpu_files_find_devices(&files);
    ret = files.devices[0];
    gpu_files_deinit(&files);
    return ret;
}

/* Only root opens a file whatever its mode says. */
static char *gpu_files_describe_refusal(const char *device)
{
    struct stat status;
    const struct group *group;

    if (access(device, R_OK | W_OK) == 0 || lstat(device, &status) < 0)
        return NULL;
    group = getgrgid(status.st_gid);
    return memory_format("%s cannot be opened by the server's user%s%s", device,
                         group ? ", who is not in its group: " : "", group ? group->gr_name : "");
}

char *gpu_files_problem(void)
{
    struct gpu_files files;
    char *problem = NULL;

    gpu_files_find_devices(&files);
    if (!files.devices[0])
        problem = memory_copy_string("no device of a GPU is there (/dev/nvidia*, /dev/kfd, "
                                     "/dev/dri/renderD*): scripts run without");
    for (char **device = files.devices; !problem && *device; device++)
        problem = gpu_files_describe_refusal(*device);
    gpu_files_deinit(&files);
    return problem;
}
