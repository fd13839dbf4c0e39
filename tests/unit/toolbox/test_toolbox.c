/* The toolbox with a server that does what servers must not: each call ends, and the next one
 * works.
 */
#include "toolbox/toolbox.h"

#include "base/cleanup.h"
#include "base/fd.h"
#include "base/json.h"
#include "base/memory.h"
#include "tests/unit/environments/workbench.h"
#include "tests/unit/transport/turning.h"
#include "toolbox/server_settings.h"

#include <dirent.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <cmocka.h>

#define TOKEN "a-token-of-many-letters"

static const char *const NAMES[] = {"fake", NULL};
static const struct tool_reach REACH = {
    .principal = "alice", .environment = NAMES, .is_isolated = true};

static const struct server_surroundings AROUND = {
    .start = "/tmp", .folder = "/tmp", .path = "/usr/local/bin:/usr/bin:/bin"};

struct trial {
    struct workbench *bench;
    struct toolbox *toolbox;
};

struct one_call {
    struct tool_call call;
    bool is_done;
    json_t *result;
    struct error err;
    struct error_rest rest;
    unsigned steps; /* of progress */
    struct one_call *cancels;
};

/* DEFINITION has %s where the command of the fake server is to be. */
static int plan_fake(struct toolbox_plan *plan, const char *definition, const char *arguments,
                     struct error *err)
{
    AUTO_FREE char *command =
        memory_format("[\"python3\", \"%s/tests/unit/toolbox/fake_server.py\", %s]",
                      getenv("SOURCE_ROOT"), arguments);
    AUTO_JSON json_t *value = json_loads(definition, 0, NULL);
    AUTO_JSON json_t *words = json_loads(command, 0, NULL);
    const char *key = NULL;

    assert_non_null(value);
    if (!json_object_get(value, "url"))
        json_object_set(value, "command", words);
    return toolbox_plan_add(plan, "fake", value, &AROUND, &key, err);
}

static void adopt(struct trial *trial, const char *definition, const char *arguments)
{
    struct toolbox_plan *plan = toolbox_plan_new();
    struct error err = ERROR_INIT;

    if (plan_fake(plan, definition, arguments, &err) < 0)
        fail_msg("%s", err.message);
    toolbox_adopt(trial->toolbox, plan);
}

static void trial_begin(struct trial *trial, void **state, const char *definition,
                        const char *arguments)
{
    setenv("TOKEN_OF_TEST", TOKEN, 1);
    signal(SIGPIPE, SIG_IGN);
    trial->bench = *state;
    trial->toolbox = toolbox_new(&(struct toolbox_settings){
        .loop = trial->bench->loop, .host = trial->bench->host, .version = "1", .waiting = 1});
    adopt(trial, definition, arguments);
}

static void trial_end(struct trial *trial)
{
    toolbox_stop(trial->toolbox);
    TURN_UNTIL(trial->bench->loop, toolbox_is_idle(trial->toolbox));
    toolbox_free(trial->toolbox);
}

static void on_progress(struct tool_call *call, const json_t *params)
{
    struct one_call *one = CONTAINER_OF(call, struct one_call, call);

    assert_non_null(json_object_get(params, "message"));
    one->steps++;
}

static void on_done(struct tool_call *call, json_t *result, const struct error *err)
{
    struct one_call *one = CONTAINER_OF(call, struct one_call, call);

    assert_false(one->is_done);
    one->is_done = true;
    one->result = json_incref(result);
    one->err = (struct error)ERROR_INIT_LONG(&one->rest);
    if (err)
        error_copy(&one->err, err);
    if (one->cancels)
        tool_call_cancel(&one->cancels->call);
}

static void start(struct trial *trial, struct one_call *one, const char *tool, json_t *arguments)
{
    struct error err = ERROR_INIT;

    one->call.server = "fake";
    one->call.tool = tool;
    one->call.arguments = arguments;
    one->call.is_approved = true;
    one->call.progress = on_progress;
    one->call.done = on_done;
    if (toolbox_call(trial->toolbox, &REACH, &one->call, &err) < 0)
        fail_msg("%s", err.message);
    assert_false(one->is_done);
}

static void end(struct one_call *one)
{
    json_decref(one->result);
    *one = (struct one_call){0};
}

static void finish(struct trial *trial, struct one_call *one)
{
    TURN_UNTIL(trial->bench->loop, one->is_done);
}

