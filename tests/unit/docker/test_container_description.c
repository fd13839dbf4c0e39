#include "environments/docker/container_description.h"

#include "base/json.h"
#include "base/memory.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdlib.h>
#include <string.h>

struct fixture {
    struct environment_settings settings;
    struct docker_container container;
    json_t *written;
    struct docker_definition definition;
    json_t *mounts;
    json_t *labels;
};

static char first[] = "A=1";
static char second[] = "HOME=/elsewhere";
static char *variables[] = {first, second, NULL};

static const char *const program[] = {"python3", "/workspace/script.py", NULL};

static int set_up(void **state)
{
    struct fixture *fixture = calloc(1, sizeof *fixture);

    fixture->settings = (struct environment_settings){
        .limits = {.memory = 512 << 20, .processes = 64, .file_size = 1 << 30},
        .cpus = 1,
        .variables = variables,
    };
    fixture->definition = (struct docker_definition){.network = "none"};
    fixture->mounts = json_pack("[o]", docker_mount("/host/work", DOCKER_WORKSPACE, true));
    fixture->labels = json_pack("{s:s}", DOCKER_LABEL_SERVER, "abc");
    fixture->container = (struct docker_container){
        .purpose = DOCKER_RUN,
        .definition = &fixture->definition,
        .settings = &fixture->settings,
        .image = "sha256:1",
        .user = "1000:1001",
        .init = "/usr/libexec/pyexecd/pyexecd-init",
        .seconds = 35.5,
        .program = program,
        .mounts = fixture->mounts,
        .labels = fixture->labels,
    };
    *state = fixture;
    return 0;
}

static int tear_down(void **state)
{
    struct fixture *fixture = *state;

    json_decref(fixture->written);
    json_decref(fixture->mounts);
    json_decref(fixture->labels);
    free(fixture);
    return 0;
}

/* A container has one CPU unless the operator says otherwise. */
#define THREADS                                                                                    \
    " \"OMP_NUM_THREADS=1\", \"NUMBA_NUM_THREADS=1\", \"POLARS_MAX_THREADS=1\","                   \
    " \"RAYON_NUM_THREADS=1\", \"LOKY_MAX_CPU_COUNT=1\", \"PYTHON_CPU_COUNT=1\","

/* What POINTER, with dots, leads to in the description must be EXPECTED, as JSON. */
static void expect(const struct fixture *fixture, const char *pointer, const char *expected)
{
    AUTO_JSON json_t *description = docker_container_describe(&fixture->container);
    AUTO_JSON json_t *wanted = json_loads(expected, JSON_DECODE_ANY, NULL);
    AUTO_FREE char *path = strdup(pointer);
    const json_t *value = description;
    char *rest = NULL;

    assert_non_null(wanted);
    for (char *name = strtok_r(path, ".", &rest); name; name = strtok_r(NULL, ".", &rest))
        value = json_is_array(value) ? json_array_get(value, (size_t)atoi(name))
                                     : json_object_get(value, name);
    if (!json_equal(value, wanted)) {
        AUTO_FREE char *text = value ? json_dumps(value, JSON_ENCODE_ANY) : NULL;

        fail_msg("%s is %s, not %s", pointer, text ? text : "absent", expected);
    }
}

static void define(struct fixture *fixture, const char *json)
{
    json_decref(fixture->written);
    fixture->written = json_loads(json, 0, NULL);
    assert_non_null(fixture->written);
    fixture->definition = docker_definition_read(fixture->written);
}

static void test_one_that_waits_for_its_script_differs_in_that_only(void **state)
{
    struct fixture *fixture = *state;
    AUTO_JSON json_t *cold = docker_container_describe(&fixture->container);
    AUTO_JSON json_t *warm = NULL;

    fixture->container.idle_seconds = 300;
    expect(fixture, "Entrypoint",
           "[\"/.pyexecd-init\", \"--script\", \"--ahead\", \"300.000\", \"35.500\", \"--\"]");
    fixture->container.has_gate = true;
    expect(fixture, "Entrypoint",
           "[\"/.pyexecd-init\", \"--script\", \"--ahead\", \"300.000\", \"--gate\","
           " \"35.500\", \"--\"]");
    warm = docker_container_describe(&fixture->container);
    json_object_del(cold, "Entrypoint");
    json_object_del(warm, "Entrypoint");
    assert_true(json_equal(cold, warm));
}

static void test_the_init_of_a_session_is_told_so(void **state)
{
    struct fixture *fixture = *state;

    fixture->container.is_session = true;
    expect(fixture, "Entrypoint",
           "[\"/.pyexecd-init\", \"--script\", \"--session\", \"35.500\", \"--\"]");
}

