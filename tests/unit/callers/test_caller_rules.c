#include "environments/callers/caller_rules.h"

#include "base/json.h"
#include "base/memory.h"
#include "tests/unit/environments/scratch.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <cmocka.h>

static const struct environment_settings settings = {
    .timeout = 30,
    .max_timeout = 600,
    .limits = {.memory = 512 << 20, .processes = 64, .file_size = 1 << 30},
    .disk = 1 << 30,
    .output = 1 << 20,
    .cpus = 1,
};

/* A scratch directory, in which `shared` is allowed, and the rules. */
struct place {
    char *scratch; /* owned */
    json_t *images;
    json_t *paths;
    struct caller_rules *rules;
};

static int open_place(void **state, json_t *images, bool has_paths)
{
    struct place *place = NEW(struct place);
    AUTO_FREE char *made = scratch_new();
    struct error err = ERROR_INIT;
    size_t index;

    place->scratch = realpath(made, NULL);
    shell(place->scratch,
          "mkdir shared shared/data shared/lab database && touch shared/python shared/list"
          " shared/lab/Dockerfile database/x && ln -s ../database shared/out"
          " && ln -s data shared/in && ln -s shared linked"
          " && mkdir -p shared/venv/bin database/venv/bin"
          " && touch shared/venv/pyvenv.cfg database/venv/pyvenv.cfg"
          " && ln -s /bin/sh shared/venv/bin/python && ln -s python shared/venv/bin/python3"
          " && ln -s /bin/ls shared/venv/bin/other && ln -s venv/bin/python shared/behind"
          " && ln -s /bin/sh database/venv/bin/python");
    place->images = images;
    place->paths = has_paths ? json_pack("[o]", json_string_format("%s/linked", place->scratch))
                             : json_array();
    place->rules = caller_rules_new(place->images, place->paths, &settings, &index, &err);
    assert_non_null(place->rules);
    *state = place;
    return 0;
}

#define ENGINE "tcp://192.0.2.1" /* where there may be one */

static int setup(void **state)
{
    return open_place(state, json_pack("[s, s]", "python:*", "registry.example/lab/*"), true);
}

static int setup_defaults(void **state)
{
    return open_place(state, json_pack("[s]", "python:*"), false);
}

static int setup_paths(void **state)
{
    return open_place(state, json_array(), true);
}

static int setup_nothing(void **state)
{
    return open_place(state, json_array(), false);
}

static int teardown(void **state)
{
    struct place *place = *state;

    caller_rules_free(place->rules);
    json_decref(place->images);
    json_decref(place->paths);
    scratch_free(place->scratch);
    free(place);
    return 0;
}

/* TEXT, in which "@" stands for the scratch directory and QUOTE for ". Owned by the caller. */
static char *expand(const struct place *place, const char *text, char quote)
{
    char *expanded = memory_copy_string("");

    for (; *text; text++) {
        AUTO_FREE char *before = expanded;

        if (*text == '@')
            expanded = memory_format("%s%s", before, place->scratch);
        else
            expanded = memory_format("%s%c", before, *text == quote ? '"' : *text);
    }
    return expanded;
}

static int settle(const struct place *place, const char *text, struct caller_definition *ret,
                  struct error *err)
{
    AUTO_FREE char *expanded = expand(place, text, '\'');
    AUTO_JSON json_t *written = json_loads(expanded, JSON_ALLOW_NUL, NULL);

    if (!written)
        fail_msg("%s is no JSON", expanded);
    return caller_rules_settle(place->rules, written, ret, err);
}

/* A definition that was settled once settles to the same. */
static void assert_settles_again(const struct place *place, const struct caller_definition *settled)
{
    AUTO_JSON json_t *written = caller_rules_unsettle(settled->definition);
    struct caller_definition again;
    struct error err = ERROR_INIT;

    if (caller_rules_settle(place->rules, written, &again, &err) < 0)
        fail_msg("%s", err.message);
    assert_true(json_equal(again.definition, settled->definition));
    assert_true(json_equal(again.paths, settled->paths));
    caller_definition_deinit(&again);
}

