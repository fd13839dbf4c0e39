#include "environments/docker/definition.h"

#include "base/json.h"
#include "base/memory.h"
#include "environments/callers/definition_schema.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

/* What TEXT (JSON) defines, with the defaults of the schema. New reference. */
static json_t *define(const char *text)
{
    struct definition_schemas *schemas = definition_schemas_new();
    json_t *definition = json_loads(text, 0, NULL);

    assert_non_null(definition);
    definition_schema_complete(definition_schemas_find(schemas, "docker"), definition);
    definition_schemas_free(schemas);
    return definition;
}

static void test_what_a_definition_leaves_out_is_the_schemas(void **state)
{
    AUTO_JSON json_t *json = define("{}");
    const struct docker_definition definition = docker_definition_read(json);

    (void)state;
    assert_null(definition.host);
    assert_null(definition.tls.ca_file);
    assert_string_equal(definition.image, "python:3.11-slim");
    assert_null(definition.dockerfile);
    assert_int_equal(json_object_size(definition.build_args), 0);
    assert_non_null(definition.build_args);
    assert_string_equal(definition.pull, "missing");
    assert_false(packages_definition_names_any(&definition.packages));
    assert_int_equal(json_object_size(definition.volumes), 0);
    assert_string_equal(definition.network, "none");
    assert_int_equal(json_array_size(definition.extra_hosts), 0);
    assert_null(definition.user);
    assert_string_equal(definition.container_name_prefix, "pyexecd_");
    assert_true(definition.container_startup_timeout == 30);
    assert_true(definition.cleanup_container);
    assert_false(definition.keep_container_running);
    assert_null(definition.gpus);
    assert_null(definition.runtime);
}

static void test_a_dockerfile_stands_for_the_image(void **state)
{
    AUTO_JSON json_t *json = define("{\"dockerfile\": \"/d\"}");
    const struct docker_definition definition = docker_definition_read(json);

    (void)state;
    assert_string_equal(definition.dockerfile, "/d");
    assert_null(definition.image);
}

static void test_what_a_definition_says_counts(void **state)
{
    AUTO_JSON json_t *json = define(
        "{\"host\": \"tcp://lab:2376\", \"tls\": {\"ca_file\": \"/ca\", \"cert_file\": \"/c\","
        " \"key_file\": \"/k\"}, \"image\": \"lab\","
        " \"build_args\": {\"A\": \"1\"}, \"pull\": \"never\", \"network\": \"bridge\","
        " \"pip_packages\": [\"numpy\"], \"volumes\": {\"/a\": \"/b\"}, \"user\": \"1:2\","
        " \"extra_hosts\": [\"a:192.0.2.7\"], \"container_name_prefix\": \"lab_\","
        " \"container_startup_timeout\": 0.5, \"cleanup_container\": false,"
        " \"keep_container_running\": true, \"gpus\": \"all\", \"runtime\": \"runsc\"}");
    const struct docker_definition definition = docker_definition_read(json);

    (void)state;
    assert_string_equal(definition.host, "tcp://lab:2376");
    assert_string_equal(definition.tls.ca_file, "/ca");
    assert_string_equal(definition.tls.cert_file, "/c");
    assert_string_equal(definition.tls.key_file, "/k");
    assert_string_equal(definition.image, "lab");
    assert_int_equal(json_object_size(definition.build_args), 1);
    assert_string_equal(definition.pull, "never");
    assert_true(packages_definition_names_any(&definition.packages));
    assert_int_equal(json_object_size(definition.volumes), 1);
    assert_string_equal(definition.network, "bridge");
    assert_int_equal(json_array_size(definition.extra_hosts), 1);
    assert_string_equal(definition.user, "1:2");
    assert_string_equal(definition.container_name_prefix, "lab_");
    assert_true(definition.container_startup_timeout == 0.5);
    assert_false(definition.cleanup_container);
    assert_true(definition.keep_container_running);
    assert_string_equal(json_string_value(definition.gpus), "all");
    assert_string_equal(definition.runtime, "runsc");
}

static void test_what_no_schema_finds_names_the_key_to_blame(void **state)
{
    static const struct {
        const char *definition;
        const char *key;
        const char *message;
    } faults[] = {
        {"{\"volumes\": {\"/a\": \"/proc\"}}", "volumes",
         "nothing of yours can be mounted in /proc of a container"},
        {"{\"volumes\": {\"/a\": {\"path\": \"/x//y\"}}}", "volumes",
         "/x//y has to be written without //, . and .."},
        {"{\"extra_hosts\": [\"a:host-gateway\", \"b:1.2\"]}", "extra_hosts",
         "\"1.2\" of \"b:1.2\" is no address of IPv4 or IPv6"},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(faults); i++) {
        AUTO_JSON json_t *json = define(faults[i].definition);
        const struct docker_definition definition = docker_definition_read(json);
        struct error err = ERROR_INIT;
        const char *key = NULL;

        assert_int_equal(docker_definition_check(&definition, &key, &err), -1);
        assert_string_equal(key, faults[i].key);
        assert_string_equal(err.message, faults[i].message);
    }
}

static void test_right_volumes_and_hosts_pass(void **state)
{
    AUTO_JSON json_t *json =
        define("{\"volumes\": {\"/a\": \"/b\", \"/c\": {\"path\": \"/d\", \"mode\": \"rw\"}},"
               " \"extra_hosts\": [\"a:host-gateway\", \"b:192.0.2.7\", \"c:2001:db8::7\"]}");
    const struct docker_definition definition = docker_definition_read(json);
    struct error err = ERROR_INIT;
    const char *key = NULL;

    (void)state;
    assert_int_equal(docker_definition_check(&definition, &key, &err), 0);
}

static void test_the_engine_is_the_one_that_is_named(void **state)
{
    AUTO_JSON json_t *json = define("{\"host\": \"tcp://lab\", \"tls\": {\"ca_file\": \"/ca\"}}");
    const struct docker_definition named = docker_definition_read(json);
    const struct docker_definition unnamed = {0};
    struct engine_address address = {0};
    struct error err = ERROR_INIT;

    (void)state;
    assert_int_equal(docker_definition_find_engine(&named, &address, &err), 0);
    assert_string_equal(address.base_url, "https://lab:2376");
    assert_string_equal(address.ca_file, "/ca");
    engine_address_deinit(&address);
    assert_int_equal(unsetenv("DOCKER_HOST"), 0);
    assert_int_equal(docker_definition_find_engine(&unnamed, &address, &err), 0);
    assert_string_equal(address.socket_path, "/var/run/docker.sock");
    engine_address_deinit(&address);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_what_a_definition_leaves_out_is_the_schemas),
        cmocka_unit_test(test_a_dockerfile_stands_for_the_image),
        cmocka_unit_test(test_what_a_definition_says_counts),
        cmocka_unit_test(test_what_no_schema_finds_names_the_key_to_blame),
        cmocka_unit_test(test_right_volumes_and_hosts_pass),
        cmocka_unit_test(test_the_engine_is_the_one_that_is_named),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
