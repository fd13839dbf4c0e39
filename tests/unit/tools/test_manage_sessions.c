/* The tool that lists, closes and restarts sessions, and how a call finds one. */
#include "server/tools/python/manage_sessions.h"

#include "base/cleanup.h"
#include "base/json.h"
#include "base/memory.h"
#include "environments/notebook/notebooks.h"
#include "server/tools/python/python_host.h"
#include "server/tools/python/python_request.h"
#include "server/tools/python/python_session.h"
#include "server/tools/registry.h"
#include "server/tools/tool.h"
#include "tests/unit/notebook/session_fixture.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#define LONG_SECONDS 3600.0

struct managing {
    struct session_fixture *sessions;
    struct registry *registry;
    struct python_host *host;
    struct principals *principals;
    struct tool_caller *caller;
    struct tool_caller *other;
};

static int setup(void **state)
{
    struct managing *managing = NEW(struct managing);
    const struct fixture *fixture;
    struct error err = ERROR_INIT;

    managing->sessions = session_fixture_new(8, 8, LONG_SECONDS);
    fixture = managing->sessions->fixture;
    managing->host = python_host_new(&(struct python_settings){
        .loop = fixture->loop,
        .catalog = fixture->catalog,
        .executor = fixture->executor,
        .workplace = fixture->workplace,
        .notebooks = managing->sessions->notebooks,
        .default_environment = "system",
    });
    managing->registry = registry_new();
    assert_int_equal(manage_sessions_offer(managing->registry, managing->host, &err), 0);
    managing->principals = principals_new();
    managing->caller = tool_caller_new(managing->principals, "ann", true);
    managing->other = tool_caller_new(managing->principals, "bob", true);
    *state = managing;
    return 0;
}

static int teardown(void **state)
{
    struct managing *managing = *state;

    tool_caller_unref(managing->caller);
    tool_caller_unref(managing->other);
    principals_free(managing->principals);
    registry_free(managing->registry);
    python_host_free(managing->host);
    session_fixture_free(managing->sessions);
    free(managing);
    return 0;
}

static struct notebook *open_one(struct managing *managing, const char *owner)
{
    struct error err = ERROR_INIT;
    struct notebook *notebook = session_fixture_open(managing->sessions, owner, &err);

    assert_non_null(notebook);
    return notebook;
}

/* The text of the result, owned by the caller, or the error. */
static char *manage(struct managing *managing, struct tool_caller *caller, const char *action,
                    const char *session)
{
    AUTO_JSON json_t *arguments = json_pack("{s:s, s:s*}", "action", action, "session", session);
    struct invocation invocation = {.caller = caller, .arguments = arguments};
    struct error err = ERROR_INIT;
    const json_t *block;
    char *text;

    if (tool_prepare(&invocation, managing->registry, "manage_sessions", &err) == 0 &&
        invocation_start(&invocation, &err) == OUTCOME_READY) {
        block = json_array_get(invocation.result.content, 0);
        text = memory_copy_string(json_object_get_string(block, "text"));
    } else {
        text = memory_copy_string(err.message);
    }
    invocation_deinit(&invocation);
    return text;
}

static void expect(struct managing *managing, struct tool_caller *caller, const char *action,
                   const char *session, const char *text)
{
    AUTO_FREE char *said = manage(managing, caller, action, session);

    assert_string_equal(said, text);
}

static void test_the_list_has_the_callers_own_only(void **state)
{
    struct managing *managing = *state;
    const struct notebook *own = open_one(managing, "ann");
    AUTO_FREE char *text = NULL;
    AUTO_FREE char *line = memory_format(
        "%s: environment system, working_directory %s, 0 cells executed, idle",
        notebook_handle(own), working_directory_handle(managing->sessions->directory));

    text = manage(managing, managing->caller, "list", NULL);
    assert_string_equal(text, line);
    expect(managing, managing->other, "list", NULL, "You have no sessions.");
}

static void test_closing_ends_one(void **state)
{
    struct managing *managing = *state;
    AUTO_FREE char *name = memory_copy_string(notebook_handle(open_one(managing, "ann")));

    expect(managing, managing->caller, "close", name, "The session is closed.");
    expect(managing, managing->caller, "list", NULL, "You have no sessions.");
}

static void test_a_restart_leaves_the_name(void **state)
{
    struct managing *managing = *state;
    AUTO_FREE char *name = memory_copy_string(notebook_handle(open_one(managing, "ann")));

    expect(managing, managing->caller, "restart", name,
           "The session has a new Python, without variables.");
    expect(managing, managing->caller, "close", name, "The session is closed.");
}