/* The settled definition of TEXT has under KEY what WANTED, written alike, says. */
static void assert_settled(const struct place *place, const char *text, const char *key,
                           const char *wanted)
{
    struct caller_definition settled;
    struct error err = ERROR_INIT;
    AUTO_FREE char *expanded = expand(place, wanted, '\'');
    AUTO_FREE char *got = NULL;

    if (settle(place, text, &settled, &err) < 0)
        fail_msg("%s: %s", text, err.message);
    got = json_text(json_object_get(settled.definition, key));
    assert_string_equal(got, expanded);
    assert_settles_again(place, &settled);
    caller_definition_deinit(&settled);
}

static void assert_refused(const struct place *place, const char *text, const char *words)
{
    struct caller_definition settled;
    struct error err = ERROR_INIT;
    AUTO_FREE char *expanded = expand(place, words, '\0');

    if (settle(place, text, &settled, &err) == 0)
        fail_msg("%s is allowed", text);
    assert_int_equal(err.code, ERROR_INVALID_ARGUMENTS);
    if (!strstr(err.message, expanded))
        fail_msg("%s: \"%s\" is not in \"%s\"", text, expanded, err.message);
}

static void test_what_is_harmless_is_allowed_where_nothing_is_configured(void **state)
{
    const struct place *place = *state;

    assert_settled(place, "{'type': 'system'}", "prepare", "'lazy'");
    assert_settled(place, "{'type': 'venv', 'python_version': '3.11', 'pip_packages': ['a>=1']}",
                   "pip_packages", "['a>=1']");
    assert_settled(place, "{'type': 'venv'}", "system_site_packages", "false");
    assert_settled(place, "{'type': 'docker'}", "image", "'docker.io/library/python:3.11-slim'");
    assert_settled(place, "{'type': 'docker', 'image': 'python:3.12'}", "image",
                   "'docker.io/library/python:3.12'");
    assert_settled(place, "{'type': 'docker'}", "network", "'none'");
    assert_settled(place, "{'type': 'system', 'timeout': 600, 'max_timeout': 600}", "timeout",
                   "600");
    assert_settled(place, "{'type': 'system', 'limits': {'memory': '16MiB', 'processes': 64}}",
                   "limits", "{'memory':16777216,'processes':64}");
}

