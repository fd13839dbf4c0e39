#include "tests/unit/hints/hint_stage.h"

#include "base/json.h"
#include "environments/callers/caller_rules.h"
#include "environments/packages/python_facts.h"
#include "server/tools/hints/hints.h"
#include "tests/unit/environments/scratch.h"

#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <cmocka.h>

static const char *const *hints_needs(const struct environment *environment)
{
    static const char *const needs[] = {"/opt/python", NULL};

    (void)environment;
    return needs;
}

static const char *hints_lacks_sockets(const struct environment *environment)
{
    return environment->settings.sandbox.is_wanted ? "its engine is far away" : NULL;
}

static const struct environment_kind hints_kind = {.isolation = ISOLATION_NONE};
static const struct environment_ops hints_ops = {
    .kind = &hints_kind, .needs = hints_needs, .lacks_sockets = hints_lacks_sockets};

static char *hints_tools[] = {(char *)"files", NULL};

static char *hints_read[] = {(char *)"/srv/data", NULL};
static char *hints_write[] = {(char *)"/srv/out", NULL};

static char *hints_hosts[] = {(char *)"packages.example.org:443", (char *)"10.0.0.5:80", NULL};

static struct python_facts *facts_of_large(void)
{
    AUTO_JSON json_t *answer = json_pack("{s:s, s:{s:b, s:b}}", "version", "3.11.2", "packages",
                                         "python-dateutil", 1, "found-tool", 0);

    return python_facts_read(answer);
}

int stage_setup(void **state)
{
    struct stage *stage = NEW(struct stage);
    struct error err = ERROR_INIT;
    size_t index;

    stage->scratch = scratch_new();
    stage->small.name = memory_copy_string("small");
    stage->small.definition = json_pack("{s:s}", "type", "system");
    stage->small.settings.limits = (struct process_limits){.memory = 512 << 20, .processes = 64};
    stage->small.settings.max_timeout = 60;
    stage->small.settings.sandbox =
        (struct sandbox_settings){.is_wanted = true, .read = hints_read, .write = hints_write};
    stage->small.ops = &hints_ops;
    stage->large.ops = &hints_ops;
    stage->large.name = memory_copy_string("large");
    stage->large.definition = json_pack("{s:s, s:[s,s,s]}", "type", "venv", "pip_packages",
                                        "Opencv_Python>=4", "scikit.learn", "my-tool[x]");
    stage->large.settings.limits = (struct process_limits){.memory = 1024 << 20, .processes = 64};
    stage->large.settings.max_timeout = 600;
    stage->large.facts = facts_of_large();
    stage->nothing = json_array();
    stage->rules =
        caller_rules_new(stage->nothing, stage->nothing, &stage->small.settings, &index, &err);
    *state = stage;
    return 0;
}

int stage_teardown(void **state)
{
    struct stage *stage = *state;

    caller_rules_free(stage->rules);
    json_decref(stage->nothing);
    free(stage->small.name);
    free(stage->large.name);
    json_decref(stage->small.definition);
    json_decref(stage->large.definition);
    python_facts_free(stage->large.facts);
    scratch_free(stage->scratch);
    free(stage);
    return 0;
}

static json_t *object_of(const char *text)
{
    json_t *object = text ? json_loads(text, 0, NULL) : json_object();

    assert_non_null(object);
    return object;
}

/* Owned by the caller. */
static char *errors_of(const struct stage *stage, const struct hint_case *each)
{
    const char *errors = each->errors ? each->errors : "";
    const char *place = each->flags & IN_SCRATCH ? strchr(errors, '@') : NULL;

    return place
               ? memory_format("%.*s%s%s", (int)(place - errors), errors, stage->scratch, place + 1)
               : memory_copy_string(errors);
}

/* The layers that are in STATE. */
static unsigned stage_layers(const json_t *changes, const char *state)
{
    static const enum process_layer layers[] = {LAYER_ROOT, LAYER_NETWORK, LAYER_FILES,
                                                LAYER_CALLS};
    const json_t *states = json_object_get(json_object_get(changes, "containment"), "layers");
    unsigned ret = 0;

    for (size_t i = 0; i < ARRAY_SIZE(layers); i++) {
        const char *each = json_object_get_string(states, process_layer_name(layers[i]));

        if (each && strcmp(each, state) == 0)
            ret |= layers[i];
    }
    return ret;
}

static int stage_returncode(const json_t *changes)
{
    static const int signals[] = {SIGSEGV, SIGSYS, SIGTERM};
    const char *name = json_object_get_string(changes, "signal");

    for (size_t i = 0; name && i < ARRAY_SIZE(signals); i++)
        if (strcmp(name + strlen("SIG"), sigabbrev_np(signals[i])) == 0)
            return -signals[i];
    if (json_object_get(changes, "returncode"))
        return (int)json_integer_value(json_object_get(changes, "returncode"));
    return !json_is_true(json_object_get(changes, "success"));
}

