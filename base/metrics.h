/* Counters and histograms for Prometheus.
 *
 * Like the log they belong to the whole program. A metric has a line for each combination of its
 * labels. Further combinations are counted as "other" when METRICS_SERIES is reached, so that the
 * names clients send cannot make it grow. */
#pragma once

#include "base/buffer.h"
#include "base/error.h"

enum metric {
    METRIC_RUNS,          /* environment, outcome */
    METRIC_STARTS,        /* environment, start */
    METRIC_RUN_SECONDS,   /* environment */
    METRIC_QUEUE_SECONDS, /* environment */
    METRIC_TOOL_CALLS,    /* tool, outcome */
    METRIC_REFUSALS,      /* reason */
    METRIC_RELOADS,       /* outcome */
    METRICS,
};

enum { METRICS_SERIES = 512 }; /* combinations of labels of one metric */

/* One more of METRIC, a counter, with the values FIRST and SECOND of its labels (copied). */
void metrics_count(enum metric metric, const char *first, const char *second);

/* METRIC, a histogram, has taken SECONDS. */
void metrics_observe(enum metric metric, const char *first, double seconds);

/* How often METRIC was counted or observed with these labels; for tests. */
unsigned long metrics_read(enum metric metric, const char *first, const char *second);

/* Appends all of them in Prometheus' text format. -1 with ERROR_LIMIT when BUFFER is full. */
int metrics_write(struct buffer *buffer, struct error *err);

/* Appends one value of the moment; LABELS is `name="value",...` that need no escaping, or "". */
int metrics_write_gauge(struct buffer *buffer, const char *name, const char *help,
                        const char *labels, double value, struct error *err);
