#include "environments/nodes/node_message.h"

#include "base/cleanup.h"
#include "base/json.h"
#include "base/memory.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
#include <signal.h>
#include <string.h>

static void test_a_request_is_read_as_it_was_written(void **state)
{
    static const char *const variables[] = {"A=1", "B=", NULL};
    static const char *const arguments[] = {"-x", NULL};
    char kept[] = "pyexecd.yaml";
    AUTO_JSON json_t *imports = json_pack("[s]", "numpy");
    struct recurrence recurrence;
    const struct execution_request request = {
        .directory = "/place",
        .script = "/place/script.py",
        .code = "print(1)",
        .code_length = 8,
        .text = "print(1)",
        .variables = variables,
        .arguments = arguments,
        .isolation = ISOLATION_SANDBOX,
        .recurrence = &recurrence,
        .imports = imports,
        .owner = "somebody",
        .timeout = 2.5,
    };
    struct node_request read;

    (void)state;
    assert_true(node_request_read(
        &read, node_request_write(&request, (char *const[]){kept, NULL}, 7, true)));
    assert_int_equal(read.environment, 7);
    assert_int_equal(read.code_length, 8);
    assert_true(read.has_text && read.is_recurrent && !read.is_program && !read.has_input);
    assert_string_equal(read.request.directory, "/place");
    assert_string_equal(read.request.script, "/place/script.py");
    assert_string_equal(read.request.variables[1], "B=");
    assert_null(read.request.variables[2]);
    assert_string_equal(read.request.arguments[0], "-x");
    assert_string_equal(read.kept[0], "pyexecd.yaml");
    assert_null(read.kept[1]);
    assert_int_equal(read.request.isolation, ISOLATION_SANDBOX);
    assert_string_equal(read.request.owner, "somebody");
    assert_true(json_equal(read.request.imports, imports));
    assert_true(read.request.timeout == 2.5);
    node_request_deinit(&read);
}

static void test_a_request_without_a_script_has_a_program(void **state)
{
    const struct execution_request request = {
        .directory = "/place", .program = "pass", .input = 3, .kernel = "ir", .owner = ""};
    struct node_request read;
    size_t length;

    (void)state;
    assert_string_equal(node_request_code(&request, &length), "pass");
    assert_int_equal(length, 4);
    assert_true(node_request_read(&read, node_request_write(&request, NULL, 1, true)));
    assert_true(read.is_program && read.has_input && read.code_length == 4);
    assert_string_equal(read.request.kernel, "ir");
    assert_null(read.request.variables);
    assert_null(read.kept);
    assert_null(read.request.script);
    node_request_deinit(&read);
}

static void test_what_is_no_request_is_refused(void **state)
{
    static const char *const texts[] = {"null",
                                        "[]",
                                        "{}",
                                        "{\"directory\": \"work\", \"owner\": \"a\"}",
                                        "{\"directory\": \"/work\"}",
                                        "{\"directory\": 1, \"owner\": [], \"code_length\": -1}"};

    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(texts); i++) {
        struct node_request read;

        assert_false(node_request_read(&read, json_loads(texts[i], JSON_DECODE_ANY, NULL)));
        assert_int_equal(read.code_length, 0);
        node_request_deinit(&read);
    }
}

