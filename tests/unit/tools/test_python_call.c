/* Two tools that run Python: what is kept for a caller is kept for both. */
#include "server/tools/python/python_call.h"

#include "base/cleanup.h"
#include "base/json.h"
#include "base/memory.h"
#include "environments/executor.h"
#include "server/tools/answer/run_result.h"
#include "server/tools/python/python_host.h"
#include "server/tools/registry.h"
#include "server/tools/tool.h"
#include "tests/unit/environments/fixture.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

struct calling {
    struct fixture *fixture;
    struct registry *registry;
    struct python_host *python;
    struct principals *principals;
    struct tool_caller *caller;
    struct invocation invocation;
    bool is_done;
};

static void on_done(struct invocation *invocation, void *data, struct run_facts *facts)
{
    (void)data;
    invocation->result.structured = run_result_structured(facts);
    invocation_finish(invocation);
}

/* The arguments of both tools are a request's code and timeout. */
static enum outcome start(struct invocation *invocation, struct error *err)
{
    const json_t *code = json_object_get(invocation->arguments, "code");
    const struct python_request request = {
        .code = json_string_value(code),
        .code_length = json_string_length(code),
        .timeout = json_number_value(json_object_get(invocation->arguments, "timeout")),
    };

    return python_call_start(invocation, invocation->data, &request, on_done, err);
}

static void on_invocation_done(struct invocation *invocation, const struct error *err)
{
    assert_null(err);
    CONTAINER_OF(invocation, struct calling, invocation)->is_done = true;
}

static void add_tool(struct calling *calling, const char *name)
{
    struct error err = ERROR_INIT;
    const struct tool tool = {
        .name = name,
        .description = "runs Python",
        .input_schema = json_pack("{s:s}", "type", "object"),
        .data = calling->python,
        .start = start,
        .cancel = python_call_cancel,
    };

    assert_int_equal(tool_register_function(calling->registry, &tool, &err), 0);
}

static void calling_init(struct calling *calling, bool lasting)
{
    *calling = (struct calling){.fixture = fixture_new(&(struct fixture_settings){0})};
    calling->python = python_host_new(&(struct python_settings){
        .loop = calling->fixture->loop,
        .catalog = calling->fixture->catalog,
        .executor = calling->fixture->executor,
        .workplace = calling->fixture->workplace,
        .default_environment = "system",
    });
    calling->registry = registry_new();
    add_tool(calling, "one");
    add_tool(calling, "other");
    calling->principals = principals_new();
    calling->caller = tool_caller_new(calling->principals, "test", lasting);
}

static void calling_deinit(struct calling *calling)
{
    tool_caller_unref(calling->caller);
    principals_free(calling->principals);
    registry_free(calling->registry);
    python_host_free(calling->python);
    fixture_free(calling->fixture);
}

static enum outcome call_begin(struct calling *calling, const char *tool, json_t *arguments,
                               struct error *err)
{
    calling->is_done = false;
    calling->invocation = (struct invocation){
        .caller = calling->caller, .arguments = arguments, .done = on_invocation_done};
    assert_int_equal(tool_prepare(&calling->invocation, calling->registry, tool, err), 0);
    return invocation_start(&calling->invocation, err);
}

/* What a call of TOOL with CODE returns; a new reference. */
static json_t *call_tool(struct calling *calling, const char *tool, const char *code)
{
    AUTO_JSON json_t *arguments = json_pack("{s:s}", "code", code);
    struct error err = ERROR_INIT;
    json_t *structured;

    assert_int_equal(call_begin(calling, tool, arguments, &err), OUTCOME_PENDING);
    while (!calling->is_done)
        ev_run(calling->fixture->loop, EVRUN_ONCE);
    structured = json_incref(calling->invocation.result.structured);
    invocation_deinit(&calling->invocation);
    return structured;
}

static void a_file_of_one_tool_is_there_for_the_other(void **state)
{
    struct calling calling;
    AUTO_JSON json_t *written = NULL;
    AUTO_JSON json_t *seen = NULL;

    (void)state;
    calling_init(&calling, true);
    written = call_tool(&calling, "one", "open('note', 'w').write('kept')");
    seen = call_tool(&calling, "other", "print(open('note').read())");
    assert_true(json_is_true(json_object_get(written, "success")));
    assert_string_equal(json_object_get_string(seen, "stdout"), "kept\n");
    calling_deinit(&calling);
}

static void a_caller_that_does_not_last_has_a_new_directory_each_time(void **state)
{
    struct calling calling;
    AUTO_JSON json_t *first = NULL;
    AUTO_JSON json_t *second = NULL;

    (void)state;
    calling_init(&calling, false);
    first = call_tool(&calling, "one", "pass");
    second = call_tool(&calling, "one", "pass");
    assert_string_not_equal(json_object_get_string(first, "working_directory"),
                            json_object_get_string(second, "working_directory"));
    calling_deinit(&calling);
}

static void a_timeout_beyond_that_of_the_environment_is_refused(void **state)
{
    struct calling calling;
    AUTO_JSON json_t *arguments = json_pack("{s:s, s:i}", "code", "pass", "timeout", 61);
    struct error err = ERROR_INIT;

    (void)state;
    calling_init(&calling, true);
    assert_int_equal(call_begin(&calling, "one", arguments, &err), OUTCOME_FAILED);
    assert_int_equal(err.code, ERROR_INVALID_ARGUMENTS);
    assert_string_equal(err.message,
                        "timeout is 61 seconds, environment \"system\" allows at most 60");
    assert_true(executor_is_idle(calling.fixture->executor));
    invocation_deinit(&calling.invocation);
    calling_deinit(&calling);
}

static void code_is_limited_in_bytes(void **state)
{
    struct calling calling;
    AUTO_FREE char *code = memory_new(PYTHON_CODE_BYTES + 2, 1);
    AUTO_JSON json_t *arguments = NULL;
    struct error err = ERROR_INIT;

    (void)state;
    calling_init(&calling, true);
    memset(code, '#', PYTHON_CODE_BYTES + 1);
    arguments = json_pack("{s:s}", "code", code);
    assert_int_equal(call_begin(&calling, "one", arguments, &err), OUTCOME_FAILED);
    assert_string_equal(err.message, "code is 1048577 bytes, the limit is 1048576");
    invocation_deinit(&calling.invocation);
    calling_deinit(&calling);
}

static void a_cancelled_call_ends_its_run(void **state)
{
    struct calling calling;
    AUTO_JSON json_t *arguments = json_pack("{s:s}", "code", "import time; time.sleep(60)");
    struct error err = ERROR_INIT;

    (void)state;
    calling_init(&calling, true);
    assert_int_equal(call_begin(&calling, "one", arguments, &err), OUTCOME_PENDING);
    invocation_cancel(&calling.invocation);
    while (!executor_is_idle(calling.fixture->executor))
        ev_run(calling.fixture->loop, EVRUN_ONCE);
    assert_false(calling.is_done);
    invocation_deinit(&calling.invocation);
    calling_deinit(&calling);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_file_of_one_tool_is_there_for_the_other),
        cmocka_unit_test(a_caller_that_does_not_last_has_a_new_directory_each_time),
        cmocka_unit_test(a_timeout_beyond_that_of_the_environment_is_refused),
        cmocka_unit_test(code_is_limited_in_bytes),
        cmocka_unit_test(a_cancelled_call_ends_its_run),
    };

    setvbuf(stdout, NULL, _IOLBF, 0);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