/* A call of TOOL ends with CODE, and a call of `echo` after it works. */
static void expect(struct trial *trial, const char *tool, enum error_code code, const char *words)
{
    struct one_call one = {.call.timeout = code == ERROR_TIMEOUT ? 0.5 : 0};

    start(trial, &one, tool, NULL);
    finish(trial, &one);
    if (one.err.code != code || (words && !strstr(one.err.message, words)))
        fail_msg("%s: %d %s", tool, one.err.code, one.err.message);
    end(&one);
    start(trial, &one, "echo", NULL);
    finish(trial, &one);
    if (one.err.code != ERROR_NONE)
        fail_msg("echo after %s: %s", tool, one.err.message);
    end(&one);
}

static void test_each_revision_is_spoken(void **state)
{
    static const char *const revisions[] = {"2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25",
                                            "2026-07-28"};

    for (size_t i = 0; i < ARRAY_SIZE(revisions); i++) {
        AUTO_FREE char *arguments = memory_format("\"%s\"", revisions[i]);
        struct trial trial;

        trial_begin(&trial, state, "{\"allow\": [\"*\"], \"timeout\": 60, \"idle\": 9}", arguments);
        expect(&trial, "progress", ERROR_NONE, NULL);
        trial_end(&trial);
    }
}

static void test_a_server_without_a_known_revision_is_refused(void **state)
{
    struct trial trial;
    struct one_call one = {0};

    trial_begin(&trial, state, "{\"allow\": [\"*\"], \"timeout\": 60, \"idle\": 9}",
                "\"1999-01-01\"");
    start(&trial, &one, "echo", NULL);
    finish(&trial, &one);
    assert_int_equal(one.err.code, ERROR_UNAVAILABLE);
    assert_non_null(strstr(one.err.message, "1999-01-01"));
    end(&one);
    trial_end(&trial);
}

static void test_an_old_server_that_is_silent_is_greeted(void **state)
{
    struct trial trial;

    trial_begin(&trial, state,
                "{\"environment\": {\"SILENT\": \"1\"}, \"allow\": [\"*\"], \"timeout\": 60, "
                "\"idle\": 9}",
                "\"2025-06-18\"");
    expect(&trial, "echo", ERROR_NONE, NULL);
    trial_end(&trial);
}

/* It answers the first request after the time in which it should have, and refuses the greeting. */
static void test_a_slow_server_of_the_newest_revision_is_none_of_an_old_one(void **state)
{
    struct trial trial;

    trial_begin(&trial, state,
                "{\"environment\": {\"SLOW\": \"1\"}, \"allow\": [\"*\"], \"timeout\": 60, "
                "\"idle\": 9}",
                "\"2026-07-28\"");
    expect(&trial, "echo", ERROR_NONE, NULL);
    trial_end(&trial);
}

static void test_after_each_fault_the_next_call_works(void **state)
{
    static const char *const revisions[] = {"\"2025-11-25\"", "\"2026-07-28\""};

    for (size_t i = 0; i < ARRAY_SIZE(revisions); i++) {
        struct trial trial;

        trial_begin(&trial, state,
                    "{\"allow\": [\"*\"], \"deny\": [\"denied_*\"], \"timeout\": 60, \"idle\": 9}",
                    revisions[i]);
        expect(&trial, "echo", ERROR_NONE, NULL);
        expect(&trial, "die", ERROR_UNAVAILABLE, "killed by signal 9");
        expect(&trial, "hang", ERROR_TIMEOUT, "0.5 seconds");
        expect(&trial, "huge", ERROR_LIMIT, "bytes");
        expect(&trial, "wide", ERROR_LIMIT, "its answer is too large: message has more than");
        expect(&trial, "long_line", ERROR_LIMIT, "without an end");
        expect(&trial, "chatter", ERROR_NONE, NULL);
        expect(&trial, "not_json", ERROR_NONE, NULL);
        expect(&trial, "log", ERROR_NONE, NULL);
        expect(&trial, "not_a_number", ERROR_UNAVAILABLE, "its answer is no JSON");
        expect(&trial, "bad_escape", ERROR_UNAVAILABLE, "its answer is no JSON");
        expect(&trial, "ask", ERROR_NONE, NULL);
        expect(&trial, "nothing", ERROR_UNAVAILABLE, "");
        expect(&trial, "many", ERROR_UNAVAILABLE, "a script cannot answer");
        expect(&trial, "again", ERROR_NONE, NULL);
        expect(&trial, "no_such_tool", ERROR_UNKNOWN_TOOL, "no_such_tool");
        trial_end(&trial);
    }
}