static void test_an_end_is_read_as_it_was_written(void **state)
{
    AUTO_JSON json_t *missing = json_pack("[s]", "own network: none");
    AUTO_JSON json_t *node = json_string("gpu (c1)");
    const struct process_end end = {
        .receipt = {.layers = LAYER_ROOT | LAYER_FILES,
                    .asked = LAYERS_OF_SANDBOX,
                    .limiter = LIMITER_CGROUP_V2,
                    .missing = missing},
        .failure = "no room",
        .reported = true,
        .returncode = -SIGSEGV,
        .out_of_disk = true,
        .leftovers = 3,
        .cpu_seconds = 1.5,
        .peak_memory = 5ULL << 32,
        .run_seconds = 2.25,
    };
    AUTO_JSON json_t *message = node_end_write(&end);
    struct process_end read;

    (void)state;
    node_end_read(&read, message, node);
    assert_int_equal(read.receipt.layers, end.receipt.layers);
    assert_int_equal(read.receipt.asked, end.receipt.asked);
    assert_int_equal(read.receipt.limiter, LIMITER_CGROUP_V2);
    assert_true(json_equal(read.receipt.missing, missing));
    assert_ptr_equal(read.receipt.node, node);
    assert_string_equal(read.failure, "no room");
    assert_true(read.reported && read.out_of_disk);
    assert_false(read.killed || read.survivors || read.out_of_memory);
    assert_int_equal(read.returncode, -SIGSEGV);
    assert_int_equal(read.leftovers, 3);
    assert_true(read.cpu_seconds == 1.5 && read.run_seconds == 2.25);
    assert_int_equal(read.peak_memory, 5ULL << 32);
}

static void test_numbers_of_an_end_are_bounded(void **state)
{
    AUTO_JSON json_t *message =
        json_pack("{s:I, s:i, s:I, s:[i], s:I, s:i, s:[]}", "layers", (json_int_t)-1, "limiter", 99,
                  "peak_memory", (json_int_t)-5, "missing", 1, "returncode", (json_int_t)1 << 40,
                  "stacks", 7, "left_files");
    struct process_end read;

    (void)state;
    node_end_read(&read, message, NULL);
    assert_int_equal(read.receipt.layers, 0);
    assert_int_equal(read.receipt.limiter, LIMITER_RLIMITS);
    assert_null(read.receipt.missing);
    assert_int_equal(read.peak_memory, 0);
    assert_int_equal(read.returncode, -SIGKILL);
    assert_null(read.stacks);
    assert_null(read.left_files);
}

static void test_lists_of_an_end_have_their_shapes(void **state)
{
    static const char *const shapeless[] = {
        "[7]", "[{}]", "[{\"main\": true, \"threads\": 1, \"frames\": 3}]",
        "[{\"main\": true, \"threads\": 1, \"frames\": [{\"file\": \"a\", \"line\": \"b\"}]}]"};
    AUTO_JSON json_t *message = json_pack(
        "{s:[{s:b, s:i, s:[{s:s, s:i, s:s}]}], s:{s:i, s:[s]}, s:[s], s:[s], s:i, s:i}", "stacks",
        "main", 1, "threads", 1, "frames", "file", "a\033[2Jb", "line", 3, "function", "f",
        "left_files", "count", 1, "names", "x\033y", "missing", "\033m", "devices", "/dev/\033",
        "layers", LAYER_CONTAINER | LAYER_ROOT, "limiter", LIMITER_CONTAINER);
    struct process_end read;
    AUTO_FREE char *stacks = NULL;
    AUTO_FREE char *left = NULL;

    (void)state;
    node_end_read(&read, message, NULL);
    stacks = json_text(read.stacks);
    left = json_text(read.left_files);
    assert_string_equal(stacks, "[{\"main\":true,\"threads\":1,\"frames\":[{\"file\":\"a?[2Jb\","
                                "\"line\":3,\"function\":\"f\"}]}]");
    assert_string_equal(left, "{\"count\":1,\"names\":[\"x?y\"]}");
    assert_string_equal(json_string_value(json_array_get(read.receipt.missing, 0)), "?m");
    assert_string_equal(json_string_value(json_array_get(read.receipt.devices, 0)), "/dev/?");
    assert_int_equal(read.receipt.layers, LAYER_ROOT);
    assert_int_equal(read.receipt.limiter, LIMITER_RLIMITS);
    for (size_t i = 0; i < ARRAY_SIZE(shapeless); i++) {
        json_object_set_new(message, "stacks", json_loads(shapeless[i], 0, NULL));
        node_end_read(&read, message, NULL);
        assert_null(read.stacks);
    }
}

