#include "server/tools/run_result.h"

#include "base/buffer.h"
#include "base/json.h"
#include "base/memory.h"
#include "base/quantity.h"

#include <math.h>
#include <signal.h>
#include <string.h>

enum {
    FILES_SHOWN = 20,
    TEXT_EXTRA_BYTES = 256 * 1024, /* everything in the text that is not output */
};

static json_t *signal_name(int number)
{
    const char *name = sigabbrev_np(number);

    return name ? json_string_format("SIG%s", name) : json_string_format("signal %d", number);
}

static json_t *explain_timeout(const struct run_setting *setting)
{
    AUTO_FREE char *timeout = quantity_seconds(setting->timeout);

    return json_string_format("timed out after %s and was killed, with all that it had started",
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

/* The sentence for the model when the script cannot tell by itself what went wrong. */
static json_t *run_result_explain(const struct run_report *report,
                                  const struct run_setting *setting)
{
    const struct execution_end *end = &report->execution;

    if (report->end == RUN_FAILED)
        return explain_failure(&report->error);
    if (end->survivors)
        return json_string_format("left processes behind that cannot be ended: containment failed");
    if (report->end == RUN_TIMED_OUT)
        return explain_timeout(setting);
    if (report->end == RUN_DISK_LIMIT)
        return explain_disk(setting);
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
    json_object_set_new(structured, "error", run_result_explain(report, setting));
}

static void set_place(json_t *structured, const struct run_report *report,
                      const struct run_setting *setting)
{
    const struct environment *environment = setting->environment;
    const struct process_receipt *receipt = &report->execution.receipt;

    json_object_set_new(structured, "environment", json_string_format("%s", environment->name));
    json_object_set_new(structured, "isolation", json_string(process_receipt_isolation(receipt)));
    json_object_set_new(structured, "containment", process_receipt_containment(receipt));
    json_object_set_new(structured, "python_version", string_or_null(report->python_version));
    json_object_set_new(structured, "working_directory", string_or_null(report->working_directory));
    json_object_set_new(structured, "script", string_or_null(report->script));
    json_object_set_new(structured, "files",
                        report->files ? json_incref(report->files) : json_array());
}

static void set_cost(json_t *structured, const struct run_report *report)
{
    const struct execution_end *end = &report->execution;
    json_t *timings = json_pack("{s:f, s:f, s:f, s:f}",                                 //
                                "prepare", run_result_rounded(report->prepare_seconds), //
                                "wait", run_result_rounded(report->wait_seconds),       //
                                "start", run_result_rounded(end->start_seconds),        //
                                "run", run_result_rounded(end->run_seconds));
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
    return structured;
}

static size_t string_length(const json_t *structured, const char *key)
{
    return json_string_length(json_object_get(structured, key));
}

/* The limit of TEXT is known to suffice for what is put into it. */
static void run_result_add(struct buffer *text, const char *bytes, size_t length)
{
    struct error ignored = ERROR_INIT;

    (void)buffer_append(text, bytes, length, &ignored);
}

static void run_result_add_string(struct buffer *text, const char *string)
{
    run_result_add(text, string, strlen(string));
}

/* A new line, unless TEXT is at the start of one. */
static void run_result_end_line(struct buffer *text)
{
    size_t length = buffer_length(text);

    if (length > 0 && buffer_bytes(text)[length - 1] != '\n')
        run_result_add(text, "\n", 1);
}

static void add_error(struct buffer *text, const json_t *structured)
{
    const char *error = json_object_get_string(structured, "error");

    if (!error)
        return;
    run_result_add_string(text, json_is_null(json_object_get(structured, "returncode"))
                                    ? "The run failed: "
                                    : "The script ");
    run_result_add_string(text, error);
    run_result_add_string(text, ".\n");
}

static void add_exit_code(struct buffer *text, const json_t *structured)
{
    const json_t *code = json_object_get(structured, "returncode");
    bool success = json_is_true(json_object_get(structured, "success"));
    AUTO_FREE char *line =
        memory_format("exitcode: %" JSON_INTEGER_FORMAT " (execution %s)\n",
                      json_integer_value(code), success ? "succeeded" : "failed");

    run_result_add_string(text, line);
}

static void add_output(struct buffer *text, const json_t *structured)
{
    const json_t *out = json_object_get(structured, "stdout");
    const json_t *err = json_object_get(structured, "stderr");

    run_result_add_string(text, "Code output: ");
    run_result_add(text, json_string_value(out), json_string_length(out));
    if (json_string_length(err) == 0)
        return;
    run_result_end_line(text);
    run_result_add_string(text, "Error output:\n");
    run_result_add(text, json_string_value(err), json_string_length(err));
}

static void add_empty_hint(struct buffer *text, const json_t *structured)
{
    if (string_length(structured, "stdout") || string_length(structured, "stderr"))
        return;
    run_result_add_string(text, "(none: the script printed nothing");
    if (json_is_true(json_object_get(structured, "success")))
        run_result_add_string(
            text, ". The value of a bare expression on the last line is not shown; if that "
                  "was what you wanted to see, print() it");
    run_result_add_string(text, ")");
}

static void add_cut(struct buffer *text, const json_t *structured)
{
    json_t *out = json_object_get(structured, "stdout_bytes");
    json_t *err = json_object_get(structured, "stderr_bytes");
    AUTO_FREE char *line = memory_format(
        "Only the beginning and the end of the output are shown; it has %" JSON_INTEGER_FORMAT
        " bytes, the error output %" JSON_INTEGER_FORMAT ".\n",
        json_integer_value(out), json_integer_value(err));

    if (!json_is_true(json_object_get(structured, "truncated")))
        return;
    run_result_end_line(text);
    run_result_add_string(text, line);
}

static void run_result_add_files(struct buffer *text, const json_t *structured)
{
    const json_t *files = json_object_get(structured, "files");
    size_t count = json_array_size(files);
    const json_t *file;
    size_t i;

    if (count == 0)
        return;
    run_result_end_line(text);
    run_result_add_string(text, "Files created or changed:");
    json_array_foreach (files, i, file) {
        AUTO_FREE char *size =
            quantity_bytes((uint64_t)json_integer_value(json_object_get(file, "size")));

        if (i == FILES_SHOWN)
            break;
        run_result_add_string(text, i == 0 ? " " : ", ");
        run_result_add_string(text, json_object_get_string(file, "path"));
        run_result_add_string(text, " (");
        run_result_add_string(text, size);
        run_result_add_string(text, ")");
    }
    if (count > FILES_SHOWN)
        run_result_add_string(text, ", ...");
}

static size_t text_limit(const json_t *structured)
{
    return string_length(structured, "stdout") + string_length(structured, "stderr") +
           TEXT_EXTRA_BYTES;
}

json_t *run_result_text(const json_t *structured)
{
    struct buffer text;
    json_t *string;

    buffer_init(&text, text_limit(structured));
    add_error(&text, structured);
    if (!json_is_null(json_object_get(structured, "returncode"))) {
        add_exit_code(&text, structured);
        add_output(&text, structured);
        add_empty_hint(&text, structured);
        add_cut(&text, structured);
        run_result_add_files(&text, structured);
    }
    string = json_string_repaired(buffer_bytes(&text), buffer_length(&text));
    buffer_deinit(&text);
    return string;
}
