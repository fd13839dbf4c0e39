#include "environments/docker/container_description.h"

#include "base/json.h"
#include "base/memory.h"
#include "environments/run_variables.h"

#include <math.h>
#include <string.h>

#define NANOSECONDS 1e9
#define LOG_SIZE    "10m"

#define CONTAINER_NAME "container" /* as programs in it see it */

enum {
    OPEN_FILES = 1024,
    LOCKED_BYTES = 64 << 10,
    KILLED_FIRST = 500, /* oom_score_adj: before anything of the machine's own */
    INSTALL_PROCESSES = 512,
    BUILD_CPU_PERIOD = 100000, /* microseconds */
    OWN_PROCESSES = 2,         /* the init of a kept container, and the init of a run in it */
};

#define INSTALL_BYTES ((uint64_t)2 << 30) /* at least, of memory */

/* By purpose. */
static const struct {
    bool is_kept;         /* for programs by exec, which may write to its root file system */
    bool has_workspace;   /* runs scripts of callers: gets what the operator gives to them */
    bool needs_a_network; /* also where scripts have none */
} purposes[] = {
    [DOCKER_RUN] = {.has_workspace = true},
    [DOCKER_KEEP] = {.is_kept = true, .has_workspace = true},
    [DOCKER_ASK] = {0},
    [DOCKER_INSTALL] = {.is_kept = true, .needs_a_network = true},
};

/* pip writes as root into directories that may belong to other users of the image. */
static const char *const install_capabilities[] = {"CHOWN", "DAC_OVERRIDE", "FOWNER"};

json_t *docker_mount(const char *source, const char *target, bool writable)
{
    return json_pack("{s:s, s:s, s:s, s:b, s:{s:s}}", //
                     "Type", "bind",                  //
                     "Source", source,                //
                     "Target", target,                //
                     "ReadOnly", !writable,           //
                     "BindOptions", "Propagation", "rprivate");
}

/* pyexecd-init and its arguments. */
static json_t *init_command(const struct docker_container *container)
{
    json_t *command = json_pack("[s]", DOCKER_INIT);

    if (purposes[container->purpose].has_workspace)
        json_array_append_new(command, json_string("--script"));
    if (container->idle_seconds > 0) {
        json_array_append_new(command, json_string("--ahead"));
        json_array_append_new(command, json_string_format("%.3f", container->idle_seconds));
        if (container->has_gate)
            json_array_append_new(command, json_string("--gate"));
    }
    if (container->streams) {
        json_array_append_new(command, json_string("--streams"));
        json_array_append_new(command, json_string(container->streams));
    }
    if (container->needs_tools)
        json_array_append_new(command, json_string("--tools"));
    if (container->is_session)
        json_array_append_new(command, json_string("--session"));
    json_array_append_new(command, json_string_format("%.3f", container->seconds));
    json_array_append_new(command, json_string("--"));
    return command;
}

static json_t *keep_command(const struct docker_container *container)
{
    return json_pack("[s, s, o]", DOCKER_INIT, "--keep", //
                     json_string_format("%.3f", container->seconds));
}

/* Adds VARIABLE (taken), or replaces the variable of the same name by it. */
static void set_variable(json_t *variables, json_t *variable)
{
    const char *text = json_string_value(variable);
    size_t name = strcspn(text, "=") + 1;
    const json_t *other;
    size_t i;

    json_array_foreach (variables, i, other) {
        if (strncmp(json_string_value(other), text, name) == 0) {
            json_array_set_new(variables, i, variable);
            return;
        }
    }
    json_array_append_new(variables, variable);
}

/* The memory limit has no influence: it counts the memory that a container really uses. */
static json_t *thread_variable(const struct docker_container *container, unsigned index)
{
    unsigned count = run_variables_thread_count(container->settings->cpus,
                                                container->settings->limits.processes, 0);
    AUTO_FREE char *variable = run_variables_thread(index, count);

    return json_string(variable);
}

/* More variables for a kept container. pip cannot break a system there, and later scripts find the
 * bytecode of modules that the image has only as source, as in the official images of Python. */
static const char *const kept_variables[] = {
    "PIP_BREAK_SYSTEM_PACKAGES=1",
    "PYTHONPYCACHEPREFIX=/tmp/.pyexecd-bytecode",
};

