#include "environments/engine/engine_address.h"

#include "base/memory.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

static const struct engine_tls some_tls = {.ca_file = "/ca"};

static void test_addresses(void **state)
{
    static const struct {
        const char *text;
        const struct engine_tls *tls;
        const char *socket_path;
        const char *base_url;
    } addresses[] = {
        {"unix:///var/run/docker.sock", NULL, "/var/run/docker.sock", "http://localhost"},
        {"tcp://127.0.0.1", NULL, NULL, "http://127.0.0.1:2375"},
        {"tcp://127.0.0.1:1234/", NULL, NULL, "http://127.0.0.1:1234"},
        {"tcp://engine.example:2376", &some_tls, NULL, "https://engine.example:2376"},
        {"tcp://engine.example", &some_tls, NULL, "https://engine.example:2376"},
        {"https://engine.example", NULL, NULL, "https://engine.example:2376"},
        {"tcp://[::1]:1234", NULL, NULL, "http://[::1]:1234"},
        {"tcp://[::1]", NULL, NULL, "http://[::1]:2375"},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(addresses); i++) {
        struct engine_address address;
        struct error err = ERROR_INIT;

        assert_int_equal(engine_address_parse(addresses[i].text, addresses[i].tls, &address, &err),
                         0);
        assert_string_equal(address.text, addresses[i].text);
        assert_string_equal(address.base_url, addresses[i].base_url);
        if (addresses[i].socket_path)
            assert_string_equal(address.socket_path, addresses[i].socket_path);
        else
            assert_null(address.socket_path);
        engine_address_deinit(&address);
    }
}

static void test_what_is_no_address_is_refused(void **state)
{
    static const char *const texts[] = {
        "",
        "/var/run/docker.sock",
        "unix://",
        "unix:///",
        "unix://relative",
        ("unix:///0123456789012345678901234567890123456789012345678901234567890123456789"
         "0123456789012345678901234567890123456789"),
        "http://127.0.0.1",
        "ssh://host",
        "npipe:////./pipe/docker_engine",
        "tcp://",
        "tcp://:2375",
        "tcp://host:",
        "tcp://host:0",
        "tcp://host:65536",
        "tcp://host:1x",
        "tcp://user@host:1",
        "tcp://host/path",
        "tcp://::1:2375",
        "tcp://[::1:2375",
        "tcp://host#x",
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(texts); i++) {
        struct engine_address address;
        struct error err = ERROR_INIT;

        if (engine_address_parse(texts[i], NULL, &address, &err) == 0)
            fail_msg("taken: %s", texts[i]);
        assert_int_equal(err.code, ERROR_CONFIG);
    }
}

static void set(const char *host, const char *verify, const char *folder)
{
    unsetenv("DOCKER_HOST");
    unsetenv("DOCKER_TLS_VERIFY");
    unsetenv("DOCKER_CERT_PATH");
    if (host)
        setenv("DOCKER_HOST", host, 1);
    if (verify)
        setenv("DOCKER_TLS_VERIFY", verify, 1);
    if (folder)
        setenv("DOCKER_CERT_PATH", folder, 1);
}

static void test_default_follows_the_variables_of_docker(void **state)
{
    struct engine_address address;
    struct error err = ERROR_INIT;

    (void)state;
    set(NULL, NULL, NULL);
    assert_int_equal(engine_address_default(&address, &err), 0);
    assert_string_equal(address.text, "unix:///var/run/docker.sock");
    engine_address_deinit(&address);

    set("unix:///x", "1", "/certificates");
    assert_int_equal(engine_address_default(&address, &err), 0);
    assert_string_equal(address.socket_path, "/x");
    engine_address_deinit(&address);

    set("tcp://host", "1", "/certificates");
    assert_int_equal(engine_address_default(&address, &err), 0);
    assert_string_equal(address.base_url, "https://host:2376");
    assert_string_equal(address.ca_file, "/certificates/ca.pem");
    assert_string_equal(address.cert_file, "/certificates/cert.pem");
    assert_string_equal(address.key_file, "/certificates/key.pem");
    engine_address_deinit(&address);

    set("ssh://host", NULL, NULL);
    assert_int_equal(engine_address_default(&address, &err), -1);
    assert_non_null(strstr(err.message, "DOCKER_HOST is ssh://host: "));
}

/* ADDRESS leads to an engine, as far as can be known without asking. */
static bool is_open(const char *text)
{
    struct engine_address address;
    struct error err = ERROR_INIT;
    bool ret;

    assert_int_equal(engine_address_parse(text, NULL, &address, &err), 0);
    ret = engine_address_is_open(&address);
    engine_address_deinit(&address);
    return ret;
}

static void test_a_socket_that_is_not_there_is_not_open(void **state)
{
    (void)state;
    assert_false(is_open("unix:///nonexistent/docker.sock"));
    assert_true(is_open("unix:///dev/null"));
    assert_true(is_open("tcp://192.0.2.1"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_addresses),
        cmocka_unit_test(test_what_is_no_address_is_refused),
        cmocka_unit_test(test_default_follows_the_variables_of_docker),
        cmocka_unit_test(test_a_socket_that_is_not_there_is_not_open),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