static void test_an_init_is_told_that_it_needs_tools(void **state)
{
    struct fixture *fixture = *state;

    fixture->container.needs_tools = true;
    expect(fixture, "Entrypoint",
           "[\"/.pyexecd-init\", \"--script\", \"--tools\", \"35.500\", \"--\"]");
}

static void test_an_init_has_the_wire_and_ends_with_it(void **state)
{
    struct fixture *fixture = *state;

    expect(fixture, "OpenStdin", "true");
    expect(fixture, "StdinOnce", "true");
    expect(fixture, "AttachStdin", "true");
    expect(fixture, "AttachStdout", "true");
    fixture->container.purpose = DOCKER_ASK;
    expect(fixture, "OpenStdin", "false");
    expect(fixture, "AttachStdout", "true");
}

static void test_a_script_is_run_by_the_init(void **state)
{
    struct fixture *fixture = *state;

    expect(fixture, "Image", "\"sha256:1\"");
    expect(fixture, "User", "\"1000:1001\"");
    expect(fixture, "Entrypoint", "[\"/.pyexecd-init\", \"--script\", \"35.500\", \"--\"]");
    expect(fixture, "Cmd", "[\"python3\", \"/workspace/script.py\"]");
    expect(fixture, "WorkingDir", "\"/workspace\"");
    expect(fixture, "Labels", "{\"pyexecd.server\": \"abc\"}");
    expect(fixture, "HostConfig.Mounts.0.Source", "\"/usr/libexec/pyexecd/pyexecd-init\"");
    expect(fixture, "HostConfig.Mounts.0.Target", "\"/.pyexecd-init\"");
    expect(fixture, "HostConfig.Mounts.0.ReadOnly", "true");
    expect(fixture, "HostConfig.Mounts.1",
           "{\"Type\": \"bind\", \"Source\": \"/host/work\", \"Target\": \"/workspace\","
           " \"ReadOnly\": false, \"BindOptions\": {\"Propagation\": \"rprivate\"}}");
}

static void test_it_is_hardened_by_default(void **state)
{
    static const char *const wanted[][2] = {
        {"Tty", "false"},
        {"Healthcheck.Test", "[\"NONE\"]"},
        {"StopSignal", "\"SIGKILL\""},
        {"HostConfig.NetworkMode", "\"none\""},
        {"HostConfig.IpcMode", "\"none\""},
        {"HostConfig.CgroupnsMode", "\"private\""},
        {"HostConfig.Privileged", "false"},
        {"HostConfig.CapDrop", "[\"ALL\"]"},
        {"HostConfig.CapAdd", "[]"},
        {"HostConfig.SecurityOpt", "[\"no-new-privileges\"]"},
        {"HostConfig.ReadonlyRootfs", "true"},
        {"HostConfig.Memory", "536870912"},
        {"HostConfig.MemorySwap", "536870912"},
        {"HostConfig.PidsLimit", "66"},
        {"HostConfig.NanoCpus", "1000000000"},
        {"HostConfig.OomScoreAdj", "500"},
        {"HostConfig.LogConfig", "{\"Type\": \"none\"}"},
        {"HostConfig.RestartPolicy", "{\"Name\": \"no\"}"},
        {"HostConfig.Init", "false"},
        {"HostConfig.AutoRemove", "false"},
    };

    for (size_t i = 0; i < ARRAY_SIZE(wanted); i++)
        expect(*state, wanted[i][0], wanted[i][1]);
}

static void test_system_calls_are_filtered_as_the_engine_takes_it(void **state)
{
    struct fixture *fixture = *state;

    fixture->container.seccomp = "{}";
    expect(fixture, "HostConfig.SecurityOpt", "[\"no-new-privileges\", \"seccomp={}\"]");
    fixture->container.seccomp = "/usr/libexec/pyexecd/pyexecd-seccomp.json";
    expect(fixture, "HostConfig.SecurityOpt",
           "[\"no-new-privileges\", \"seccomp=/usr/libexec/pyexecd/pyexecd-seccomp.json\"]");
}

static void test_nobody_is_let_in_by_what_is_not_said(void **state)
{
    static const char *const absent[] = {
        "Devices", "DeviceRequests", "Runtime",     "UsernsMode",    "PidMode",
        "UTSMode", "Binds",          "MaskedPaths", "ReadonlyPaths", "PortBindings"};
    const struct fixture *fixture = *state;
    AUTO_JSON json_t *description = docker_container_describe(&fixture->container);
    const json_t *host = json_object_get(description, "HostConfig");

    for (size_t i = 0; i < ARRAY_SIZE(absent); i++)
        assert_null(json_object_get(host, absent[i]));
}