/* The environment variables. They replace the image's variables of the same names. */
static json_t *container_description_variables(const struct docker_container *container)
{
    const bool has_workspace = purposes[container->purpose].has_workspace;
    json_t *array = json_pack(
        "[o, s, s]", json_string_format("HOME=%s", has_workspace ? DOCKER_WORKSPACE : "/tmp"),
        "LANG=C.UTF-8", "TMPDIR=/tmp");

    if (container->purpose != DOCKER_KEEP)
        json_array_append_new(array, json_string("PYTHONDONTWRITEBYTECODE=1"));
    for (size_t i = 0; container->purpose == DOCKER_KEEP && i < ARRAY_SIZE(kept_variables); i++)
        json_array_append_new(array, json_string(kept_variables[i]));
    for (unsigned i = 0; has_workspace && i < THREAD_VARIABLES; i++)
        json_array_append_new(array, thread_variable(container, i));
    if (has_workspace)
        for (char **variable = container->settings->variables; variable && *variable; variable++)
            set_variable(array, json_string(*variable));
    for (size_t i = 0; container->variables && container->variables[i]; i++)
        set_variable(array, json_string(container->variables[i]));
    return array;
}

/* For a volume that the image declares, an engine makes one on disk, without a limit, for each
 * container. This one is in memory, with the files that the image has there, and goes with the
 * container. */
static json_t *image_volume(const struct docker_container *container, const char *path)
{
    unsigned long long bytes = container->settings->limits.memory;

    return json_pack("{s:s, s:s, s:{s:{s:s, s:{s:s, s:s, s:o}}}}",     //
                     "Type", "volume", "Target", path,                 //
                     "VolumeOptions", "DriverConfig", "Name", "local", //
                     "Options", "type", "tmpfs", "device", "tmpfs",    //
                     "o", json_string_format("nosuid,nodev,size=%llu", bytes));
}

static bool is_mounted(const json_t *mounts, const char *target)
{
    const json_t *mount;
    size_t i;

    json_array_foreach (mounts, i, mount) {
        if (strcmp(json_object_get_string(mount, "Target"), target) == 0)
            return true;
    }
    return false;
}

static json_t *all_mounts(const struct docker_container *container)
{
    json_t *mounts = json_array();
    const json_t *volume;
    size_t i;

    json_array_append_new(mounts, docker_mount(container->init, DOCKER_INIT, false));
    if (container->mounts)
        json_array_extend(mounts, (json_t *)container->mounts);
    json_array_foreach (container->volumes, i, volume) {
        if (!is_mounted(mounts, json_string_value(volume)))
            json_array_append_new(mounts, image_volume(container, json_string_value(volume)));
    }
    return mounts;
}

/* Their files are in memory, and count as such. */
static json_t *memory_file_systems(const struct docker_container *container)
{
    unsigned long long bytes = container->settings->limits.memory;

    return json_pack("{s:o, s:o}", //
                     "/tmp", json_string_format("rw,exec,nosuid,nodev,mode=1777,size=%llu", bytes),
                     "/dev/shm",
                     json_string_format("rw,noexec,nosuid,nodev,mode=1777,size=%llu", bytes));
}

static json_t *container_description_limit(const char *name, uint64_t most)
{
    return json_pack("{s:s, s:I, s:I}", "Name", name, //
                     "Soft", (json_int_t)most, "Hard", (json_int_t)most);
}

static json_t *process_limits(const struct docker_container *container)
{
    uint64_t file_size = container->settings->limits.file_size;
    json_t *limits = json_pack("[o, o, o]", container_description_limit("nofile", OPEN_FILES),
                               container_description_limit("core", 0),
                               container_description_limit("memlock", LOCKED_BYTES));

    if (container->most_processes > 0)
        json_array_append_new(limits,
                              container_description_limit("nproc", container->most_processes));
    if (purposes[container->purpose].has_workspace && file_size > 0)
        json_array_append_new(limits, container_description_limit("fsize", file_size));
    return limits;
}