static void test_a_lost_answer_fails_only_its_own_call(void **state)
{
    struct trial trial;
    struct one_call huge = {0};
    struct one_call late = {0};

    trial_begin(&trial, state, "{\"allow\": [\"*\"], \"timeout\": 60, \"idle\": 9}",
                "\"2025-11-25\"");
    start(&trial, &late, "late", NULL);
    start(&trial, &huge, "huge", NULL);
    finish(&trial, &huge);
    finish(&trial, &late);
    assert_int_equal(huge.err.code, ERROR_LIMIT);
    assert_int_equal(late.err.code, ERROR_NONE);
    end(&huge);
    end(&late);
    trial_end(&trial);
}

static void test_secrets_do_not_come_back(void **state)
{
    static const char *const tools[] = {"env", "refuse", "echo"};
    AUTO_JSON json_t *arguments = json_pack("{s:s}", "sent", "x " TOKEN " y");
    struct trial trial;

    trial_begin(&trial, state,
                "{\"environment\": {\"TOKEN\": \"${TOKEN_OF_TEST}\"}, \"allow\": [\"*\"], "
                "\"timeout\": 60, \"idle\": 9}",
                "\"2025-11-25\"");
    for (size_t i = 0; i < ARRAY_SIZE(tools); i++) {
        struct one_call one = {0};
        AUTO_FREE char *text = NULL;

        start(&trial, &one, tools[i], arguments);
        finish(&trial, &one);
        text = json_text(one.result);
        assert_null(strstr(text, TOKEN));
        assert_non_null(strstr(text, "[secret]"));
        assert_null(strstr(text, "TOKEN_OF_TEST")); /* nor do other variables of ours */
        end(&one);
    }
    trial_end(&trial);
}

/* The texts are cut at 400, 496 and 2,048 bytes. */
static void test_secrets_do_not_come_back_where_a_text_is_cut(void **state)
{
    static const char *const tools[] = {"refuse", "say_and_die"};
    static const int places[] = {340, 390, 430, 470, 480, 485, 490, 2030, 2038};
    struct trial trial;

    trial_begin(&trial, state,
                "{\"environment\": {\"TOKEN\": \"${TOKEN_OF_TEST}\"}, \"allow\": [\"*\"], "
                "\"timeout\": 60, \"idle\": 9}",
                "\"2025-11-25\"");
    for (size_t i = 0; i < ARRAY_SIZE(places) * ARRAY_SIZE(tools); i++) {
        AUTO_JSON json_t *arguments = json_pack("{s:i}", "before", places[i / 2]);
        struct one_call one = {0};
        AUTO_FREE char *text = NULL;

        start(&trial, &one, tools[i % 2], arguments);
        finish(&trial, &one);
        text = one.result ? json_text(one.result) : error_text(&one.err);
        if (strstr(text, "a-to"))
            fail_msg("%s at %d: %s", tools[i % 2], places[i / 2], text);
        end(&one);
    }
    trial_end(&trial);
}

static void test_what_is_denied_is_not_called(void **state)
{
    struct trial trial;
    struct tool_call call = {.server = "fake", .tool = "denied_one", .done = on_done};
    struct tool_call other = {.server = "other", .tool = "echo", .done = on_done};
    struct tool_reach open = REACH;
    struct error err = ERROR_INIT;

    trial_begin(&trial, state,
                "{\"environment\": {\"A\": \"${TOKEN_OF_TEST}\"}, \"allow\": [\"*\"], \"deny\": "
                "[\"denied_*\"], \"timeout\": 60, \"idle\": 9}",
                "\"2025-11-25\"");
    assert_int_equal(toolbox_call(trial.toolbox, &REACH, &call, &err), -1);
    assert_int_equal(err.code, ERROR_DENIED);
    error_clear(&err);
    assert_int_equal(toolbox_call(trial.toolbox, &REACH, &other, &err), -1);
    assert_int_equal(err.code, ERROR_DENIED);
    open.is_isolated = false;
    assert_true(toolbox_reaches(trial.toolbox, &REACH, "fake"));
    assert_false(toolbox_reaches(trial.toolbox, &open, "fake"));
    open = (struct tool_reach){.principal = "a", .is_isolated = true};
    assert_false(toolbox_reaches(trial.toolbox, &open, "fake"));
    adopt(&trial, "{\"allow\": [\"*\"], \"timeout\": 60, \"idle\": 9}",
          "\"2025-11-25\", \"${TOKEN_OF_TEST}\"");
    open = REACH;
    assert_true(toolbox_reaches(trial.toolbox, &open, "fake"));
    open.is_isolated = false;
    assert_false(toolbox_reaches(trial.toolbox, &open, "fake"));
    trial_end(&trial);
}

/* Makes one call as PRINCIPAL, to its end, and returns its error. */
static enum error_code call_as(struct trial *trial, const char *principal, bool is_approved)
{
    struct one_call one = {.call = {.server = "fake", .tool = "late", .done = on_done}};
    struct tool_reach reach = REACH;
    struct error err = ERROR_INIT;
    enum error_code code;

