#include "server/tools/run_result.h"

#include "base/json.h"
#include "base/quantity.h"

#include <math.h>
#include <signal.h>
#include <string.h>

static json_t *signal_name(int number)
{
    const char *name = sigabbrev_np(number);

    return name ? json_string_format("SIG%s", name) : json_string_format("signal %d", number);
}

static json_t *explain_timeout(const struct run_setting *setting)
{
    AUTO_FREE char *timeout = quantity_seconds(setting->timeout);

    return json_string_format("timed out after %s and was ended, with all that it had started",
                              timeout);
}

static json_t *explain_interrupt(const struct run_setting *setting)
{
    AUTO_FREE char *timeout = quantity_seconds(setting->timeout);

    return json_string_format("timed out after %s and was interrupted; the variables of its "
                              "session are still there",
                              timeout);
}

static json_t *explain_memory(const struct run_setting *setting)
{
    AUTO_FREE char *memory = quantity_bytes(setting->environment->settings.limits.memory);

    return json_string_format("was killed because it used more memory than the limit of %s",
                              memory);
}

static json_t *explain_disk(const struct run_setting *setting)
{
    AUTO_FREE char *disk = quantity_bytes(setting->environment->settings.disk);

    return json_string_format("was killed because its files grew beyond the limit of %s", disk);
}

static json_t *explain_share(const struct disk_share *share)
{
    AUTO_FREE char *most = quantity_bytes(DISK_SHARE_TIDYING_BYTES);
    AUTO_FREE char *text = disk_share_text(share);

    return json_string_format("was killed because its files grew by more than %s: %s. Until you "
                              "have removed files, or old directories are removed, no run may "
                              "add more",
                              most, text);
}

static json_t *explain_signal(int number)
{
    AUTO_JSON json_t *name = signal_name(number);

    return json_string_format("was killed by %s", json_string_value(name));
}

static json_t *explain_failure(const struct error *err)
{
    AUTO_FREE char *text = error_text(err);

    return json_string_format("%s", text);
}

/* A sentence for the model about a failure that the output of the script does not show. */
static json_t *run_result_explain(const struct run_report *report,
                                  const struct run_setting *setting)
{
    const struct execution_end *end = &report->execution;

    if (report->end == RUN_FAILED)
        return explain_failure(&report->error);
    if (end->survivors)
        return json_string_format("left processes behind that cannot be ended: containment failed");
    if (report->end == RUN_TIMED_OUT && report->session == RUN_SESSION_KEPT)
        return explain_interrupt(setting);
    if (report->end == RUN_TIMED_OUT)
        return explain_timeout(setting);
    if (report->end == RUN_DISK_LIMIT)
        return report->share.is_used_up ? explain_share(&report->share) : explain_disk(setting);
    if (end->out_of_memory && end->returncode != 0)
        return explain_memory(setting);
    if (end->returncode < 0)
        return explain_signal(-end->returncode);
    return json_null();
}

static double run_result_rounded(double seconds)
{
    return seconds > 0 ? round(seconds * 1e6) / 1e6 : 0;
}

static json_t *string_or_null(const char *string)
{
    return string ? json_string_format("%s", string) : json_null();
}

static void run_result_set_streams(json_t *structured, const struct capture *streams)
{
    const struct capture *out = &streams[PROCESS_STDOUT];
    const struct capture *err = &streams[PROCESS_STDERR];
    bool out_truncated;
    bool err_truncated;

    json_object_set_new(structured, "stdout", capture_text(out, &out_truncated));
    json_object_set_new(structured, "stderr", capture_text(err, &err_truncated));
    json_object_set_new(structured, "truncated", json_boolean(out_truncated || err_truncated));
    json_object_set_new(structured, "stdout_bytes", json_integer((json_int_t)out->total));
    json_object_set_new(structured, "stderr_bytes", json_integer((json_int_t)err->total));
}

static void set_end(json_t *structured, const struct run_report *report,
                    const struct run_setting *setting)
{
    bool ran = report->end != RUN_FAILED;
    int code = ran ? report->execution.returncode : 0;
    bool success = report->end == RUN_ENDED && code == 0 && !report->execution.survivors;

    json_object_set_new(structured, "success", json_boolean(success));
    json_object_set_new(structured, "returncode", ran ? json_integer(code) : json_null());
    json_object_set_new(structured, "signal", code < 0 ? signal_name(-code) : json_null());
    json_object_set_new(structured, "timed_out", json_boolean(report->end == RUN_TIMED_OUT));
    json_object_set_new(structured, "out_of_memory", json_boolean(report->execution.out_of_memory));
    json_object_set_new(structured, "ended_processes", json_integer(report->execution.leftovers));
    json_object_set_new(structured, "stacks",
                        report->execution.stacks ? json_incref(report->execution.stacks)
                                                 : json_null());
    json_object_set_new(structured, "error", run_result_explain(report, setting));
}

static json_t *run_result_hosts(char *const *hosts)
{
    json_t *list = json_array();

    for (; *hosts; hosts++)
        json_array_append_new(list, json_string(*hosts));
    return list;
}

static json_t *run_result_containment(const struct process_receipt *receipt,
                                      const struct sandbox_settings *sandbox)
{
    json_t *containment = process_receipt_containment(receipt);

    json_object_set_new(containment, "layers", process_receipt_layers(receipt));
    if (sandbox->is_wanted && sandbox->hosts)
        json_object_set_new(containment, "network", run_result_hosts(sandbox->hosts));
    return containment;
}

static void set_place(json_t *structured, const struct run_report *report,
                      const struct run_setting *setting)
{
    const struct environment *environment = setting->environment;
    const struct process_receipt *receipt = &report->execution.receipt;

    json_object_set_new(structured, "environment", json_string_format("%s", environment->name));
    json_object_set_new(structured, "isolation", json_string(process_receipt_isolation(receipt)));
    json_object_set_new(structured, "containment",
                        run_result_containment(receipt, &environment->settings.sandbox));
    json_object_set_new(structured, "python_version", string_or_null(report->python_version));
    json_object_set_new(structured, "working_directory", string_or_null(report->working_directory));
    json_object_set_new(structured, "script", string_or_null(report->script));
    json_object_set_new(structured, "files",
                        report->files ? json_incref(report->files) : json_array());
    json_object_set_new(structured, "files_complete", json_boolean(report->files_are_complete));
}

static void set_cost(json_t *structured, const struct run_report *report)
{
    const struct execution_end *end = &report->execution;
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

json_t *run_result_structured(const struct run_report *report, const struct run_setting *setting)
{
    json_t *structured = json_object();

    set_end(structured, report, setting);
    run_result_set_streams(structured, report->streams);
    set_place(structured, report, setting);
    set_cost(structured, report);
    if (report->session != RUN_WITHOUT_SESSION)
        json_object_set_new(structured, "session",
                            json_pack("{s:s, s:b}", "name", setting->session, "alive",
                                      report->session == RUN_SESSION_KEPT));
    return structured;
}