static uint64_t container_memory(const struct docker_container *container)
{
    const uint64_t memory = container->settings->limits.memory;

    return container->purpose == DOCKER_INSTALL && memory < INSTALL_BYTES ? INSTALL_BYTES : memory;
}

static void set_resources(const struct docker_container *container, json_t *host)
{
    const uint64_t memory = container_memory(container);
    const bool installs = container->purpose == DOCKER_INSTALL;
    unsigned processes = container->settings->limits.processes;

    if (installs && processes < INSTALL_PROCESSES)
        processes = INSTALL_PROCESSES;
    json_object_set_new(host, "Memory", json_integer((json_int_t)memory));
    json_object_set_new(host, "MemorySwap", json_integer((json_int_t)memory));
    json_object_set_new(host, "PidsLimit", json_integer(processes + OWN_PROCESSES));
    json_object_set_new(host, "NanoCpus",
                        json_integer((json_int_t)round(container->settings->cpus * NANOSECONDS)));
    json_object_set_new(host, "OomScoreAdj", json_integer(KILLED_FIRST));
    json_object_set_new(host, "Ulimits", process_limits(container));
}

static const char *container_description_network_of(const struct docker_container *container)
{
    const char *network =
        container->purpose == DOCKER_ASK ? "none" : container->definition->network;

    if (purposes[container->purpose].needs_a_network && strcmp(network, "none") == 0)
        return "bridge";
    return network;
}

static json_t *security_options(const struct docker_container *container)
{
    json_t *options = json_pack("[s]", "no-new-privileges");

    if (container->seccomp)
        json_array_append_new(options, json_string_format("seccomp=%s", container->seccomp));
    return options;
}

static void set_privileges(const struct docker_container *container, json_t *host)
{
    json_t *added = json_array();

    for (size_t i = 0; container->purpose == DOCKER_INSTALL && i < ARRAY_SIZE(install_capabilities);
         i++)
        json_array_append_new(added, json_string(install_capabilities[i]));
    json_object_set_new(host, "CapDrop", json_pack("[s]", "ALL"));
    json_object_set_new(host, "CapAdd", added);
    json_object_set_new(host, "SecurityOpt", security_options(container));
    json_object_set_new(host, "Privileged", json_false());
    json_object_set_new(host, "IpcMode", json_string("none"));
    json_object_set_new(host, "CgroupnsMode", json_string("private"));
    if (container->remaps_users)
        json_object_set_new(host, "UsernsMode", json_string("host"));
}

/* "all", a number, or a list of ids. */
static json_t *device_request(const json_t *gpus)
{
    json_t *request = json_pack("{s:[[s]]}", "Capabilities", "gpu");

    if (json_is_array(gpus))
        json_object_set(request, "DeviceIDs", (json_t *)gpus);
    else
        json_object_set_new(request, "Count",
                            json_integer(json_is_integer(gpus) ? json_integer_value(gpus) : -1));
    return request;
}

static void set_hardware(const struct docker_container *container, json_t *host)
{
    const char *runtime = container->definition->runtime;
    const json_t *gpus = container->definition->gpus;

    if (runtime)
        json_object_set_new(host, "Runtime", json_string(runtime));
    if (gpus && purposes[container->purpose].has_workspace)
        json_object_set_new(host, "DeviceRequests", json_pack("[o]", device_request(gpus)));
}

/* Names of hosts, for scripts only: questions and installations get none of them. A container finds
 * itself by its name; where it has a network, the engine sees to that. */
static void set_names(const struct docker_container *container, json_t *host)
{
    json_t *names = json_array();

    if (container->definition->extra_hosts)
        json_array_extend(names, (json_t *)container->definition->extra_hosts);
    if (strcmp(container_description_network_of(container), "none") == 0)
        json_array_append_new(names, json_string(CONTAINER_NAME ":127.0.0.1"));
    if (purposes[container->purpose].has_workspace)
        json_object_set(host, "ExtraHosts", names);
    json_decref(names);
}

/* With a log the engine writes a flood of output to its disk, or at least reads it twice. */
static json_t *log_of(const struct docker_container *container)
{
    if (!container->stays)
        return json_pack("{s:s}", "Type", "none");
    return json_pack("{s:s, s:{s:s}}", "Type", "json-file", "Config", "max-size", LOG_SIZE);
}