    reach.principal = principal;
    one.call.is_approved = is_approved;
    assert_int_equal(toolbox_call(trial->toolbox, &reach, &one.call, &err), 0);
    finish(trial, &one);
    code = one.err.code;
    end(&one);
    return code;
}

/* One that has to be approved first was not made; and each principal has its own. */
static void test_calls_are_counted_by_the_minute(void **state)
{
    struct trial trial;

    trial_begin(&trial, state,
                "{\"calls_per_minute\": 2, \"allow\": [\"*\"], \"timeout\": 60, \"idle\": 9, "
                "\"approval\": \"always\"}",
                "\"2025-11-25\"");
    for (unsigned i = 0; i < 2; i++) {
        assert_int_equal(call_as(&trial, "alice", false), ERROR_UNAPPROVED);
        assert_int_equal(call_as(&trial, "alice", true), ERROR_NONE);
    }
    assert_int_equal(call_as(&trial, "alice", true), ERROR_LIMIT);
    assert_int_equal(call_as(&trial, "bob", true), ERROR_NONE);
    trial_end(&trial);
}

static void test_numbers_are_passed_on_as_they_are_or_not_at_all(void **state)
{
    AUTO_JSON json_t *arguments =
        json_loads("{\"n\": [9223372036854775807, 0.30000000000000004]}", 0, NULL);
    AUTO_JSON json_t *digits = json_pack("{s:s}", "digits", "18446744073709551615");
    AUTO_JSON json_t *large = json_pack("{s:[f]}", "n", -1e308);
    struct tool_call refused = {.server = "fake", .tool = "echo", .arguments = large};
    struct trial trial;
    struct one_call one = {0};
    struct error err = ERROR_INIT;
    AUTO_FREE char *text = NULL;

    trial_begin(&trial, state, "{\"allow\": [\"*\"], \"timeout\": 60, \"idle\": 9}",
                "\"2025-11-25\"");
    start(&trial, &one, "number", arguments);
    finish(&trial, &one);
    text = json_text(json_object_get(one.result, "structuredContent"));
    assert_string_equal(text, "{\"n\":[9223372036854775807,0.30000000000000004]}");
    end(&one);
    start(&trial, &one, "number", digits);
    finish(&trial, &one);
    assert_int_equal(one.err.code, ERROR_LIMIT);
    end(&one);
    assert_int_equal(toolbox_call(trial.toolbox, &REACH, &refused, &err), -1);
    assert_int_equal(err.code, ERROR_INVALID_ARGUMENTS);
    trial_end(&trial);
}

static void test_one_caller_does_not_keep_others_out(void **state)
{
    struct trial trial;
    struct one_call calls[64] = {0};
    struct tool_call other = {.server = "fake", .tool = "echo", .done = on_done};
    struct error err = ERROR_INIT;

    trial_begin(&trial, state, "{\"allow\": [\"*\"], \"timeout\": 60, \"idle\": 9}",
                "\"2025-11-25\"");
    for (size_t i = 0; i < ARRAY_SIZE(calls); i++)
        start(&trial, &calls[i], "hang", NULL);
    assert_int_equal(toolbox_call(trial.toolbox, &REACH, &other, &err), -1);
    assert_int_equal(err.code, ERROR_BUSY);
    assert_int_equal(call_as(&trial, "bob", true), ERROR_NONE);
    trial_end(&trial);
    for (size_t i = 0; i < ARRAY_SIZE(calls); i++)
        end(&calls[i]);
}

static void test_a_cancelled_call_is_not_told(void **state)
{
    AUTO_FREE char *seen = NULL;
    AUTO_FREE char *definition = NULL;
    AUTO_FREE char *text = NULL;
    struct error err = ERROR_INIT;
    struct trial trial;
    struct one_call hang = {0};
    struct one_call echo = {.cancels = &hang};
    size_t length;

    trial.bench = *state;
    seen = memory_format("%s/seen", trial.bench->scratch);
    definition = memory_format("{\"environment\": {\"SEEN\": \"%s\"}, \"allow\": [\"*\"], "
                               "\"timeout\": 60, \"idle\": 9}",
                               seen);
    trial_begin(&trial, state, definition, "\"2025-11-25\"");
    start(&trial, &hang, "hang", NULL);
    start(&trial, &echo, "echo", NULL);
    finish(&trial, &echo);
    end(&echo);
    tool_call_cancel(&hang.call);
    expect(&trial, "echo", ERROR_NONE, NULL);
    assert_false(hang.is_done);
    text = fd_read_file(seen, 1 << 20, &length, &err);
    assert_non_null(strstr(text, "notifications/cancelled"));
    trial_end(&trial);
    assert_false(hang.is_done);
}