static const struct {
    const char *definition;
    const char *words; /* that its refusal has */
} refusals[] = {
    {"{}", "environment_definition.type must be one of"},
    {"{'type': 'podman'}", "environment_definition.type must be one of"},
    {"{'type': 'system', 'imagee': 1}", "environment_definition.imagee: unknown key"},
    {"{'type': 'venv', 'image': 'python'}",
     "environment_definition.image: is a key of type docker, not of venv"},
    {"{'type': 'system', 'pip_packages': []}",
     "environment_definition.pip_packages: is a key of type venv or docker, not of system"},
    {"{'type': 'docker', 'image': 'a\\u0000b'}", "has a NUL character"},
    {"{'type': 'docker', 'volumes': {'@/shared': '/x\\u0000'}}", "has a NUL character"},
    {"{'type': 'venv', 'pip_packages': ['a', 'b\\u0000']}", "has a NUL character"},

    /* images */
    {"{'type': 'docker', 'image': 'evil/x:1'}",
     "environment_definition.image: \"evil/x:1\" is not among callers.allowed_images (python:*, "
     "registry.example/lab/*)"},
    {"{'type': 'docker', 'image': 'evil/python:3'}", "is not among callers.allowed_images"},
    {"{'type': 'docker', 'image': 'Python:3'}", "must be an image, such as"},
    {"{'type': 'docker', 'image': 7}", "environment_definition.image must be"},

    /* keys of the operator */
    {"{'type': 'docker', 'host': 'tcp://x:1'}",
     "environment_definition.host: only the operator can set this, in the configuration"},
    {"{'type': 'docker', 'tls': {}}", "tls: only the operator"},
    {"{'type': 'docker', 'runtime': 'runc'}", "runtime: only the operator"},
    {"{'type': 'docker', 'gpus': 'all'}", "gpus: only the operator"},
    {"{'type': 'docker', 'user': '0'}", "user: only the operator"},
    {"{'type': 'docker', 'isolation': 'auto'}", "isolation: only the operator"},
    {"{'type': 'system', 'isolation': 'none'}", "isolation: only the operator"},
    {"{'type': 'venv', 'require': 'sandbox'}", "require: only the operator"},
    {"{'type': 'venv', 'read': ['@/shared']}", "read: only the operator"},
    {"{'type': 'system', 'write': ['@/shared']}", "write: only the operator"},
    {"{'type': 'system', 'network': true}", "network: only the operator"},
    {"{'type': 'venv', 'network': false}", "network: only the operator"},
    {"{'type': 'docker', 'build_args': {}}", "build_args: only the operator"},
    {"{'type': 'venv', 'pip_index_url': 'https://x/'}", "pip_index_url: only the operator"},
    {"{'type': 'venv', 'allow_source_builds': true}", "allow_source_builds: only the operator"},
    {"{'type': 'venv', 'prepare': 'eager'}", "prepare: only the operator"},
    {"{'type': 'venv', 'prepare_timeout': 1}", "prepare_timeout: only the operator"},
    {"{'type': 'venv', 'nice': 1}", "nice: only the operator"},
    {"{'type': 'docker', 'network': 'bridge'}", "network: only the operator"},
    {"{'type': 'docker', 'network': 'host'}", "network must be"},
    {"{'type': 'system', 'environment': {'PYTHONPATH': '/x'}}",
     "environment: PYTHONPATH: only the operator"},
    {"{'type': 'venv', 'environment': {'PIP_INDEX_URL': 'x'}}", "only the operator"},
    {"{'type': 'venv', 'environment': {'UV_INDEX': 'x'}}", "only the operator"},
    {"{'type': 'venv', 'environment': {'LD_PRELOAD': 'x'}}", "LD_PRELOAD"},

    /* packages */
    {"{'type': 'venv', 'pip_packages': ['a; python_version > 3']}", "no marker"},
    {"{'type': 'venv', 'pip_packages': ['a @ https://x/a.whl']}", "pip_packages.0 must be"},
    {"{'type': 'venv', 'pip_packages': ['-r/etc/passwd']}", "pip_packages.0 must be"},
    {"{'type': 'venv', 'pip_packages': ['./a']}", "pip_packages.0 must be"},
    {"{'type': 'venv', 'pip_packages': ['--no-index']}", "pip_packages.0 must be"},

    /* limits */
    {"{'type': 'system', 'limits': {'memory': '513MiB'}}",
     "environment_definition.limits: memory is more than the server's, which is 512 MiB"},
    {"{'type': 'system', 'limits': {'memory': 536870913}}", "memory is more than the server's"},
    {"{'type': 'system', 'limits': {'memory': '99999999999999 TB'}}",
     "memory is more than the server's"},
    {"{'type': 'system', 'limits': {'memory': '1B'}}", "limits.memory must be"},
    {"{'type': 'system', 'limits': {'memory': 'lots'}}", "limits.memory must be"},
    {"{'type': 'system', 'limits': {'processes': 65}}", "processes is more than the server's"},
    {"{'type': 'system', 'limits': {'disk': '2GiB'}}", "disk is more than the server's"},
    {"{'type': 'system', 'limits': {'output': '2MiB'}}", "output is more than the server's"},
    {"{'type': 'docker', 'limits': {'cpus': 2}}", "cpus is more than the server's, which is 1"},
    {"{'type': 'system', 'timeout': 601}",
     "environment_definition.timeout: 601 seconds is more than the server's max_timeout, which is "
     "600"},
    {"{'type': 'system', 'max_timeout': 601}", "max_timeout: 601 seconds is more"},
    {"{'type': 'system', 'timeout': 0}", "timeout must be more than 0"},
    {"{'type': 'docker', 'container_startup_timeout': 31}", "more than a call can ask for"},

    /* paths */
    {"{'type': 'system', 'executable': '@/database/x'}",
     "environment_definition.executable: \"@/database/x\" does not lead into one of "
     "callers.allowed_paths (@/linked)"},
    {"{'type': 'system', 'executable': '@/shared/out/x'}", "does not lead into"},
    {"{'type': 'system', 'executable': '@/shared/../database/x'}", "does not lead into"},
    {"{'type': 'system', 'executable': '/proc/self/root/bin/sh'}", "does not lead into"},
    {"{'type': 'system', 'executable': '@/shared/venv/bin/other'}", "does not lead into"},
    {"{'type': 'system', 'executable': '@/shared/behind'}", "does not lead into"},
    {"{'type': 'system', 'executable': '@/database/venv/bin/python'}",
     "executable: \"@/database/venv/bin/python\" does not lead into"},
    {"{'type': 'system', 'executable': '@/shared/out/venv/bin/python'}",
     "executable: \"@/shared/out/venv/bin/python\" does not lead into"},
    {"{'type': 'system', 'executable': '@/shared/none'}",
     "environment_definition.executable: there is no \"@/shared/none\""},
    {"{'type': 'system', 'executable': 'bin/python'}",
     "executable: \"bin/python\" must be an absolute path"},
    {"{'type': 'venv', 'venv_path': '@/database/new'}", "venv_path: \"@/database/new\" does not"},
    {"{'type': 'venv', 'venv_path': '@/shared/new/../../../x'}", "does not lead into"},
    {"{'type': 'venv', 'venv_path': 'x'}", "must be an absolute path"},
    {"{'type': 'venv', 'python_path': '/usr/bin/python3'}", "does not lead into"},
    {"{'type': 'venv', 'requirements_file': '/etc/passwd'}", "does not lead into"},
    {"{'type': 'venv', 'pip_find_links': '@/database'}", "does not lead into"},
    {"{'type': 'docker', 'dockerfile': '@/shared/lab/Dockerfile'}",
     "environment_definition.dockerfile: only the operator can set this"},
    {"{'type': 'docker', 'volumes': {'/etc': '/e'}}",
     "environment_definition.volumes: \"/etc\" does not lead into"},
    {"{'type': 'docker', 'volumes': {'@/shared/out': '/e'}}", "does not lead into"},
    {"{'type': 'docker', 'volumes': {'@/shared/../database': '/e'}}", "volumes."},
    {"{'type': 'docker', 'volumes': {'@/shared/none': '/e'}}", "there is no"},
    {"{'type': 'docker', 'volumes': {'@/shared/in': '/a', '@/shared/data': '/b'}}",
     "is the same as another one"},
};

