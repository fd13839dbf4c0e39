#include "environments/docker/sweep.h"

#include "base/cleanup.h"
#include "base/json.h"
#include "base/memory.h"
#include "environments/docker/site.h"
#include "environments/instance.h"
#include "tests/unit/environments/impostor.h"
#include "tests/unit/environments/scratch.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
#include <cmocka.h>

enum { NOW = 1000000 };

#define DEAD  "00000000000000000000000000000000"
#define OTHER "11111111111111111111111111111111"

#define TAG "pyexecd:0123"

struct fixture {
    char *state; /* owned */
    struct instance *instance;
};

static int set_up(void **state)
{
    struct fixture *fixture = calloc(1, sizeof *fixture);
    struct error err = ERROR_INIT;

    fixture->state = scratch_new();
    fixture->instance = instance_new(fixture->state, &err);
    assert_non_null(fixture->instance);
    *state = fixture;
    return 0;
}

static int tear_down(void **state)
{
    struct fixture *fixture = *state;

    instance_free(fixture->instance);
    scratch_free(fixture->state);
    free(fixture);
    return 0;
}

/* A container of the server SERVER of the state directory STATE, whose time is over at DEADLINE. */
static json_t *container(const char *state, const char *server, int deadline)
{
    return json_pack("{s:s, s:{s:s, s:s, s:o, s:o}}", "State", "running", "Labels", //
                     DOCKER_LABEL_STATE, state,                                     //
                     DOCKER_LABEL_SERVER, server,                                   //
                     DOCKER_LABEL_OWNER, json_string_format("%u", (unsigned)geteuid()),
                     DOCKER_LABEL_DEADLINE, json_string_format("%d", deadline));
}

/* COUNT containers of CLIENT that stay; the first is the newest. Added to LIST. */
static void add_staying(json_t *list, const char *client, int count)
{
    for (int i = 0; i < count; i++)
        json_array_append_new(list, json_pack("{s:s, s:i, s:{s:s, s:o}}", "State", "exited",
                                              "Created", 1000 - i, "Labels", DOCKER_LABEL_STAYS,
                                              client, DOCKER_LABEL_OWNER,
                                              json_string_format("%u", (unsigned)geteuid())));
}

static void test_the_oldest_of_many_that_stay_go(void **state)
{
    AUTO_JSON json_t *list = json_array();

    (void)state;
    add_staying(list, "a", 10);
    add_staying(list, "b", 3);
    for (size_t i = 0; i < 13; i++)
        assert_int_equal(docker_sweep_is_too_many(list, i), i == 8 || i == 9);
    json_object_set_new(json_array_get(list, 9), "State", json_string("running"));
    assert_false(docker_sweep_is_too_many(list, 9));
}

static bool judge(const struct fixture *fixture, json_t *description)
{
    AUTO_JSON json_t *owned = description;

    return docker_sweep_judge(owned, fixture->instance, NOW);
}

static void test_one_of_a_dead_server_goes(void **state)
{
    const struct fixture *fixture = *state;

    assert_true(judge(fixture, container(instance_state_name(fixture->instance), DEAD, NOW + 99)));
}

static void test_one_of_a_server_that_lives_stays_until_its_deadline(void **state)
{
    const struct fixture *fixture = *state;
    const char *ours = instance_state_name(fixture->instance);
    const char *alive = instance_name(fixture->instance);

    assert_false(judge(fixture, container(ours, alive, NOW + 99)));
    assert_true(judge(fixture, container(ours, alive, NOW - 1)));
}

static void test_one_of_another_state_directory_stays_until_its_deadline(void **state)
{
    const struct fixture *fixture = *state;

    assert_false(judge(fixture, container(OTHER, DEAD, NOW + 99)));
    assert_true(judge(fixture, container(OTHER, DEAD, NOW - 1)));
}

static void test_nobody_elses_is_touched(void **state)
{
    const struct fixture *fixture = *state;
    json_t *stranger = json_pack("{s:s, s:{s:s}}", "State", "exited", "Labels", "some", "label");
    json_t *neighbour = container(OTHER, DEAD, NOW - 1);

    json_object_set_new(json_object_get(neighbour, "Labels"), DOCKER_LABEL_OWNER,
                        json_string_format("%u", (unsigned)geteuid() + 1));
    assert_false(judge(fixture, stranger));
    assert_false(judge(fixture, neighbour));
}