/* The processes of this machine whose arguments hold MARK. */
static unsigned count_processes(const char *mark)
{
    AUTO_FREE char *command = memory_format("pgrep -fc '[s]leep %s'", mark);
    FILE *counted = popen(command, "r");
    unsigned count = 0;

    assert_int_equal(fscanf(counted, "%u", &count), 1);
    pclose(counted);
    return count;
}

static void test_children_of_a_server_end_with_it(void **state)
{
    struct trial trial;
    struct one_call one = {0};
    AUTO_FREE char *mark = memory_format("1000.%d", getpid());
    AUTO_JSON json_t *arguments = json_pack("{s:s}", "seconds", mark);

    trial_begin(&trial, state, "{\"allow\": [\"*\"], \"timeout\": 60, \"idle\": 0.2}",
                "\"2025-11-25\"");
    start(&trial, &one, "children", arguments);
    finish(&trial, &one);
    end(&one);
    assert_int_equal(count_processes(mark), 1);
    TURN_UNTIL(trial.bench->loop, count_processes(mark) == 0); /* it is left when it is idle */
    expect(&trial, "echo", ERROR_NONE, NULL);
    trial_end(&trial);
}

static void on_surveyed(struct tool_survey *survey)
{
    (void)survey;
}

static json_t *survey(struct trial *trial, json_t **ret_failures)
{
    struct tool_survey look = {.timeout = 60, .done = on_surveyed};
    json_t *tools;

    if (toolbox_survey(trial->toolbox, &REACH, &look) == OUTCOME_PENDING)
        TURN_UNTIL(trial->bench->loop, look.open == 0);
    tools = json_incref(look.tools);
    *ret_failures = json_incref(look.failures);
    tool_survey_deinit(&look);
    return tools;
}

static void test_the_tools_are_listed(void **state)
{
    struct trial trial;
    AUTO_JSON json_t *failures = NULL;
    AUTO_JSON json_t *tools = NULL;
    AUTO_JSON json_t *more = NULL;
    AUTO_JSON json_t *none = NULL;
    const json_t *first;

    trial_begin(&trial, state,
                "{\"allow\": [\"e*\", \"change\", \"new\"], \"approval\": {\"change\": \"never\"}, "
                "\"timeout\": 60, \"idle\": 9}",
                "\"2025-11-25\"");
    tools = survey(&trial, &failures);
    assert_int_equal(json_object_size(failures), 0);
    assert_int_equal(json_array_size(tools), 3); /* echo, change, env */
    first = json_array_get(tools, 0);
    assert_string_equal(json_object_get_string(first, "name"), "echo");
    assert_string_equal(json_object_get_string(first, "summary"), "Does echo.");
    assert_string_equal(json_object_get_string(first, "approval"), "writes");
    assert_true(json_is_false(json_object_get(first, "asks"))); /* it only reads */
    assert_true(json_is_false(json_object_get(json_array_get(tools, 1), "asks")));
    assert_true(json_is_true(json_object_get(json_array_get(tools, 2), "asks")));
    expect(&trial, "change", ERROR_NONE, NULL);
    turn_for(trial.bench->loop, 0.5);
    more = survey(&trial, &none);
    assert_int_equal(json_array_size(more), 4);
    trial_end(&trial);
}

/* It takes some seconds to begin. */
static void test_a_slow_server_does_not_keep_each_survey_waiting(void **state)
{
    struct tool_survey first = {.timeout = 1.5, .done = on_surveyed};
    struct tool_survey second = first;
    struct trial trial;
    size_t count = 0;

    trial_begin(&trial, state,
                "{\"environment\": {\"SLOW\": \"1\"}, \"allow\": [\"*\"], \"timeout\": 60, "
                "\"idle\": 9}",
                "\"2026-07-28\"");
    assert_int_equal(toolbox_survey(trial.toolbox, &REACH, &first), OUTCOME_PENDING);
    turn_for(trial.bench->loop, 2);
    assert_int_equal(json_object_size(first.failures), 1);
    assert_int_equal(toolbox_survey(trial.toolbox, &REACH, &second), OUTCOME_READY);
    assert_non_null(strstr(json_object_get_string(second.failures, "fake"), "not ready yet"));
    tool_survey_deinit(&first);
    tool_survey_deinit(&second);
    for (unsigned i = 0; count == 0 && i < 300; i++) {
        struct tool_survey later = {.timeout = 60, .done = on_surveyed};

        turn_for(trial.bench->loop, 0.1);
        assert_int_equal(toolbox_survey(trial.toolbox, &REACH, &later), OUTCOME_READY);
        count = json_array_size(later.tools);
        tool_survey_deinit(&later);
    }
    assert_int_not_equal(count, 0);
    trial_end(&trial);
}