static void test_refusals_name_the_rule(void **state)
{
    for (size_t i = 0; i < ARRAY_SIZE(refusals); i++)
        assert_refused(*state, refusals[i].definition, refusals[i].words);
}

static void test_everything_that_is_wrong_is_told(void **state)
{
    struct caller_definition settled;
    struct error err = ERROR_INIT;

    assert_int_equal(settle(*state,
                            "{'type': 'docker', 'image': 'evil/x', 'volumes': {'/x': '/x'}}",
                            &settled, &err),
                     -1);
    assert_non_null(strstr(err.message, "evil/x"));
    assert_non_null(strstr(err.message, "\"/x\" does not lead into"));
}

static void test_what_is_refused_is_told_once(void **state)
{
    static const char NAME[] = "environment_definition.image";
    struct caller_definition settled;
    struct error err = ERROR_INIT;

    assert_int_equal(settle(*state, "{'type': 'venv', 'image': 'python'}", &settled, &err), -1);
    assert_non_null(strstr(err.message, NAME));
    assert_null(strstr(strstr(err.message, NAME) + strlen(NAME), "image: "));
}

static void test_paths_are_used_as_they_really_are(void **state)
{
    const struct place *place = *state;

    assert_settled(place, "{'type': 'system', 'executable': '@/linked//python'}", "executable",
                   "'@/shared/python'");
    assert_settled(place, "{'type': 'venv', 'venv_path': '@/shared/in/new/'}", "venv_path",
                   "'@/shared/data/new'");
    assert_settled(place, "{'type': 'venv', 'requirements_file': '@/shared/out/../shared/list'}",
                   "requirements_file", "'@/shared/list'");
    assert_settled(place, "{'type': 'docker', 'volumes': {'@/linked/in': {'path': '/a'}}}",
                   "volumes", "{'@/shared/data':{'path':'/a'}}");
}

