#include "server/tools/answer/run_result.h"

#include "base/json.h"
#include "base/memory.h"
#include "server/tools/hints/run_facts.h"

#include <math.h>

static double run_result_rounded(double seconds)
{
    return seconds > 0 ? round(seconds * 1e6) / 1e6 : 0;
}

static json_t *string_or_null(const char *string)
{
    return string ? json_string_format("%s", string) : json_null();
}

static void run_result_set_end(json_t *structured, const struct run_facts *facts)
{
    const struct run_report *report = facts->report;
    AUTO_FREE char *signal = run_facts_signal(facts);

    json_object_set_new(structured, "success", json_boolean(facts->is_success));
    json_object_set_new(structured, "returncode",
                        facts->has_returncode ? json_integer(facts->returncode) : json_null());
    json_object_set_new(structured, "signal", string_or_null(signal));
    json_object_set_new(structured, "timed_out", json_boolean(report->end == RUN_TIMED_OUT));
    json_object_set_new(structured, "out_of_memory", json_boolean(report->execution.out_of_memory));
    json_object_set_new(structured, "ended_processes", json_integer(report->execution.leftovers));
    json_object_set_new(structured, "stacks",
                        report->execution.stacks ? json_incref(report->execution.stacks)
                                                 : json_null());
    json_object_set_new(structured, "error", string_or_null(facts->error));
}

static void run_result_set_streams(json_t *structured, const struct run_facts *facts)
{
    const struct capture *streams = facts->report->streams;

    json_object_set(structured, "stdout", facts->streams[PROCESS_STDOUT]);
    json_object_set(structured, "stderr", facts->streams[PROCESS_STDERR]);
    json_object_set_new(structured, "truncated", json_boolean(facts->is_truncated));
    json_object_set_new(structured, "stdout_bytes",
                        json_integer((json_int_t)streams[PROCESS_STDOUT].total));
    json_object_set_new(structured, "stderr_bytes",
                        json_integer((json_int_t)streams[PROCESS_STDERR].total));
}

/* {process_tree, limits, missing, layers}, and devices and network where there are some. */
static json_t *run_result_containment(const struct run_facts *facts)
{
    const struct process_receipt *receipt = &facts->report->execution.receipt;
    const struct sandbox_settings *sandbox = &facts->setting->environment->settings.sandbox;
    json_t *containment = process_receipt_containment(receipt);

    json_object_set_new(containment, "layers", process_receipt_layers(receipt));
    if (sandbox->is_wanted && sandbox->hosts)
        json_object_set_new(containment, "network",
                            json_strings((const char *const *)sandbox->hosts));
    return containment;
}

static void run_result_set_place(json_t *structured, const struct run_facts *facts)
{
    const struct run_report *report = facts->report;
    const struct process_receipt *receipt = &report->execution.receipt;

    json_object_set_new(structured, "environment",
                        json_string_format("%s", facts->setting->environment->name));
    json_object_set_new(structured, "isolation",
                        json_string(isolation_name(process_receipt_isolation(receipt))));
    json_object_set_new(structured, "containment", run_result_containment(facts));
    json_object_set_new(structured, "python_version", string_or_null(report->python_version));
    json_object_set_new(structured, "working_directory", string_or_null(report->working_directory));
    json_object_set_new(structured, "script", string_or_null(report->script));
    json_object_set(structured, "files", facts->files);
    json_object_set_new(structured, "files_complete", json_boolean(report->files_are_complete));
}

static void run_result_set_cost(json_t *structured, const struct run_report *report)
{
    const struct process_end *end = &report->execution;
    json_t *timings = json_pack("{s:f, s:f, s:f, s:f, s:b, s:f}",                       //
                                "prepare", run_result_rounded(report->prepare_seconds), //
                                "wait", run_result_rounded(report->wait_seconds),       //
                                "start", run_result_rounded(end->start_seconds),        //
                                "run", run_result_rounded(end->run_seconds),            //
                                "warm", end->ahead_seconds > 0,                         //
                                "ahead", run_result_rounded(end->ahead_seconds));
    json_t *usage = json_pack("{s:f, s:I}",                                        //
                              "cpu_seconds", run_result_rounded(end->cpu_seconds), //
                              "peak_memory_bytes", (json_int_t)end->peak_memory);

    json_object_set_new(structured, "duration",
                        json_real(run_result_rounded(report->total_seconds)));
    json_object_set_new(structured, "timings", timings);
    json_object_set_new(structured, "usage", usage);
}

json_t *run_result_structured(const struct run_facts *facts)
{
    const enum run_session session = facts->report->session;
    json_t *structured = json_object();

    run_result_set_end(structured, facts);
    run_result_set_streams(structured, facts);
    run_result_set_place(structured, facts);
    run_result_set_cost(structured, facts->report);
    if (facts->report->tools)
        json_object_set(structured, "tools", (json_t *)facts->report->tools);
    if (session != RUN_WITHOUT_SESSION)
        json_object_set_new(structured, "session",
                            json_pack("{s:s, s:b}", "name", facts->setting->session, "alive",
                                      session == RUN_SESSION_KEPT));
    return structured;
}