/* Not even a program that has just been started, whose list is not known yet, gets it. */
static void test_what_a_person_must_approve_is_not_sent_without(void **state)
{
    struct trial trial;
    struct one_call one = {.call = {.server = "fake", .tool = "env", .done = on_done}};
    struct error err = ERROR_INIT;

    trial_begin(&trial, state, "{\"allow\": [\"*\"], \"timeout\": 60, \"idle\": 9}",
                "\"2025-11-25\"");
    for (int i = 0; i < 2; i++) {
        one.is_done = false;
        assert_int_equal(toolbox_call(trial.toolbox, &REACH, &one.call, &err), 0);
        TURN_UNTIL(trial.bench->loop, one.is_done);
        assert_null(one.result);
        assert_int_equal(one.err.code, ERROR_UNAPPROVED);
    }
    one.is_done = false;
    one.call.is_approved = true;
    assert_int_equal(toolbox_call(trial.toolbox, &REACH, &one.call, &err), 0);
    TURN_UNTIL(trial.bench->loop, one.is_done);
    assert_non_null(one.result);
    json_decref(one.result);
    trial_end(&trial);
}

static void test_a_list_that_is_too_large_is_given_up(void **state)
{
    static const struct {
        const char *variable;
        const char *reason;
    } cases[] = {
        {"PAGES", "its list of tools has more than 64 pages"},
        {"WIDE", "its list of tools: its answer is too large: message has more than"},
    };

    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        AUTO_FREE char *definition =
            memory_format("{\"environment\": {\"%s\": \"1\"}, \"allow\": [\"*\"], "
                          "\"timeout\": 60, \"idle\": 9}",
                          cases[i].variable);
        AUTO_JSON json_t *failures = NULL;
        AUTO_JSON json_t *tools = NULL;
        struct trial trial;

        trial_begin(&trial, state, definition, "\"2025-11-25\"");
        tools = survey(&trial, &failures);
        assert_int_equal(json_array_size(tools), 0);
        assert_non_null(strstr(json_object_get_string(failures, "fake"), cases[i].reason));
        trial_end(&trial);
    }
}

static void test_a_program_that_is_not_there_is_named(void **state)
{
    struct trial trial = {.bench = *state};
    struct toolbox_plan *plan = toolbox_plan_new();
    AUTO_JSON json_t *definition =
        json_pack("{s:[s], s:[s], s:i}", "command", "no-such-program", "allow", "*", "timeout", 60);
    struct one_call one = {0};
    const char *key;
    struct error err = ERROR_INIT;

    trial.toolbox = toolbox_new(&(struct toolbox_settings){
        .loop = trial.bench->loop, .host = trial.bench->host, .version = "1"});
    assert_int_equal(toolbox_plan_add(plan, "fake", definition, &AROUND, &key, &err), 0);
    toolbox_adopt(trial.toolbox, plan);
    start(&trial, &one, "echo", NULL);
    finish(&trial, &one);
    assert_int_equal(one.err.code, ERROR_UNAVAILABLE);
    assert_non_null(strstr(one.err.message, "no-such-program"));
    end(&one);
    trial_end(&trial);
}

/* That it could not be reached counts no longer when it has been reached since. */
static void test_an_old_failure_is_not_told_again(void **state)
{
    struct trial trial = {.bench = *state};
    AUTO_FREE char *definition =
        memory_format("{\"environment\": {\"BEGUN\": \"%s/begun\"}, \"allow\": [\"*\"], "
                      "\"timeout\": 60, \"idle\": 9}",
                      trial.bench->scratch);
    struct one_call one = {0};

    trial_begin(&trial, state, definition, "\"2025-11-25\"");
    start(&trial, &one, "echo", NULL);
    finish(&trial, &one);
    assert_non_null(strstr(one.err.message, "not yet"));
    end(&one);
    start(&trial, &one, "die", NULL); /* before the program has ended */
    finish(&trial, &one);
    assert_non_null(strstr(one.err.message, "killed by signal 9"));
    end(&one);
    turn_for(trial.bench->loop, 0.2); /* it rests, and the failure is younger than 2 seconds */
    expect(&trial, "echo", ERROR_NONE, NULL);
    trial_end(&trial);
}