static void test_the_python_of_a_venv_stays_in_it(void **state)
{
    const struct place *place = *state;
    AUTO_FREE char *wanted = expand(place, "['@/shared/venv/bin']", '\'');
    AUTO_FREE char *got = NULL;
    struct caller_definition settled;
    struct error err = ERROR_INIT;

    assert_settled(place, "{'type': 'system', 'executable': '@/linked/venv/bin/python3'}",
                   "executable", "'@/shared/venv/bin/python'");
    assert_int_equal(settle(place, "{'type': 'system', 'executable': '@/shared/venv/bin/python'}",
                            &settled, &err),
                     0);
    got = json_text(settled.paths);
    assert_string_equal(got, wanted);
    caller_definition_deinit(&settled);
}

static void test_paths_are_remembered(void **state)
{
    struct caller_definition settled;
    struct error err = ERROR_INIT;
    AUTO_FREE char *wanted = expand(*state, "['@/shared/list','@/shared/data']", '\'');
    AUTO_FREE char *got = NULL;

    assert_int_equal(settle(*state,
                            "{'type': 'docker', 'requirements_file': '@/shared/list',"
                            " 'volumes': {'@/shared/in': '/a'}}",
                            &settled, &err),
                     0);
    got = json_text(settled.paths);
    assert_string_equal(got, wanted);
    caller_definition_deinit(&settled);
}

static void test_without_allowed_paths_there_are_none(void **state)
{
    assert_refused(*state, "{'type': 'system', 'executable': '/usr/bin/python3'}",
                   "executable: \"/usr/bin/python3\" cannot be used: callers.allowed_paths is "
                   "empty");
}

static void test_the_default_image_has_to_be_allowed_too(void **state)
{
    assert_refused(*state, "{'type': 'docker'}",
                   "image: \"python:3.11-slim\" cannot be used: callers.allowed_images is empty");
}

static void test_what_is_no_pattern_is_found_when_the_rules_are_made(void **state)
{
    AUTO_JSON json_t *images = json_pack("[s, s]", "python:*", "Python");
    AUTO_JSON json_t *paths = json_array();
    struct error err = ERROR_INIT;
    size_t index;

    (void)state;
    assert_null(caller_rules_new(images, paths, &settings, &index, &err));
    assert_int_equal(index, 1);
}

/* The names of the properties that a model sees. Owned by the caller. */
static char *shown(const struct place *place, json_t **ret_schema)
{
    json_t *schema = caller_rules_schema(place->rules, NULL);
    char *names = memory_copy_string("");
    const char *name;
    json_t *property;

    json_object_foreach (json_object_get(schema, "properties"), name, property) {
        AUTO_FREE char *before = names;

        names = memory_format("%s%s ", before, name);
        assert_non_null(json_object_get_string(property, "type"));
        assert_true(strcmp(name, "type") == 0 || json_object_get_string(property, "description"));
    }
    *ret_schema = schema;
    return names;
}

static void test_a_model_sees_what_it_can_use(void **state)
{
    AUTO_JSON json_t *schema = NULL;
    AUTO_FREE char *names = shown(*state, &schema);
    const json_t *properties = json_object_get(schema, "properties");
    AUTO_FREE char *image = json_text(json_object_get(properties, "image"));
    AUTO_FREE char *packages = json_text(json_object_get(properties, "pip_packages"));

    assert_string_equal(names, "type python_version system_site_packages image pip_packages "
                               "environment cleanup_container keep_container_running ");
    assert_string_equal(
        image,
        "{\"type\":\"string\","
        "\"description\":\"docker: The image. Default: python:3.11-slim. Allowed: python:*.\"}");
    assert_string_equal(
        packages, "{\"type\":\"array\",\"items\":{\"type\":\"string\"},\"description\":\"venv "
                  "or docker: Python packages that are installed when the environment is "
                  "prepared.\"}");
}

