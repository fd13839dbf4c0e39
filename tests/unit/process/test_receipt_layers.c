#include "environments/process/receipt_layers.h"

#include "base/json.h"
#include "base/memory.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

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
        cmocka_unit_test(test_each_layer_is_enforced_absent_or_not_asked_for),
        cmocka_unit_test(test_a_container_is_a_layer_of_its_own),
        cmocka_unit_test(test_layers_have_names),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