static void test_a_variable_that_is_not_set_is_an_error(void **state)
{
    struct toolbox_plan *plan = toolbox_plan_new();
    AUTO_JSON json_t *definition =
        json_pack("{s:s, s:{s:s}}", "url", "http://127.0.0.1:1/mcp", "headers", "Authorization",
                  "Bearer ${NO_SUCH_VARIABLE}");
    const char *key;
    struct error err = ERROR_INIT;

    (void)state;
    assert_int_equal(toolbox_plan_add(plan, "fake", definition, &AROUND, &key, &err), -1);
    assert_string_equal(key, "headers");
    assert_non_null(strstr(err.message, "NO_SUCH_VARIABLE"));
    toolbox_plan_free(plan);
}

static void test_a_reload_keeps_what_has_not_changed(void **state)
{
    static const char definition[] = "{\"allow\": [\"*\"], \"timeout\": 60, \"idle\": 9}";
    struct trial trial;
    struct one_call first = {0};
    struct one_call late = {0};

    trial_begin(&trial, state, definition, "\"2025-11-25\"");
    start(&trial, &first, "children", NULL);
    finish(&trial, &first);
    adopt(&trial, definition, "\"2025-11-25\"");
    expect(&trial, "echo", ERROR_NONE, NULL);
    start(&trial, &late, "late", NULL);
    turn_for(trial.bench->loop, 0.1);
    adopt(&trial, definition, "\"2026-07-28\""); /* another server: calls under way go on */
    expect(&trial, "echo", ERROR_NONE, NULL);
    finish(&trial, &late);
    assert_int_equal(late.err.code, ERROR_NONE);
    end(&first);
    end(&late);
    trial_end(&trial);
}

static void test_a_stop_ends_every_call(void **state)
{
    struct trial trial;
    struct one_call calls[8] = {0};

    trial_begin(&trial, state, "{\"allow\": [\"*\"], \"timeout\": 60, \"idle\": 9}",
                "\"2026-07-28\"");
    for (size_t i = 0; i < ARRAY_SIZE(calls); i++)
        start(&trial, &calls[i], i % 2 ? "hang" : "late", NULL);
    turn_for(trial.bench->loop, 0.1);
    trial_end(&trial);
    for (size_t i = 0; i < ARRAY_SIZE(calls); i++) {
        assert_true(calls[i].is_done);
        end(&calls[i]);
    }
}

/* Over HTTP */

/* Starts the fake server beside; its definition, owned by the caller. */
static char *serve(struct workbench *bench, const char *revision, FILE **ret_server)
{
    AUTO_FREE char *file = memory_format("%s/port", bench->scratch);
    AUTO_FREE char *command =
        memory_format("exec python3 %s/tests/unit/toolbox/fake_server.py %s http %s",
                      getenv("SOURCE_ROOT"), revision, file);
    struct error err = ERROR_INIT;
    size_t length;
    AUTO_FREE char *port = NULL;

    unlink(file);
    *ret_server = popen(command, "w");
    TURN_UNTIL(bench->loop, access(file, F_OK) == 0);
    port = fd_read_file(file, 100, &length, &err);
    return memory_format("{\"url\": \"http://127.0.0.1:%s/mcp\", \"headers\": {\"Authorization\": "
                         "\"Bearer ${TOKEN_OF_TEST}\"}, \"allow\": [\"*\"], \"timeout\": 60, "
                         "\"idle\": 9}",
                         port);
}

static void test_over_http_each_fault_ends_its_call(void **state)
{
    static const char *const revisions[] = {"2025-03-26", "2025-11-25", "2026-07-28"};

    setenv("TOKEN_OF_TEST", TOKEN, 1);
    for (size_t i = 0; i < ARRAY_SIZE(revisions); i++) {
        const bool is_modern = i == 2;
        FILE *server;
        AUTO_FREE char *definition = serve(*state, revisions[i], &server);
        struct trial trial;

        trial_begin(&trial, state, definition, "\"-\"");
        expect(&trial, "echo", ERROR_NONE, NULL);
        expect(&trial, "progress", ERROR_NONE, NULL);
        expect(&trial, "ask", ERROR_NONE, NULL);
        expect(&trial, "hang", ERROR_TIMEOUT, "0.5 seconds");
        expect(&trial, "huge", ERROR_LIMIT, "bytes");
        expect(&trial, "wide", ERROR_LIMIT, "its answer is too large: message has more than");
        expect(&trial, "dribble", ERROR_LIMIT, "too long");
        expect(&trial, "redirect", ERROR_UNAVAILABLE, "redirection");
        expect(&trial, "refuse", ERROR_UNAVAILABLE, "401");
        expect(&trial, "cut", is_modern ? ERROR_UNAVAILABLE : ERROR_NONE, NULL);
        expect(&trial, "sessionless", ERROR_NONE, NULL);
        trial_end(&trial);
        pclose(server); /* the end of its input */
    }
}

