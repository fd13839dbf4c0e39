#include "environments/process/receipt.h"

#include "base/json.h"
#include "base/memory.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

static void test_the_strongest_layer_names_what_held_the_tree(void **state)
{
    static const struct {
        unsigned layers;
        const char *name;
    } cases[] = {
        {LAYERS_OF_TREES, "pid namespace"},
        {LAYER_PID_NAMESPACE, "pid namespace"},
        {LAYER_CGROUP_KILL | LAYER_LANDLOCK, "cgroup"},
        {LAYER_LANDLOCK, "landlock"},
        {LAYER_CONTAINER, "container"},
        {0, "best effort"},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        const struct process_receipt receipt = {.layers = cases[i].layers};

        assert_string_equal(process_receipt_tree(&receipt), cases[i].name);
    }
}

static void test_only_a_container_isolates(void **state)
{
    (void)state;
    assert_int_equal(
        process_receipt_isolation(&(struct process_receipt){.layers = LAYERS_OF_TREES}),
        ISOLATION_NONE);
    assert_int_equal(
        process_receipt_isolation(&(struct process_receipt){.layers = LAYER_CONTAINER}),
        ISOLATION_DOCKER);
}

static void test_what_is_missing_is_listed_once(void **state)
{
    AUTO_JSON json_t *missing = json_array();
    struct process_receipt receipt = {
        .layers = LAYER_LANDLOCK, .limiter = LIMITER_CGROUP_V1, .missing = missing};
    AUTO_JSON json_t *containment = NULL;
    AUTO_FREE char *text = NULL;

    (void)state;
    assert_true(process_receipt_add_missing(missing, "own /proc: no"));
    assert_false(process_receipt_add_missing(missing, "own /proc: no"));
    assert_true(process_receipt_add_missing(missing, "namespaces: no"));
    containment = process_receipt_containment(&receipt);
    text = json_text(containment);
    assert_string_equal(text, "{\"process_tree\":\"landlock\",\"limits\":\"cgroup v1\","
                              "\"missing\":[\"own /proc: no\",\"namespaces: no\"]}");
}

static void test_nothing_missing_is_an_empty_list(void **state)
{
    AUTO_JSON json_t *containment = process_receipt_containment(&(struct process_receipt){0});
    AUTO_FREE char *text = json_text(containment);

    (void)state;
    assert_string_equal(text,
                        "{\"process_tree\":\"best effort\",\"limits\":\"rlimits\",\"missing\":[]}");
}

static void assert_layers(const struct process_receipt *receipt, const char *expected)
{
    AUTO_JSON json_t *layers = process_receipt_layers(receipt);
    AUTO_FREE char *text = json_text(layers);

    assert_string_equal(text, expected);
}

static void test_each_layer_is_enforced_absent_or_not_asked_for(void **state)
{
    (void)state;
    assert_layers(&(struct process_receipt){.layers = LAYERS_OF_TREES},
                  "{\"own root directory\":\"not asked for\",\"own network\":\"not asked for\","
                  "\"file rules\":\"not asked for\",\"system calls\":\"not asked for\"}");
    assert_layers(
        &(struct process_receipt){.layers = LAYERS_OF_SANDBOX, .asked = LAYERS_OF_SANDBOX},
        "{\"own root directory\":\"enforced\",\"own network\":\"enforced\","
        "\"file rules\":\"enforced\",\"system calls\":\"enforced\"}");
    assert_layers(&(struct process_receipt){.layers = LAYER_FILES,
                                            .asked = LAYERS_OF_SANDBOX & ~LAYER_NETWORK},
                  "{\"own root directory\":\"absent\",\"own network\":\"not asked for\","
                  "\"file rules\":\"enforced\",\"system calls\":\"absent\"}");
}

static void test_a_container_is_a_layer_of_its_own(void **state)
{
    (void)state;
    assert_layers(&(struct process_receipt){.layers = LAYER_CONTAINER},
                  "{\"container\":\"enforced\"}");
}

static void test_layers_have_names(void **state)
{
    (void)state;
    assert_string_equal(process_layer_name(LAYER_NETWORK), "own network");
    assert_string_equal(process_layer_name(LAYER_CALLS), "system calls");
    assert_string_equal(process_layer_name(LAYER_LANDLOCK), "");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_the_strongest_layer_names_what_held_the_tree),
        cmocka_unit_test(test_only_a_container_isolates),
        cmocka_unit_test(test_what_is_missing_is_listed_once),
        cmocka_unit_test(test_nothing_missing_is_an_empty_list),
        cmocka_unit_test(test_each_layer_is_enforced_absent_or_not_asked_for),
        cmocka_unit_test(test_a_container_is_a_layer_of_its_own),
        cmocka_unit_test(test_layers_have_names),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