static void test_processes_have_limits_of_their_own(void **state)
{
    expect(*state, "HostConfig.Ulimits",
           "[{\"Name\": \"nofile\", \"Soft\": 1024, \"Hard\": 1024},"
           " {\"Name\": \"core\", \"Soft\": 0, \"Hard\": 0},"
           " {\"Name\": \"memlock\", \"Soft\": 65536, \"Hard\": 65536},"
           " {\"Name\": \"fsize\", \"Soft\": 1073741824, \"Hard\": 1073741824}]");
}

static void test_what_the_operator_says_is_said(void **state)
{
    struct fixture *fixture = *state;

    fixture->settings.cpus = 0.25;
    define(fixture, "{\"network\": \"lab\", \"runtime\": \"runsc\", \"gpus\": [\"0\"]}");
    expect(fixture, "HostConfig.NetworkMode", "\"lab\"");
    expect(fixture, "HostConfig.Runtime", "\"runsc\"");
    expect(fixture, "HostConfig.NanoCpus", "250000000");
    expect(fixture, "HostConfig.DeviceRequests",
           "[{\"Capabilities\": [[\"gpu\"]], \"DeviceIDs\": [\"0\"]}]");
    define(fixture, "{\"network\": \"none\", \"gpus\": \"all\"}");
    expect(fixture, "HostConfig.DeviceRequests.0.Count", "-1");
    define(fixture, "{\"network\": \"none\", \"gpus\": 2}");
    expect(fixture, "HostConfig.DeviceRequests.0.Count", "2");
}

static void test_names_of_hosts_are_for_scripts(void **state)
{
    struct fixture *fixture = *state;
    AUTO_JSON json_t *description = NULL;

    define(fixture,
           "{\"network\": \"none\", \"extra_hosts\": [\"db:192.0.2.7\", \"six:2001:db8::7\"]}");
    expect(fixture, "HostConfig.ExtraHosts",
           "[\"db:192.0.2.7\", \"six:2001:db8::7\", \"container:127.0.0.1\"]");
    fixture->container.purpose = DOCKER_INSTALL;
    description = docker_container_describe(&fixture->container);
    assert_null(json_object_get(json_object_get(description, "HostConfig"), "ExtraHosts"));
}

static void test_the_operators_variables_win(void **state)
{
    expect(*state, "Env",
           "[\"HOME=/elsewhere\", \"LANG=C.UTF-8\", \"TMPDIR=/tmp\", "
           "\"PYTHONDONTWRITEBYTECODE=1\"," THREADS " \"A=1\"]");
}

static void test_a_kept_container_has_a_place_for_bytecode(void **state)
{
    struct fixture *fixture = *state;

    fixture->container.purpose = DOCKER_KEEP;
    expect(
        fixture, "Env",
        "[\"HOME=/elsewhere\", \"LANG=C.UTF-8\", \"TMPDIR=/tmp\", \"PIP_BREAK_SYSTEM_PACKAGES=1\", "
        "\"PYTHONPYCACHEPREFIX=/tmp/.pyexecd-bytecode\"," THREADS " \"A=1\"]");
}

static void test_libraries_are_told_of_the_cpus(void **state)
{
    struct fixture *fixture = *state;

    fixture->settings.cpus = 2.5;
    expect(fixture, "Env.4", "\"OMP_NUM_THREADS=3\"");
}

static void test_the_variables_of_a_run_win(void **state)
{
    static const char *const own[] = {"A=2", "B=3", NULL};
    struct fixture *fixture = *state;

    fixture->container.variables = own;
    expect(fixture, "Env",
           "[\"HOME=/elsewhere\", \"LANG=C.UTF-8\", \"TMPDIR=/tmp\", "
           "\"PYTHONDONTWRITEBYTECODE=1\"," THREADS " \"A=2\", \"B=3\"]");
}

static void test_volumes_of_the_image_are_in_memory(void **state)
{
    struct fixture *fixture = *state;
    AUTO_JSON json_t *volumes = json_pack("[s, s]", "/data", DOCKER_WORKSPACE);

    fixture->container.volumes = volumes;
    expect(fixture, "HostConfig.Mounts.2",
           "{\"Type\": \"volume\", \"Target\": \"/data\", \"VolumeOptions\": {\"DriverConfig\":"
           " {\"Name\": \"local\", \"Options\": {\"type\": \"tmpfs\", \"device\": \"tmpfs\","
           " \"o\": \"nosuid,nodev,size=536870912\"}}}}");
    AUTO_JSON json_t *description = docker_container_describe(&fixture->container);
    assert_int_equal(
        json_array_size(json_object_get(json_object_get(description, "HostConfig"), "Mounts")), 3);
}

static void test_one_that_is_kept_can_be_written_to(void **state)
{
    struct fixture *fixture = *state;

    fixture->container.purpose = DOCKER_KEEP;
    fixture->container.program = NULL;
    expect(fixture, "Entrypoint", "[\"/.pyexecd-init\", \"--keep\", \"35.500\"]");
    expect(fixture, "Cmd", "[]");
    expect(fixture, "HostConfig.ReadonlyRootfs", "false");
    expect(fixture, "HostConfig.CapAdd", "[]");
    expect(fixture, "StdinOnce", "true");
}

