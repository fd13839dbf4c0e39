#include "base/metrics.h"

#include "base/cleanup.h"
#include "base/memory.h"

#include <assert.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#define OTHER "other"

enum { LABELS = 2, MOST_BUCKETS = 20, LABEL_BYTES = 128 };

struct family {
    const char *name;
    const char *help;
    const char *labels[LABELS];
    double buckets[MOST_BUCKETS]; /* upper bounds, rising; none: a counter */
};

static const struct family families[METRICS] = {
    [METRIC_RUNS] = {.name = "pyexecd_runs_total",
                     .help = "Runs of scripts that have ended.",
                     .labels = {"environment", "outcome"}},
    [METRIC_STARTS] = {.name = "pyexecd_run_starts_total",
                       .help = "Scripts that have run, by how their Python was started.",
                       .labels = {"environment", "start"}},
    [METRIC_RUN_SECONDS] = {.name = "pyexecd_run_duration_seconds",
                            .help = "Time from the start of a script to its end.",
                            .labels = {"environment"},
                            .buckets = {.01, .025, .05, .1, .25, .5, 1, 2.5, 5, 10, 30, 60, 120,
                                        300, 600, 1800, 3600}},
    [METRIC_QUEUE_SECONDS] = {.name = "pyexecd_run_queue_wait_seconds",
                              .help = "Time that a run has waited for its place.",
                              .labels = {"environment"},
                              .buckets = {.001, .005, .01, .05, .1, .5, 1, 5, 10, 30, 60, 300}},
    [METRIC_TOOL_CALLS] = {.name = "pyexecd_tool_calls_total",
                           .help = "Calls of tools that have been answered or cancelled.",
                           .labels = {"tool", "outcome"}},
    [METRIC_REFUSALS] = {.name = "pyexecd_requests_refused_total",
                         .help = "Requests and connections that were turned away.",
                         .labels = {"reason"}},
    [METRIC_RELOADS] = {.name = "pyexecd_reloads_total",
                        .help = "Times that the configuration was read again.",
                        .labels = {"outcome"}},
};

/* One combination of labels. */
struct series {
    char *labels[LABELS]; /* owned; NULL where the family has none */
    unsigned long count;
    double sum;
    unsigned long buckets[MOST_BUCKETS]; /* each counts only the values between the bound before and
                                            its own */
};

/* Needed everywhere, as the log is, so not owned by main. */
static struct {
    struct series *series; /* owned */
    size_t count;
} tables[METRICS];

static bool metrics_is_same(const char *a, const char *b)
{
    return a == b || (a && b && strncmp(a, b, LABEL_BYTES) == 0);
}

static struct series *metrics_find(enum metric metric, const char *first, const char *second)
{
    for (size_t i = 0; i < tables[metric].count; i++) {
        struct series *series = &tables[metric].series[i];

        if (metrics_is_same(series->labels[0], first) && metrics_is_same(series->labels[1], second))
            return series;
    }
    return NULL;
}

static char *copy_label(const char *label)
{
    return label ? memory_format("%.*s", LABEL_BYTES, label) : NULL;
}

static struct series *metrics_add(enum metric metric, const char *first, const char *second)
{
    size_t count = tables[metric].count++;
    struct series *series;

    tables[metric].series =
        memory_resize(tables[metric].series, (count + 1) * sizeof *tables[metric].series);
    series = &tables[metric].series[count];
    *series = (struct series){.labels = {copy_label(first), copy_label(second)}};
    return series;
}

/* The last series is kept for "other". */
static struct series *find_or_add(enum metric metric, const char *first, const char *second)
{
    struct series *series = metrics_find(metric, first, second);

    assert(!first == !families[metric].labels[0] && !second == !families[metric].labels[1]);
    if (series)
        return series;
    if (tables[metric].count < METRICS_SERIES - 1)
        return metrics_add(metric, first, second);
    series = metrics_find(metric, OTHER, second ? OTHER : NULL);
    return series ? series : metrics_add(metric, OTHER, second ? OTHER : NULL);
}

void metrics_count(enum metric metric, const char *first, const char *second)
{
    find_or_add(metric, first, second)->count++;
}