static json_t *describe_host(const struct docker_container *container)
{
    json_t *host = json_pack("{s:s, s:b, s:o, s:o, s:o, s:{s:s}, s:b, s:b}",             //
                             "NetworkMode", container_description_network_of(container), //
                             "ReadonlyRootfs", !purposes[container->purpose].is_kept,    //
                             "Tmpfs", memory_file_systems(container),                    //
                             "Mounts", all_mounts(container),                            //
                             "LogConfig", log_of(container),                             //
                             "RestartPolicy", "Name", "no",                              //
                             "AutoRemove", 0,                                            //
                             "Init", 0);

    set_resources(container, host);
    set_privileges(container, host);
    set_hardware(container, host);
    set_names(container, host);
    return host;
}

/* Standard input is the lifeline of the init: it ends with the connection of the server. To an init
 * with a script it is the wire, too. */
static void container_description_set_streams(json_t *description,
                                              const struct docker_container *container)
{
    const bool is_kept = purposes[container->purpose].is_kept;
    const bool has_input = container->purpose != DOCKER_ASK; /* an answer needs no lifeline */

    json_object_set_new(description, "Tty", json_false());
    json_object_set_new(description, "OpenStdin", json_boolean(has_input));
    json_object_set_new(description, "StdinOnce", json_boolean(has_input));
    json_object_set_new(description, "AttachStdin", json_boolean(has_input));
    json_object_set_new(description, "AttachStdout", json_boolean(!is_kept));
    json_object_set_new(description, "AttachStderr", json_boolean(!is_kept));
}

json_t *docker_container_describe(const struct docker_container *container)
{
    const bool has_workspace = purposes[container->purpose].has_workspace;
    const bool is_kept = purposes[container->purpose].is_kept;
    json_t *description =
        json_pack("{s:s, s:s, s:s, s:o, s:o, s:o, s:s, s:{s:[s]}, s:s, s:O, s:o}",           //
                  "Image", container->image,                                                 //
                  "User", container->user,                                                   //
                  "WorkingDir", has_workspace ? DOCKER_WORKSPACE : "/",                      //
                  "Entrypoint", is_kept ? keep_command(container) : init_command(container), //
                  "Cmd", json_strings(container->program),                                   //
                  "Env", container_description_variables(container),                         //
                  "Hostname", CONTAINER_NAME,                                                //
                  "Healthcheck", "Test", "NONE",                                             //
                  "StopSignal", "SIGKILL",                                                   //
                  "Labels", container->labels,                                               //
                  "HostConfig", describe_host(container));

    container_description_set_streams(description, container);
    return description;
}

json_t *docker_exec_describe(const struct docker_container *container)
{
    const bool has_workspace = purposes[container->purpose].has_workspace;
    json_t *command = init_command(container);
    json_t *program = json_strings(container->program);
    json_t *own = json_strings(container->variables);

    json_array_extend(command, program);
    json_decref(program);
    return json_pack("{s:o, s:o, s:s, s:s, s:b, s:b, s:b, s:b}",           //
                     "Cmd", command,                                       //
                     "Env", own,                                           //
                     "WorkingDir", has_workspace ? DOCKER_WORKSPACE : "/", //
                     "User", container->user,                              //
                     "AttachStdout", 1,                                    //
                     "AttachStderr", 1,                                    //
                     "AttachStdin", has_workspace,                         //
                     "Tty", 0);
}

/* A build uses the operator's own network if there is one, else the engine's network for builds,
 * since builds get packages. */
static char *build_network(const struct docker_container *container)
{
    const char *network = container->definition->network;

    if (strcmp(network, "none") == 0 || strcmp(network, "bridge") == 0)
        return memory_copy_string("");
    return memory_format("&networkmode=%s", network);
}

char *docker_build_limits(const struct docker_container *container)
{
    const uint64_t memory = container_memory(container);
    AUTO_FREE char *network = build_network(container);

    return memory_format("&memory=%ju&memswap=%ju&cpuperiod=%d&cpuquota=%.0f%s", (uintmax_t)memory,
                         (uintmax_t)memory, BUILD_CPU_PERIOD,
                         container->settings->cpus * BUILD_CPU_PERIOD, network);
}
