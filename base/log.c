#include "base/log.h"

#include "base/error.h"
#include "base/json.h"
#include "base/memory.h"
#include "base/printable.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum { TEXT_BYTES = ERROR_FULL_BYTES + 512, EVENT_STRING_BYTES = 200, TIME_BYTES = 32 };

/* The log is needed everywhere, so its state is not owned by main. */
static enum log_level threshold = LOG_LEVEL_WARNING;
static bool on_journal;
static bool on_terminal;
static void (*before_text)(void *data);
static void *before_data; /* borrowed */

static const char *const journal_prefix[] = {
    [LOG_LEVEL_ERROR] = "<3>",
    [LOG_LEVEL_WARNING] = "<4>",
    [LOG_LEVEL_INFO] = "<6>",
    [LOG_LEVEL_DEBUG] = "<7>",
};

/* systemd.exec(5): JOURNAL_STREAM holds device and inode of the stream it connected. */
static bool stderr_is_journal(void)
{
    const char *stream = getenv("JOURNAL_STREAM");
    unsigned long long device;
    unsigned long long inode;
    struct stat status;

    return stream && sscanf(stream, "%llu:%llu", &device, &inode) == 2 &&
           fstat(STDERR_FILENO, &status) == 0 && status.st_dev == device && status.st_ino == inode;
}

void log_open(enum log_level level)
{
    threshold = level;
    on_journal = stderr_is_journal();
    on_terminal = isatty(STDERR_FILENO);
}

void log_precede(void (*before)(void *data), void *data)
{
    before_text = before;
    before_data = data;
}

static void log_write_line(enum log_level level, const char *indentation, char *text)
{
    char line[TEXT_BYTES + 32];
    int length;

    printable_clean(text);
    length = snprintf(line, sizeof line, "%spyexecd: %s%s\n",
                      on_journal ? journal_prefix[level] : "", indentation, text);
    (void)!write(STDERR_FILENO, line, (size_t)length); /* nowhere else to complain */
}

__attribute__((format(printf, 2, 0))) static void
log_write_text(enum log_level level, const char *format, va_list arguments)
{
    char text[TEXT_BYTES];
    char *rest = text;

    if (level > threshold)
        return;
    if (before_text)
        before_text(before_data);
    vsnprintf(text, sizeof text, format, arguments);
    log_write_line(level, "", strsep(&rest, "\n"));
    while (rest && *rest)
        log_write_line(level, "  ", strsep(&rest, "\n"));
}

#define DEFINE_LOG(NAME, LEVEL)                                                                    \
    void NAME(const char *format, ...)                                                             \
    {                                                                                              \
        va_list arguments;                                                                         \
        va_start(arguments, format);                                                               \
        log_write_text(LEVEL, format, arguments);                                                  \
        va_end(arguments);                                                                         \
    }

DEFINE_LOG(log_error, LOG_LEVEL_ERROR)
DEFINE_LOG(log_warning, LOG_LEVEL_WARNING)
DEFINE_LOG(log_info, LOG_LEVEL_INFO)
DEFINE_LOG(log_debug, LOG_LEVEL_DEBUG)

/* Events */

bool log_wants(enum log_level level)
{
    return level <= threshold;
}

/* MEMBERS with long strings cut. New reference. */
static json_t *log_shorten(const json_t *members)
{
    json_t *copy = json_object();
    const char *key;
    json_t *value;

    json_object_foreach ((json_t *)members, key, value) {
        const char *text = json_string_value(value);
        size_t length = json_string_length(value);

        if (text && json_escaped_length(text, length) > EVENT_STRING_BYTES)
            json_object_set_new(
                copy, key,
                json_string_repaired(text, json_escaped_prefix(text, length, EVENT_STRING_BYTES)));
        else
            json_object_set(copy, key, value);
    }
    return copy;
}

/* As RFC 3339 has it, in UTC. */
static json_t *time_now(void)
{
    struct timespec now;
    struct tm parts;
    char text[TIME_BYTES];

    clock_gettime(CLOCK_REALTIME, &now);
    gmtime_r(&now.tv_sec, &parts);
    strftime(text, sizeof text, "%FT%T", &parts);
    return json_string_format("%s.%03ldZ", text, now.tv_nsec / 1000000);
}

static void write_json(enum log_level level, const char *event, const json_t *members)
{
    AUTO_JSON json_t *object = json_object();
    AUTO_FREE char *text = NULL;
    AUTO_FREE char *line = NULL;

    if (!on_journal)
        json_object_set_new(object, "time", time_now());
    json_object_set_new(object, "event", json_string(event));
    json_object_update(object, (json_t *)members);
    text = json_text(object);
    printable_clean(text);
    line = memory_format("%s%s\n", on_journal ? journal_prefix[level] : "", text);
    (void)!write(STDERR_FILENO, line, strlen(line));
}

/* `event key=value key="a text"`. */
static void write_words(enum log_level level, const char *event, const json_t *members)
{
    AUTO_FREE char *line = memory_copy_string(event);
    const char *key;
    json_t *value;

    json_object_foreach ((json_t *)members, key, value) {
        AUTO_FREE char *before = line;
        AUTO_FREE char *text = json_text(value);

        line = memory_format("%s %s=%s", before, key, text);
    }
    if (strlen(line) >= TEXT_BYTES)
        line[TEXT_BYTES - 1] = '\0';
    log_write_line(level, "", line);
}

void log_event(enum log_level level, const char *event, const json_t *members)
{
    AUTO_JSON json_t *shorter = NULL;

    if (!log_wants(level))
        return;
    shorter = log_shorten(members);
    if (before_text)
        before_text(before_data);
    if (on_terminal)
        write_words(level, event, shorter);
    else
        write_json(level, event, shorter);
}
