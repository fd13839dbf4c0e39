#include "server/commands/remedy.h"

#include "base/cleanup.h"
#include "base/memory.h"
#include "environments/process/machine.h"

#include <linux/seccomp.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/statvfs.h>
#include <unistd.h>

#define SERVER_PROFILE "pyexecd-server-seccomp.json" /* made by server_seccomp.py */

/* Each engine leaves a file in its containers. A container's profile of system calls refuses
 * namespaces, its covers over parts of /proc refuse another /proc, its AppArmor profile refuses
 * mounts. */
static const struct remedy_container {
    const char *mark;
    const char *program;
    const char *options;
} remedy_containers[] = {
    {"/run/.containerenv", "podman run",
     " --security-opt seccomp=" SERVER_PROFILE " --security-opt unmask=ALL "
     "--security-opt apparmor=unconfined"},
    {"/.dockerenv", "docker run",
     " --security-opt seccomp=" SERVER_PROFILE " --security-opt systempaths=unconfined "
     "--security-opt apparmor=unconfined"},
};

static bool remedy_is_confined(void)
{
    struct statvfs settings = {0};

    statvfs("/proc/sys", &settings);
    return prctl(PR_GET_SECCOMP, 0, 0, 0, 0) == SECCOMP_MODE_FILTER || settings.f_flag & ST_RDONLY;
}

/* The engines below Kubernetes leave files, too, so it comes first. */
static char *remedy_of_pod(bool lacks)
{
    if (!getenv("KUBERNETES_SERVICE_HOST"))
        return NULL;
    return memory_format("in the pod: hostUsers: false; in securityContext of its container: "
                         "procMount: Unmasked, seccompProfile: {type: Localhost, "
                         "localhostProfile: " SERVER_PROFILE "}%s",
                         lacks ? ", capabilities: {add: [SETFCAP]}" : "");
}

/* NULL outside of containers, and in a container that has these options. Owned by the caller. */
static char *remedy_of_container(void)
{
    const bool is_confined = remedy_is_confined();
    const bool lacks = machine_lacks_capability();
    char *pod = is_confined || lacks ? remedy_of_pod(lacks) : NULL;

    if (pod)
        return pod;
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

/* Starts the program in a cgroup that the manager of the user's services delegates. A login names
 * the place of that manager, and other programs, such as cron, do not. */
static char *remedy_scope(uid_t user)
{
    static const char scope[] = "systemd-run --user --scope -p Delegate=yes pyexecd";

    return getenv("XDG_RUNTIME_DIR")
               ? memory_copy_string(scope)
               : memory_format("XDG_RUNTIME_DIR=/run/user/%u %s", user, scope);
}

/* Without lingering there is a manager only while the user is logged in. It starts after loginctl
 * has ended, so the second command is not joined to the first by "&&". */
char *remedy_find_cgroup(void)
{
    const uid_t user = geteuid();
    AUTO_FREE char *manager = memory_format("/run/user/%u/systemd/private", user);
    AUTO_FREE char *scope = remedy_scope(user);

    if (user == 0 || access("/run/systemd/system", F_OK) < 0)
        return NULL;
    if (access(manager, F_OK) == 0)
        return STEAL_PTR(scope);
    return memory_format("loginctl enable-linger %u, then %s", user, scope);
}
