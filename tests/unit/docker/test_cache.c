#include "environments/docker/cache.h"

#include "base/cleanup.h"
#include "base/memory.h"
#include "tests/unit/environments/impostor.h"
#include "tests/unit/environments/scratch.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#define TAG "pyexecd:0123"

static void test_an_image_is_wanted_for_a_while(void **state)
{
    char *scratch = scratch_new();
    time_t now = time(NULL);

    (void)state;
    docker_cache_use(scratch, TAG);
    assert_true(docker_cache_is_wanted(scratch, TAG, now));
    assert_true(docker_cache_is_wanted(scratch, TAG, now + (time_t)DOCKER_CACHE_SECONDS - 60));
    assert_false(docker_cache_is_wanted(scratch, TAG, now + (time_t)DOCKER_CACHE_SECONDS + 60));
    scratch_free(scratch);
}

static void test_its_time_begins_anew_with_each_use(void **state)
{
    char *scratch = scratch_new();
    time_t late = time(NULL) + 60;

    (void)state;
    docker_cache_use(scratch, TAG);
    shell(scratch, "touch -d '31 days ago' docker/images/0123");
    assert_false(docker_cache_is_wanted(scratch, TAG, late));
    docker_cache_use(scratch, TAG);
    assert_true(docker_cache_is_wanted(scratch, TAG, late));
    scratch_free(scratch);
}

static void test_one_that_nothing_is_known_of_is_wanted_for_as_long(void **state)
{
    char *scratch = scratch_new();
    time_t late = time(NULL) + (time_t)DOCKER_CACHE_SECONDS + 60;

    (void)state;
    assert_true(docker_cache_is_wanted(scratch, TAG, late));
    assert_false(docker_cache_is_wanted(scratch, TAG, late));
    docker_cache_forget(scratch, TAG);
    assert_true(docker_cache_is_wanted(scratch, TAG, late));
    scratch_free(scratch);
}

static void test_nobody_waits_for_what_is_no_file(void **state)
{
    char *scratch = scratch_new();
    AUTO_FREE char *path = memory_format("%s/docker/images/0123", scratch);

    (void)state;
    shell(scratch, "mkdir -p docker/images; : >target; touch -d '31 days ago' target");
    for (unsigned i = 0; i < IMPOSTORS; i++) {
        impostor_put(i, path, "../../target");
        docker_cache_use(scratch, TAG);
        impostor_remove(path);
    }
    shell(scratch, "test -z \"$(find target -mtime -30)\""); /* the link was not followed */
    scratch_free(scratch);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_an_image_is_wanted_for_a_while),
        cmocka_unit_test(test_its_time_begins_anew_with_each_use),
        cmocka_unit_test(test_one_that_nothing_is_known_of_is_wanted_for_as_long),
        cmocka_unit_test(test_nobody_waits_for_what_is_no_file),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
