#include "server/tools/hints/run_facts.h"

#include "base/cleanup.h"
#include "base/memory.h"
#include "base/quantity.h"

#include <stdlib.h>
#include <string.h>

/* The time that it had, in words. */
static char *run_facts_time(const struct run_facts *facts)
{
    const struct run_setting *setting = facts->setting;

    return quantity_seconds(facts->report->had_longest ? setting->environment->settings.max_timeout
                                                       : setting->timeout);
}

static char *run_facts_explain_timeout(const struct run_facts *facts)
{
    AUTO_FREE char *timeout = run_facts_time(facts);

    return memory_format("timed out after %s and was ended, with all that it had started", timeout);
}

static char *run_facts_explain_interrupt(const struct run_facts *facts)
{
    AUTO_FREE char *timeout = run_facts_time(facts);

    return memory_format("timed out after %s and was interrupted; the variables of its session are "
                         "still there",
                         timeout);
}

static char *run_facts_explain_memory(const struct run_setting *setting)
{
    AUTO_FREE char *memory = quantity_bytes(setting->environment->settings.limits.memory);

    return memory_format("was killed because it used more memory than the limit of %s", memory);
}

static char *run_facts_explain_disk(const struct run_setting *setting)
{
    AUTO_FREE char *disk = quantity_bytes(setting->environment->settings.disk);

    return memory_format("was killed because its files grew beyond the limit of %s", disk);
}

static char *run_facts_explain_share(const struct disk_share *share)
{
    AUTO_FREE char *most = quantity_bytes(DISK_SHARE_TIDYING_BYTES);
    AUTO_FREE char *text = disk_share_text(share);

    return memory_format("was killed because its files grew by more than %s: %s. Until you have "
                         "removed files, or old directories are removed, no run may add more",
                         most, text);
}

static char *run_facts_explain_signal(const struct run_facts *facts)
{
    AUTO_FREE char *name = run_facts_signal(facts);

    return memory_format("was killed by %s", name);
}

/* A sentence for the model; see `error`. */
static char *run_facts_explain(const struct run_facts *facts)
{
    const struct run_report *report = facts->report;

    if (report->end == RUN_FAILED)
        return error_text(&report->error);
    if (report->execution.survivors)
        return memory_copy_string("left processes behind that cannot be ended: containment failed");
    if (report->end == RUN_TIMED_OUT && report->session == RUN_SESSION_KEPT)
        return run_facts_explain_interrupt(facts);
    if (report->end == RUN_TIMED_OUT)
        return run_facts_explain_timeout(facts);
    if (report->end == RUN_DISK_LIMIT)
        return report->share.is_used_up ? run_facts_explain_share(&report->share)
                                        : run_facts_explain_disk(facts->setting);
    if (report->execution.out_of_memory && facts->returncode != 0)
        return run_facts_explain_memory(facts->setting);
    if (facts->returncode < 0)
        return run_facts_explain_signal(facts);
    return NULL;
}

static void run_facts_read_streams(struct run_facts *facts)
{
    for (int i = 0; i < PROCESS_STREAMS; i++) {
        bool is_truncated;

        facts->streams[i] = capture_text(&facts->report->streams[i], &is_truncated);
        facts->is_truncated |= is_truncated;
    }
}

void run_facts_init(struct run_facts *facts, const struct run_report *report,
                    const struct run_setting *setting)
{
    *facts = (struct run_facts){
        .report = report,
        .setting = setting,
        .has_returncode = report->end != RUN_FAILED,
        .files = report->files ? json_copy(report->files) : json_array(),
    };
    if (facts->has_returncode)
        facts->returncode = report->execution.returncode;
    facts->is_success =
        report->end == RUN_ENDED && facts->returncode == 0 && !report->execution.survivors;
    facts->error = run_facts_explain(facts);
    run_facts_read_streams(facts);
}

void run_facts_deinit(struct run_facts *facts)
{
    free(facts->error);
    for (int i = 0; i < PROCESS_STREAMS; i++)
        json_decref(facts->streams[i]);
    json_decref(facts->files);
    *facts = (struct run_facts){0};
}

char *run_facts_signal(const struct run_facts *facts)
{
    const char *name = sigabbrev_np(-facts->returncode);

    if (facts->returncode >= 0)
        return NULL;
    return name ? memory_format("SIG%s", name) : memory_format("signal %d", -facts->returncode);
}
