#include "environments/docker/packages.h"

#include "base/cleanup.h"
#include "base/curl/curl_library.h"
#include "base/json.h"
#include "base/list.h"
#include "base/memory.h"
#include "environments/docker/site.h"
#include "environments/instance.h"
#include "tests/unit/engine/fake_engine.h"
#include "tests/unit/environments/scratch.h"
#include "tests/unit/transport/turning.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#define MISSING "HTTP/1.1 404 Not Found\r\nContent-Length: 21\r\n\r\n{\"message\":\"nothing\"}"
#define REFUSED "HTTP/1.1 409 Conflict\r\nContent-Length: 20\r\n\r\n{\"message\":\"not so\"}"
#define FOUND   "HTTP/1.1 200 OK\r\nContent-Length: 11\r\n\r\n{\"Id\":\"i2\"}"

enum { LOOK, CREATE, ANSWERS };

struct fixture {
    struct fake_answer answers[ANSWERS + 1];
    char *state; /* owned */
    char *requirements;
    struct ev_loop *loop;
    struct fake_engine *fake;
    struct instance *instance;
    struct environment environment;
    json_t *definition;
    struct docker_site site;
    struct docker_packages packages;
    bool done;
    struct error error;
};

static void on_done(struct docker_packages *packages, const struct error *err)
{
    struct fixture *fixture = CONTAINER_OF(packages, struct fixture, packages);

    assert_false(fixture->done);
    fixture->done = true;
    if (err)
        fixture->error = *err;
}

static int set_up(void **state)
{
    struct fixture *fixture = NEW(struct fixture);
    struct error err = ERROR_INIT;

    assert_int_equal(curl_library_load(&err), 0);
    fixture->answers[LOOK] =
        (struct fake_answer){.request = "GET /v1.41/images/", .answer = MISSING};
    fixture->answers[CREATE] =
        (struct fake_answer){.request = "POST /v1.41/containers/create", .answer = REFUSED};
    fixture->state = scratch_new();
    fixture->requirements = memory_format("%s/docker/requirements", fixture->state);
    fixture->instance = instance_new(fixture->state, &err);
    fixture->loop = ev_loop_new(0);
    fixture->fake = fake_engine_new(fixture->loop, fixture->answers);
    fixture->environment = (struct environment){.name = memory_copy_string("box")};
    list_init(&fixture->environment.waiters);
    fixture->site = (struct docker_site){
        .environment = &fixture->environment,
        .engine = fake_engine_client(fixture->fake),
        .instance = fixture->instance,
        .init = memory_copy_string("/init"),
        .state = memory_copy_string(fixture->state),
    };
    fixture->packages.done = on_done;
    *state = fixture;
    return 0;
}

static int tear_down(void **state)
{
    struct fixture *fixture = *state;

    docker_packages_deinit(&fixture->packages);
    docker_site_deinit(&fixture->site);
    json_decref(fixture->definition);
    free(fixture->environment.name);
    instance_free(fixture->instance);
    fake_engine_free(fixture->fake);
    ev_loop_destroy(fixture->loop);
    free(fixture->requirements);
    scratch_free(fixture->state);
    free(fixture);
    return 0;
}

/* Starts to install what DEFINITION (taken) names. */
static void start(struct fixture *fixture, json_t *definition)
{
    static const struct docker_facts base = {.id = (char *)"i1"};
    struct error err = ERROR_INIT;

    fixture->definition = definition;
    fixture->site.definition = docker_definition_read(definition);
    fixture->site.definition.network = "none";
    fixture->site.definition.container_name_prefix = "pyexecd_";
    fixture->site.definition.container_startup_timeout = 30;
    assert_int_equal(
        docker_packages_start(&fixture->packages, &fixture->site, &base, "python3", &err), 0);
    assert_int_equal(count_entries(fixture->requirements), 1);
}

static void until_done(struct fixture *fixture)
{
    TURN_UNTIL(fixture->loop, fixture->done);
    assert_int_equal(count_entries(fixture->requirements), 0);
}

static void test_image_that_is_there_is_taken(void **state)
{
    struct fixture *fixture = *state;

    fixture->answers[LOOK].answer = FOUND;
    start(fixture, json_pack("{s:[s]}", "pip_packages", "numpy"));
    until_done(fixture);
    assert_string_equal(fixture->error.message, "");
    assert_string_equal(fixture->packages.facts.id, "i2");
    assert_int_equal(fake_engine_count(fixture->fake, "containers"), 0);
}

static void test_container_that_cannot_be_described_leaves_no_file(void **state)
{
    struct fixture *fixture = *state;

    start(fixture, json_pack("{s:[s], s:s}", "pip_packages", "numpy", //
                             "pip_find_links", "/no/such/folder"));
    until_done(fixture);
    assert_non_null(strstr(fixture->error.message, "pip_find_links"));
    assert_int_equal(fake_engine_count(fixture->fake, "containers"), 0);
}

static void test_container_that_does_not_start_leaves_no_file(void **state)
{
    struct fixture *fixture = *state;

    start(fixture, json_pack("{s:[s]}", "pip_packages", "numpy"));
    until_done(fixture);
    assert_string_equal(fixture->error.message, "the Docker engine refused: not so");
}

static void test_cancelled_it_leaves_no_file(void **state)
{
    struct fixture *fixture = *state;

    fixture->answers[LOOK].manner = FAKE_SILENT;
    start(fixture, json_pack("{s:[s]}", "pip_packages", "numpy"));
    docker_packages_cancel(&fixture->packages);
    docker_packages_cancel(&fixture->packages);
    assert_int_equal(count_entries(fixture->requirements), 0);
    turn_for(fixture->loop, 0.05);
    assert_false(fixture->done);
}

#define PACKAGES_TEST(NAME) cmocka_unit_test_setup_teardown(NAME, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        PACKAGES_TEST(test_image_that_is_there_is_taken),
        PACKAGES_TEST(test_container_that_cannot_be_described_leaves_no_file),
        PACKAGES_TEST(test_container_that_does_not_start_leaves_no_file),
        PACKAGES_TEST(test_cancelled_it_leaves_no_file),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