static void test_lists_of_an_end_are_bounded(void **state)
{
    AUTO_JSON json_t *message = json_pack("{s:[], s:[]}", "missing", "stacks");
    struct process_end read;

    (void)state;
    for (size_t i = 0; i < 1000; i++) {
        json_array_append_new(json_object_get(message, "missing"), json_string("no"));
        json_array_append_new(json_object_get(message, "stacks"),
                              json_pack("{s:b, s:i, s:[]}", "main", 0, "threads", 1, "frames"));
    }
    node_end_read(&read, message, NULL);
    assert_true(json_array_size(read.receipt.missing) < 100);
    assert_true(json_array_size(read.stacks) < 100);
}

static void test_the_end_of_a_cell_has_its_usage(void **state)
{
    const struct process_usage usage = {.cpu_seconds = .5, .peak_memory = 4096};
    AUTO_JSON json_t *message = node_usage_write(3, &usage);
    struct process_usage read;

    (void)state;
    assert_int_equal(node_usage_read(&read, message), 3);
    assert_true(read.cpu_seconds == .5 && read.peak_memory == 4096);
}

static void test_settings_are_read_as_they_were_written(void **state)
{
    struct environment_settings settings = {
        .timeout = 2.5,
        .max_timeout = 10,
        .start = START_COLD,
        .images = IMAGES_OFF,
        .limits = {.memory = 1ULL << 30, .processes = 7, .nice = 3},
        .disk = 1 << 20,
        .output = 4096,
    };
    AUTO_JSON json_t *written = node_settings_write(&settings);
    struct environment_settings read = {0};

    (void)state;
    environment_settings_read(&read, written);
    assert_true(environment_settings_are_equal(&settings, &read));
    assert_int_equal(read.limits.file_size, 1 << 20);
}

static void test_files_that_were_left_out_are_named_as_long_as_there_is_room(void **state)
{
    struct node_skips skips = {0};
    struct node_skips all = {0};
    struct node_skips read;
    AUTO_JSON json_t *written = NULL;

    (void)state;
    node_skips_add(&all, "first", "too large");
    node_skips_add(&skips, "second", "too deep");
    node_skips_add(&skips, "third\n", "cannot be read");
    written = node_skips_write(&skips);
    node_skips_read(&read, written);
    node_skips_join(&all, &read);
    assert_int_equal(all.count, 3);
    assert_int_equal(all.named, 3);
    assert_string_equal(all.names, "first (too large), second (too deep), third? (cannot be read)");
    for (unsigned i = 0; i < 100; i++)
        node_skips_add(&all, "more", "too large");
    assert_int_equal(all.count, 103);
    assert_true(all.named > 3 && all.named < 50 && strlen(all.names) < sizeof all.names);
}

static void test_a_node_that_names_no_file_has_left_none_out(void **state)
{
    struct node_skips skips = {0};
    struct node_skips read;
    AUTO_JSON json_t *nameless = json_pack("{s:i, s:i}", "count", 5, "named", 9);
    AUTO_JSON json_t *more = json_pack("{s:i, s:i, s:s}", "count", 5, "named", 9, "names", "a");

    (void)state;
    node_skips_read(&read, nameless);
    node_skips_join(&skips, &read);
    assert_true(skips.count == 0 && !*skips.names);
    node_skips_read(&read, more);
    assert_true(read.count == 5 && read.named == 5);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_request_is_read_as_it_was_written),
        cmocka_unit_test(test_a_request_without_a_script_has_a_program),
        cmocka_unit_test(test_what_is_no_request_is_refused),
        cmocka_unit_test(test_an_end_is_read_as_it_was_written),
        cmocka_unit_test(test_numbers_of_an_end_are_bounded),
        cmocka_unit_test(test_lists_of_an_end_have_their_shapes),
        cmocka_unit_test(test_lists_of_an_end_are_bounded),
        cmocka_unit_test(test_the_end_of_a_cell_has_its_usage),
        cmocka_unit_test(test_settings_are_read_as_they_were_written),
        cmocka_unit_test(test_files_that_were_left_out_are_named_as_long_as_there_is_room),
        cmocka_unit_test(test_a_node_that_names_no_file_has_left_none_out),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