static void test_a_name_of_another_or_of_one_that_has_ended_is_as_one_that_never_was(void **state)
{
    static const char *const actions[] = {"close", "restart"};
    struct managing *managing = *state;
    AUTO_FREE char *other = memory_copy_string(notebook_handle(open_one(managing, "bob")));
    AUTO_FREE char *closed = memory_copy_string(notebook_handle(open_one(managing, "ann")));
    const char *const names[] = {other, closed, "0123456789abcdef0123456789abcdef"};

    expect(managing, managing->caller, "close", closed, "The session is closed.");
    for (size_t i = 0; i < 2 * ARRAY_SIZE(names); i++) {
        const char *name = names[i / 2];
        AUTO_FREE char *text =
            memory_format("there is no session \"%s\": it has ended, or never was", name);

        expect(managing, managing->caller, actions[i % 2], name, text);
    }
    assert_non_null(notebooks_find(managing->sessions->notebooks, "bob", other));
}

static void test_a_session_has_to_be_named(void **state)
{
    struct managing *managing = *state;

    open_one(managing, "ann");
    expect(managing, managing->caller, "close", NULL, "name the session");
    expect(managing, managing->caller, "close", "", "name the session");
}

static void test_without_sessions_there_is_no_tool(void **state)
{
    struct managing *managing = *state;
    struct error err = ERROR_INIT;

    notebooks_set_limits(managing->sessions->notebooks, &(struct notebooks_settings){0});
    assert_int_equal(manage_sessions_offer(managing->registry, managing->host, &err), 0);
    assert_null(registry_find(managing->registry, REGISTRY_TOOLS, "manage_sessions"));
    assert_int_equal(manage_sessions_offer(managing->registry, managing->host, &err), 0);
}

static void test_a_call_continues_a_session_unless_it_begins_one(void **state)
{
    (void)state;
    assert_false(python_session_continues(&(struct python_request){0}));
    assert_false(python_session_continues(&(struct python_request){.session = "new"}));
    assert_true(python_session_continues(&(struct python_request){.session = "abc"}));
    assert_true(python_session_continues(&(struct python_request){.fork = "abc"}));
}

/* Why a call of REQUEST has no environment; "": it has one. */
static const char *refusal(struct managing *managing, const struct tool_caller *caller,
                           const struct python_request *request, struct error *err)
{
    *err = (struct error)ERROR_INIT;
    return python_session_environment(managing->host, caller, request, err) ? "" : err->message;
}

static void test_a_session_keeps_its_environment_and_directory(void **state)
{
    struct managing *managing = *state;
    const char *name = notebook_handle(open_one(managing, "ann"));
    struct error err;

    assert_string_equal(
        refusal(managing, managing->caller, &(struct python_request){.session = name}, &err), "");
    assert_string_equal(refusal(managing, managing->caller,
                                &(struct python_request){.session = name, .environment = "system"},
                                &err),
                        "");
    assert_non_null(
        strstr(refusal(managing, managing->caller,
                       &(struct python_request){.session = name, .environment = "other"}, &err),
               "keeps its environment"));
    assert_non_null(
        strstr(refusal(managing, managing->caller,
                       &(struct python_request){.session = name, .working_directory = "x"}, &err),
               "keeps its environment"));
    assert_string_equal(refusal(managing, managing->caller,
                                &(struct python_request){.session = name, .fork = name}, &err),
                        "session and fork are both given; leave one of them out");
}

static void test_a_call_of_another_learns_nothing(void **state)
{
    struct managing *managing = *state;
    AUTO_FREE char *name = memory_copy_string(notebook_handle(open_one(managing, "ann")));
    AUTO_FREE char *foreign = NULL;
    struct error err;

    foreign = memory_copy_string(
        refusal(managing, managing->other, &(struct python_request){.session = name}, &err));
    assert_non_null(strstr(foreign, "there is no session"));
    notebooks_close(notebooks_find(managing->sessions->notebooks, "ann", name));
    assert_string_equal(
        refusal(managing, managing->caller, &(struct python_request){.fork = name}, &err), foreign);
    assert_string_equal(refusal(managing, managing->other,
                                &(struct python_request){.session = name, .environment = "system"},
                                &err),
                        foreign);
}

#define TEST(function) cmocka_unit_test_setup_teardown(function, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_the_list_has_the_callers_own_only),
        TEST(test_closing_ends_one),
        TEST(test_a_restart_leaves_the_name),
        TEST(test_a_name_of_another_or_of_one_that_has_ended_is_as_one_that_never_was),
        TEST(test_a_session_has_to_be_named),
        TEST(test_without_sessions_there_is_no_tool),
        cmocka_unit_test(test_a_call_continues_a_session_unless_it_begins_one),
        TEST(test_a_session_keeps_its_environment_and_directory),
        TEST(test_a_call_of_another_learns_nothing),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