static void test_one_to_be_looked_at_outlives_its_server(void **state)
{
    const struct fixture *fixture = *state;
    const char *ours = instance_state_name(fixture->instance);
    json_t *fresh = container(ours, DEAD, NOW + 99);
    json_t *old = container(ours, DEAD, NOW - 1);

    json_object_set_new(json_object_get(fresh, "Labels"), DOCKER_LABEL_STAYS, json_string("1"));
    json_object_set_new(json_object_get(old, "Labels"), DOCKER_LABEL_STAYS, json_string("1"));
    assert_true(judge(fixture, json_incref(fresh))); /* still running: nobody waits for it */
    json_object_set_new(fresh, "State", json_string("exited"));
    json_object_set_new(old, "State", json_string("exited"));
    assert_false(judge(fixture, fresh));
    assert_true(judge(fixture, old));
}

static void test_an_image_is_wanted_for_a_while(void **state)
{
    char *scratch = scratch_new();
    time_t now = time(NULL);

    (void)state;
    docker_sweep_mark_image(scratch, TAG);
    assert_true(docker_sweep_wants_image(scratch, TAG, now));
    assert_true(
        docker_sweep_wants_image(scratch, TAG, now + (time_t)DOCKER_SWEEP_IMAGE_SECONDS - 60));
    assert_false(
        docker_sweep_wants_image(scratch, TAG, now + (time_t)DOCKER_SWEEP_IMAGE_SECONDS + 60));
    scratch_free(scratch);
}

static void test_the_time_of_an_image_begins_anew_with_each_use(void **state)
{
    char *scratch = scratch_new();
    time_t late = time(NULL) + 60;

    (void)state;
    docker_sweep_mark_image(scratch, TAG);
    shell(scratch, "touch -d '31 days ago' docker/images/0123");
    assert_false(docker_sweep_wants_image(scratch, TAG, late));
    docker_sweep_mark_image(scratch, TAG);
    assert_true(docker_sweep_wants_image(scratch, TAG, late));
    scratch_free(scratch);
}

static void test_an_image_that_nothing_is_known_of_is_wanted_for_as_long(void **state)
{
    char *scratch = scratch_new();
    time_t late = time(NULL) + (time_t)DOCKER_SWEEP_IMAGE_SECONDS + 60;

    (void)state;
    assert_true(docker_sweep_wants_image(scratch, TAG, late));
    assert_false(docker_sweep_wants_image(scratch, TAG, late));
    docker_sweep_forget_image(scratch, TAG);
    assert_true(docker_sweep_wants_image(scratch, TAG, late));
    scratch_free(scratch);
}

static void test_nobody_waits_for_the_file_of_an_image(void **state)
{
    char *scratch = scratch_new();
    AUTO_FREE char *path = memory_format("%s/docker/images/0123", scratch);

    (void)state;
    shell(scratch, "mkdir -p docker/images; : >target; touch -d '31 days ago' target");
    for (unsigned i = 0; i < IMPOSTORS; i++) {
        impostor_put(i, path, "../../target");
        docker_sweep_mark_image(scratch, TAG);
        impostor_remove(path);
    }
    shell(scratch, "test -z \"$(find target -mtime -30)\""); /* the link was not followed */
    scratch_free(scratch);
}

int main(void)
{
#define TEST(NAME) cmocka_unit_test_setup_teardown(NAME, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_the_oldest_of_many_that_stay_go),
        TEST(test_one_of_a_dead_server_goes),
        TEST(test_one_of_a_server_that_lives_stays_until_its_deadline),
        TEST(test_one_of_another_state_directory_stays_until_its_deadline),
        TEST(test_nobody_elses_is_touched),
        TEST(test_one_to_be_looked_at_outlives_its_server),
        cmocka_unit_test(test_an_image_is_wanted_for_a_while),
        cmocka_unit_test(test_the_time_of_an_image_begins_anew_with_each_use),
        cmocka_unit_test(test_an_image_that_nothing_is_known_of_is_wanted_for_as_long),
        cmocka_unit_test(test_nobody_waits_for_the_file_of_an_image),
    };

    setvbuf(stdout, NULL, _IOLBF, 0);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