static void test_a_model_sees_paths_where_some_are_allowed(void **state)
{
    AUTO_JSON json_t *schema = NULL;
    AUTO_FREE char *names = shown(*state, &schema);

    assert_non_null(strstr(names, "executable "));
    assert_non_null(strstr(names, "venv_path "));
    assert_non_null(strstr(names, "volumes "));
    assert_non_null(strstr(json_object_get_string(schema, "description"), "/linked."));
}

static void assert_types(const json_t *schema, const char *expected)
{
    AUTO_FREE char *types = json_text(
        json_object_get(json_object_get(json_object_get(schema, "properties"), "type"), "enum"));

    assert_string_equal(types, expected);
}

static void test_a_model_sees_no_type_that_cannot_be(void **state)
{
    AUTO_JSON json_t *schema = NULL;
    AUTO_FREE char *names = shown(*state, &schema);

    assert_types(schema, "[\"system\",\"venv\"]");
    assert_null(strstr(names, "image"));
}

static void test_a_model_is_not_told_of_containers_without_an_engine(void **state)
{
    AUTO_JSON json_t *schema = NULL;
    AUTO_FREE char *names = NULL;
    AUTO_FREE char *type = NULL;
    const json_t *packages;

    setenv("DOCKER_HOST", "unix:///nonexistent/docker.sock", 1);
    names = shown(*state, &schema);
    setenv("DOCKER_HOST", ENGINE, 1);
    packages = json_object_get(json_object_get(schema, "properties"), "pip_packages");
    type = json_text(json_object_get(json_object_get(schema, "properties"), "type"));
    assert_string_equal(type, "{\"type\":\"string\",\"description\":\"One of: system, venv.\"}");
    assert_string_equal(names,
                        "type python_version system_site_packages pip_packages environment ");
    assert_non_null(strstr(json_object_get_string(packages, "description"), "venv: Python"));
}

static void test_a_path_is_not_enough_for_a_container(void **state)
{
    AUTO_JSON json_t *schema = NULL;
    AUTO_FREE char *names = shown(*state, &schema);

    assert_types(schema, "[\"system\",\"venv\"]");
    assert_null(strstr(names, "volumes "));
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(
            test_what_is_harmless_is_allowed_where_nothing_is_configured, setup_defaults, teardown),
        cmocka_unit_test_setup_teardown(test_refusals_name_the_rule, setup, teardown),
        cmocka_unit_test_setup_teardown(test_everything_that_is_wrong_is_told, setup, teardown),
        cmocka_unit_test_setup_teardown(test_what_is_refused_is_told_once, setup, teardown),
        cmocka_unit_test_setup_teardown(test_paths_are_used_as_they_really_are, setup, teardown),
        cmocka_unit_test_setup_teardown(test_the_python_of_a_venv_stays_in_it, setup, teardown),
        cmocka_unit_test_setup_teardown(test_paths_are_remembered, setup, teardown),
        cmocka_unit_test_setup_teardown(test_without_allowed_paths_there_are_none, setup_defaults,
                                        teardown),
        cmocka_unit_test_setup_teardown(test_the_default_image_has_to_be_allowed_too, setup_nothing,
                                        teardown),
        cmocka_unit_test(test_what_is_no_pattern_is_found_when_the_rules_are_made),
        cmocka_unit_test_setup_teardown(test_a_model_sees_what_it_can_use, setup_defaults,
                                        teardown),
        cmocka_unit_test_setup_teardown(test_a_model_sees_paths_where_some_are_allowed, setup,
                                        teardown),
        cmocka_unit_test_setup_teardown(test_a_model_sees_no_type_that_cannot_be, setup_nothing,
                                        teardown),
        cmocka_unit_test_setup_teardown(test_a_model_is_not_told_of_containers_without_an_engine,
                                        setup_defaults, teardown),
        cmocka_unit_test_setup_teardown(test_a_path_is_not_enough_for_a_container, setup_paths,
                                        teardown),
    };

    setvbuf(stdout, NULL, _IOLBF, 0);
    setenv("DOCKER_HOST", ENGINE, 1);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
