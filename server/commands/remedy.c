#include "server/commands/remedy.h"

#include "base/cleanup.h"
#include "base/memory.h"
#include "environments/process/machine.h"

#include <linux/seccomp.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/prctl.h>
#include <sys/statvfs.h>
#include <unistd.h>

/* Each engine leaves a file in its containers. A container's profile of system calls refuses
 * namespaces, its covers over parts of /proc refuse another /proc, its AppArmor profile refuses
 * mounts. */
static const struct remedy_container {
    const char *mark;
    const char *program;
    const char *options;
} remedy_containers[] = {
    {"/run/.containerenv", "podman run",
     " --security-opt seccomp=unconfined --security-opt unmask=ALL "
     "--security-opt apparmor=unconfined"},
    {"/.dockerenv", "docker run",
     " --security-opt seccomp=unconfined --security-opt systempaths=unconfined "
     "--security-opt apparmor=unconfined"},
};

static bool remedy_is_confined(void)
{
    struct statvfs settings = {0};

    statvfs("/proc/sys", &settings);
    return prctl(PR_GET_SECCOMP, 0, 0, 0, 0) == SECCOMP_MODE_FILTER || settings.f_flag & ST_RDONLY;
}

/* NULL outside of containers, and in a container that has these options. Owned by the caller. */
static char *remedy_of_container(void)
{
    const bool is_confined = remedy_is_confined();
    const bool lacks = machine_lacks_capability();

    for (size_t i = 0; (is_confined || lacks) && i < ARRAY_SIZE(remedy_containers); i++)
        if (access(remedy_containers[i].mark, F_OK) == 0)
            return memory_format("%s%s%s ...", remedy_containers[i].program,
                                 lacks ? " --cap-add SETFCAP" : "",
                                 is_confined ? remedy_containers[i].options : "");
    return NULL;
}

/* In a container, the settings of its machine come second: they count once the container allows
 * namespaces. */
char *remedy_find(void)
{
    char *command = remedy_of_container();
    const char *setting = machine_namespace_remedy();

    if (command)
        return command;
    return setting ? memory_copy_string(setting) : NULL;
}

/* The manager of the user's services delegates cgroups. Without lingering there is one only while
 * he is logged in. */
char *remedy_find_cgroup(void)
{
    static const char scope[] = "systemd-run --user --scope -p Delegate=yes pyexecd";
    AUTO_FREE char *manager = memory_format("/run/user/%u/systemd/private", geteuid());

    if (geteuid() == 0 || access("/run/systemd/system", F_OK) < 0)
        return NULL;
    if (access(manager, F_OK) == 0)
        return memory_copy_string(scope);
    return memory_format("loginctl enable-linger && %s", scope);
}