/* Counts what this process has open. */
static unsigned count_descriptors(void)
{
    DIR *directory = opendir("/proc/self/fd");
    unsigned count = 0;

    while (readdir(directory))
        count++;
    closedir(directory);
    return count;
}

/* It does not take the answers either: their connections end. */
static void test_over_http_a_server_that_asks_often_gets_few_answers(void **state)
{
    FILE *server;
    AUTO_FREE char *definition = NULL;
    AUTO_FREE char *text = NULL;
    struct trial trial;
    struct one_call one = {0};
    unsigned before;

    setenv("TOKEN_OF_TEST", TOKEN, 1);
    definition = serve(*state, "2025-11-25", &server);
    trial_begin(&trial, state, definition, "\"-\"");
    expect(&trial, "echo", ERROR_NONE, NULL);
    before = count_descriptors();
    start(&trial, &one, "pings", NULL);
    finish(&trial, &one);
    text = json_text(json_object_get(one.result, "structuredContent"));
    assert_in_range(strtoul(text + strlen("{\"held\":"), NULL, 10), 1, 8);
    end(&one);
    TURN_UNTIL(trial.bench->loop, count_descriptors() <= before);
    expect(&trial, "ask", ERROR_NONE, NULL);
    trial_end(&trial);
    pclose(server);
}

/* Counts how often WORD stands in the file NAME. */
static unsigned count_words(const char *name, const char *word)
{
    struct error err = ERROR_INIT;
    size_t length;
    AUTO_FREE char *text = fd_read_file(name, 1 << 20, &length, &err);
    unsigned count = 0;

    for (const char *found = text; (found = strstr(found, word)); found++)
        count++;
    return count;
}

/* Its stream of news ends at once, each time. */
static void test_over_http_news_are_asked_for_slowly(void **state)
{
    struct workbench *bench = *state;
    AUTO_FREE char *seen = memory_format("%s/seen", bench->scratch);
    AUTO_FREE char *definition = NULL;
    FILE *server;
    struct trial trial;

    setenv("TOKEN_OF_TEST", TOKEN, 1);
    setenv("SEEN", seen, 1);
    setenv("NEWS", "1", 1);
    definition = serve(bench, "2025-11-25", &server);
    unsetenv("SEEN");
    unsetenv("NEWS");
    trial_begin(&trial, state, definition, "\"-\"");
    expect(&trial, "echo", ERROR_NONE, NULL);
    turn_for(bench->loop, 3.5);
    assert_in_range(count_words(seen, "\"GET\""), 2, 5);
    assert_true(count_words(seen, "\"count\": 1}") > 0);
    assert_int_equal(count_words(seen, "\"count\": 2}"), 0);
    trial_end(&trial);
    pclose(server);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
#define TEST(NAME) cmocka_unit_test_setup_teardown(NAME, workbench_setup, workbench_teardown)
        TEST(test_each_revision_is_spoken),
        TEST(test_a_server_without_a_known_revision_is_refused),
        TEST(test_an_old_server_that_is_silent_is_greeted),
        TEST(test_a_slow_server_of_the_newest_revision_is_none_of_an_old_one),
        TEST(test_after_each_fault_the_next_call_works),
        TEST(test_a_lost_answer_fails_only_its_own_call),
        TEST(test_secrets_do_not_come_back),
        TEST(test_secrets_do_not_come_back_where_a_text_is_cut),
        TEST(test_what_is_denied_is_not_called),
        TEST(test_calls_are_counted_by_the_minute),
        TEST(test_numbers_are_passed_on_as_they_are_or_not_at_all),
        TEST(test_one_caller_does_not_keep_others_out),
        TEST(test_a_cancelled_call_is_not_told),
        TEST(test_children_of_a_server_end_with_it),
        TEST(test_the_tools_are_listed),
        TEST(test_a_slow_server_does_not_keep_each_survey_waiting),
        TEST(test_what_a_person_must_approve_is_not_sent_without),
        TEST(test_a_list_that_is_too_large_is_given_up),
        TEST(test_a_program_that_is_not_there_is_named),
        TEST(test_an_old_failure_is_not_told_again),
        TEST(test_a_variable_that_is_not_set_is_an_error),
        TEST(test_a_reload_keeps_what_has_not_changed),
        TEST(test_a_stop_ends_every_call),
        TEST(test_over_http_each_fault_ends_its_call),
        TEST(test_over_http_a_server_that_asks_often_gets_few_answers),
        TEST(test_over_http_news_are_asked_for_slowly),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
