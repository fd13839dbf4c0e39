/* Files of this machine that programs for a GPU need, beside their libraries: the files of its
 * devices, and the kernel's description of them in /sys. Every sandbox has /proc/driver.
 *
 * The lists come from
 * - NVIDIA: docs.nvidia.com/datacenter/cloud-native/container-toolkit, "Specialized configurations"
 *   and "CDI support", and the device nodes of libnvidia-container: nvidiactl, nvidia-uvm,
 *   nvidia-uvm-tools, one node for each GPU, one below nvidia-caps for each part of one (MIG);
 * - AMD: rocm.docs.amd.com, "Running ROCm Docker containers": kfd and renderD<N>;
 * - Intel, and Mesa for all: docs.kernel.org/gpu/drm-uapi.html, "Render nodes", and libdrm, which
 *   goes by /sys/dev/char/<MAJOR>:<MINOR>/device;
 * - Windows' Linux: docs.kernel.org names /dev/dxg.
 * Nodes that control a display (card<N>, nvidia-modeset) are not among them: computing and drawing
 * do without, and such a node lets a program change the screen. */
#pragma once

#include <stdbool.h>

struct gpu_files {
    char **devices; /* owned, NULL-terminated: character devices */
    char **facts;   /* owned, NULL-terminated: links and directories of /sys, to be read */
};

/* Finds the files that this machine has now. Without a device there are no facts. */
void gpu_files_find(struct gpu_files *files);
void gpu_files_deinit(struct gpu_files *files);

/* True when this machine has a device. */
bool gpu_files_are_there(void);

/* Why scripts cannot use a GPU of this machine. Owned by the caller; NULL: they can, as far as is
 * known. */
char *gpu_files_problem(void);