void metrics_observe(enum metric metric, const char *first, double seconds)
{
    const double *bounds = families[metric].buckets;
    struct series *series = find_or_add(metric, first, NULL);

    series->count++;
    series->sum += seconds;
    for (size_t i = 0; i < MOST_BUCKETS && bounds[i] > 0; i++) {
        if (seconds > bounds[i])
            continue;
        series->buckets[i]++;
        return;
    }
}

unsigned long metrics_read(enum metric metric, const char *first, const char *second)
{
    const struct series *series = metrics_find(metric, first, second);

    return series ? series->count : 0;
}

/* Prometheus' text format */

/* A label's value, with its special characters escaped. Owned by the caller. */
static char *metrics_escape(const char *value)
{
    char *escaped = memory_new(2 * strlen(value) + 1, 1);
    char *end = escaped;

    for (; *value; value++) {
        if (strchr("\\\"\n", *value))
            *end++ = '\\';
        *end++ = *value == '\n' ? 'n' : *value;
    }
    return escaped;
}

/* `environment="system",outcome="success"`. Owned by the caller. */
static char *label_text(const struct family *family, const struct series *series)
{
    AUTO_FREE char *first = metrics_escape(series->labels[0]);
    AUTO_FREE char *second = NULL;

    if (!family->labels[1])
        return memory_format("%s=\"%s\"", family->labels[0], first);
    second = metrics_escape(series->labels[1]);
    return memory_format("%s=\"%s\",%s=\"%s\"", family->labels[0], first, family->labels[1],
                         second);
}

static int write_counter(struct buffer *buffer, const struct family *family, const char *labels,
                         const struct series *series, struct error *err)
{
    return buffer_append_format(buffer, err, "%s{%s} %lu\n", family->name, labels, series->count);
}

static int write_histogram(struct buffer *buffer, const struct family *family, const char *labels,
                           const struct series *series, struct error *err)
{
    unsigned long below = 0;

    for (size_t i = 0; i < MOST_BUCKETS && family->buckets[i] > 0; i++) {
        below += series->buckets[i];
        if (buffer_append_format(buffer, err, "%s_bucket{%s,le=\"%g\"} %lu\n", family->name, labels,
                                 family->buckets[i], below) < 0)
            return -1;
    }
    return buffer_append_format(buffer, err,
                                "%s_bucket{%s,le=\"+Inf\"} %lu\n%s_sum{%s} %.6f\n%s_count{%s} "
                                "%lu\n",
                                family->name, labels, series->count, family->name, labels,
                                series->sum, family->name, labels, series->count);
}

static int write_head(struct buffer *buffer, const char *name, const char *help, const char *type,
                      struct error *err)
{
    return buffer_append_format(buffer, err, "# HELP %s %s\n# TYPE %s %s\n", name, help, name,
                                type);
}

static int write_family(struct buffer *buffer, enum metric metric, struct error *err)
{
    const struct family *family = &families[metric];
    const bool is_histogram = family->buckets[0] > 0;

    if (write_head(buffer, family->name, family->help, is_histogram ? "histogram" : "counter",
                   err) < 0)
        return -1;
    for (size_t i = 0; i < tables[metric].count; i++) {
        const struct series *series = &tables[metric].series[i];
        AUTO_FREE char *labels = label_text(family, series);
        int status = is_histogram ? write_histogram(buffer, family, labels, series, err)
                                  : write_counter(buffer, family, labels, series, err);

        if (status < 0)
            return -1;
    }
    return 0;
}

int metrics_write(struct buffer *buffer, struct error *err)
{
    for (enum metric metric = 0; metric < METRICS; metric++)
        if (write_family(buffer, metric, err) < 0)
            return -1;
    return 0;
}

int metrics_write_gauge(struct buffer *buffer, const char *name, const char *help,
                        const char *labels, double value, struct error *err)
{
    if (write_head(buffer, name, help, "gauge", err) < 0)
        return -1;
    return buffer_append_format(buffer, err, *labels ? "%s{%s} %.17g\n" : "%s%s %.17g\n", name,
                                labels, value);
}