static void test_questions_get_nothing_of_the_operators(void **state)
{
    struct fixture *fixture = *state;

    define(fixture, "{\"network\": \"bridge\", \"gpus\": \"all\"}");
    fixture->container.purpose = DOCKER_ASK;
    fixture->container.mounts = NULL;
    expect(fixture, "HostConfig.NetworkMode", "\"none\"");
    expect(fixture, "WorkingDir", "\"/\"");
}

static void test_installing_has_a_network_and_may_write(void **state)
{
    struct fixture *fixture = *state;

    fixture->container.purpose = DOCKER_INSTALL;
    fixture->container.program = NULL;
    expect(fixture, "HostConfig.NetworkMode", "\"bridge\"");
    expect(fixture, "HostConfig.ReadonlyRootfs", "false");
    expect(fixture, "HostConfig.Memory", "2147483648");
    define(fixture, "{\"network\": \"lab\"}");
    expect(fixture, "HostConfig.NetworkMode", "\"lab\"");
}

static void test_one_that_stays_has_a_log(void **state)
{
    struct fixture *fixture = *state;

    fixture->container.stays = true;
    expect(fixture, "HostConfig.LogConfig",
           "{\"Type\": \"json-file\", \"Config\": {\"max-size\": \"10m\"}}");
}

static void test_users_stay_who_they_are(void **state)
{
    struct fixture *fixture = *state;

    fixture->container.remaps_users = true;
    expect(fixture, "HostConfig.UsernsMode", "\"host\"");
}

static void test_exec_runs_a_script_by_an_init_of_its_own(void **state)
{
    const struct fixture *fixture = *state;
    AUTO_JSON json_t *description = docker_exec_describe(&fixture->container);
    AUTO_JSON json_t *wanted =
        json_loads("{\"Cmd\": [\"/.pyexecd-init\", \"--script\", \"35.500\", \"--\", \"python3\","
                   " \"/workspace/script.py\"],"
                   " \"Env\": [],"
                   " \"WorkingDir\": \"/workspace\", \"User\": \"1000:1001\", \"Tty\": false,"
                   " \"AttachStdin\": true, \"AttachStdout\": true, \"AttachStderr\": true}",
                   0, NULL);

    assert_true(json_equal(description, wanted));
}

static void assert_limits(const struct docker_container *container, const char *expected)
{
    AUTO_FREE char *limits = docker_build_limits(container);

    assert_string_equal(limits, expected);
}

static void test_a_build_has_limits(void **state)
{
    struct fixture *fixture = *state;

    fixture->container.purpose = DOCKER_INSTALL;
    assert_limits(&fixture->container,
                  "&memory=2147483648&memswap=2147483648&cpuperiod=100000&cpuquota=100000");
    fixture->settings.limits.memory = (uint64_t)5 << 30;
    fixture->settings.cpus = 1.5;
    assert_limits(&fixture->container,
                  "&memory=5368709120&memswap=5368709120&cpuperiod=100000&cpuquota=150000");
    fixture->definition.network = "bridge";
    assert_limits(&fixture->container,
                  "&memory=5368709120&memswap=5368709120&cpuperiod=100000&cpuquota=150000");
    fixture->definition.network = "inner";
    assert_limits(&fixture->container, "&memory=5368709120&memswap=5368709120&cpuperiod=100000"
                                       "&cpuquota=150000&networkmode=inner");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_one_that_waits_for_its_script_differs_in_that_only,
                                        set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_the_init_of_a_session_is_told_so, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_an_init_is_told_that_it_needs_tools, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(test_an_init_has_the_wire_and_ends_with_it, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(test_a_script_is_run_by_the_init, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_a_build_has_limits, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_it_is_hardened_by_default, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_system_calls_are_filtered_as_the_engine_takes_it,
                                        set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_nobody_is_let_in_by_what_is_not_said, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(test_processes_have_limits_of_their_own, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_what_the_operator_says_is_said, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_names_of_hosts_are_for_scripts, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_the_operators_variables_win, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_a_kept_container_has_a_place_for_bytecode, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(test_libraries_are_told_of_the_cpus, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_the_variables_of_a_run_win, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_volumes_of_the_image_are_in_memory, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_one_that_is_kept_can_be_written_to, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_questions_get_nothing_of_the_operators, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(test_installing_has_a_network_and_may_write, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(test_one_that_stays_has_a_log, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_users_stay_who_they_are, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_exec_runs_a_script_by_an_init_of_its_own, set_up,
                                        tear_down),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