/* What is in CHANGES of a result, in which it has its name, is borrowed. */
static struct run_report stage_report(const json_t *changes)
{
    const json_t *containment = json_object_get(changes, "containment");
    const unsigned held = stage_layers(changes, "enforced");

    return (struct run_report){
        .end = json_is_true(json_object_get(changes, "timed_out")) ? RUN_TIMED_OUT : RUN_ENDED,
        .execution =
            {
                .receipt = {.layers = held,
                            .asked = held | stage_layers(changes, "absent"),
                            .missing = json_object_get(containment, "missing")},
                .returncode = stage_returncode(changes),
                .out_of_memory = json_is_true(json_object_get(changes, "out_of_memory")),
                .leftovers =
                    (unsigned)json_integer_value(json_object_get(changes, "ended_processes")),
                .stacks = json_object_get(changes, "stacks"),
                .left_files = json_object_get(changes, "left_files"),
            },
    };
}

char *stage_hints(struct stage *stage, const struct hint_case *each)
{
    AUTO_FREE char *errors = errors_of(stage, each);
    AUTO_JSON json_t *changes = object_of(each->changes);
    AUTO_JSON json_t *arguments = object_of(each->arguments);
    AUTO_JSON json_t *earlier = json_pack("{s:b, s:b}", "df", 1, "np", 1);
    const struct environment *const offered[] = {
        &stage->small, each->flags & HAS_LARGE ? &stage->large : NULL, NULL};
    const char *output = json_object_get_string(changes, "stdout");
    struct run_report report = stage_report(changes);
    const struct run_setting setting = {.timeout = each->flags & HAD_ALL ? 60 : 5,
                                        .session = each->flags & IN_CELL ? "cells" : NULL};
    const struct run_facts run = {
        .report = &report,
        .setting = &setting,
        .returncode = report.execution.returncode,
        .is_success = json_is_true(json_object_get(changes, "success")),
        .files = json_object_get(changes, "files"),
    };
    AUTO_JSON json_t *hints = NULL;
    char *joined = memory_copy_string("");
    const json_t *hint;
    size_t i;

    if (each->flags & IN_CONTAINER)
        report.execution.receipt.layers = LAYER_CONTAINER;
    if (each->flags & HAS_PACKAGES)
        json_object_set_new(stage->small.definition, "pip_packages",
                            json_pack("[s,s]", "pandas>=2", "numpy"));
    stage->small.settings.tools = each->flags & HAS_TOOLS ? hints_tools : NULL;
    stage->small.settings.sandbox.is_wanted = !(each->flags & WITHOUT_SANDBOX);
    stage->small.settings.sandbox.hosts = each->flags & HAS_HOSTS ? hints_hosts : NULL;
    hints = hints_find(&(struct hint_facts){
        .run = &run,
        .output = output ? output : "",
        .errors = errors,
        .is_silent = !output && !*errors,
        .arguments = arguments,
        .code = &(struct code_cleaning){.text = each->code,
                                        .length = strlen(each->code),
                                        .had_fence = each->flags & HAD_FENCE,
                                        .had_magic = each->flags & HAD_MAGIC},
        .directory = stage->scratch,
        .is_project = each->flags & IN_PROJECT,
        .earlier = earlier,
        .environment = &stage->small,
        .offered = offered,
        .rules = each->flags & MAY_DEFINE ? stage->rules : NULL,
        .has_code_alone = each->flags & CODE_ALONE,
        .is_at_terminal = each->flags & AT_TERMINAL,
    });
    stage->small.settings.tools = NULL;
    json_object_del(stage->small.definition, "pip_packages");
    json_array_foreach (hints, i, hint) {
        char *longer = memory_format("%s%s%s", joined, i ? "|" : "", json_string_value(hint));

        free(joined);
        joined = longer;
    }
    return joined;
}

void stage_assert_hints(struct stage *stage, const struct hint_case *cases, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        AUTO_FREE char *hints = stage_hints(stage, &cases[i]);

        assert_null(strchr(hints, '\n'));
        if (cases[i].said ? !strstr(hints, cases[i].said) : *hints != '\0')
            fail_msg("case %zu: %s\nsaid: %s\nexpected: %s", i, cases[i].code, hints,
                     cases[i].said ? cases[i].said : "nothing");
    }
}

int stage_setup_files(void **state)
{
    static const char *const names[] = {"sales.csv", "notes.md", ".hidden", "script.py"};
    struct stage *stage;

    stage_setup(state);
    stage = *state;
    for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
        AUTO_FREE char *path = memory_format("%s/%s", stage->scratch, names[i]);

        close(open(path, O_CREAT | O_WRONLY | O_CLOEXEC, 0600));
    }
    {
        AUTO_FREE char *path = memory_format("%s/deep", stage->scratch);

        mkdir(path, 0700);
    }
    return 0;
}
