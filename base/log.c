#include "base/log.h"

#include "base/error.h"
#include "base/printable.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { TEXT_BYTES = ERROR_MESSAGE_BYTES + 512 };

/* The one piece of state that is not owned by main: where a line goes must be known everywhere. */
static enum log_level threshold = LOG_LEVEL_WARNING;
static bool on_journal;
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
}

void log_precede(void (*before)(void *data), void *data)
{
    before_text = before;
    before_data = data;
}

static void write_line(enum log_level level, const char *indentation, char *text)
{
    char line[TEXT_BYTES + 32];
    int length;

    printable_clean(text);
    length = snprintf(line, sizeof line, "%spyexecd: %s%s\n",
                      on_journal ? journal_prefix[level] : "", indentation, text);
    (void)!write(STDERR_FILENO, line, (size_t)length); /* nowhere else to complain */
}

__attribute__((format(printf, 2, 0))) static void write_text(enum log_level level,
                                                             const char *format, va_list arguments)
{
    char text[TEXT_BYTES];
    char *rest = text;

    if (level > threshold)
        return;
    if (before_text)
        before_text(before_data);
    vsnprintf(text, sizeof text, format, arguments);
    write_line(level, "", strsep(&rest, "\n"));
    while (rest && *rest)
        write_line(level, "  ", strsep(&rest, "\n"));
}

#define DEFINE_LOG(NAME, LEVEL)                                                                    \
    void NAME(const char *format, ...)                                                             \
    {                                                                                              \
        va_list arguments;                                                                         \
        va_start(arguments, format);                                                               \
        write_text(LEVEL, format, arguments);                                                      \
        va_end(arguments);                                                                         \
    }

DEFINE_LOG(log_error, LOG_LEVEL_ERROR)
DEFINE_LOG(log_warning, LOG_LEVEL_WARNING)
DEFINE_LOG(log_info, LOG_LEVEL_INFO)
DEFINE_LOG(log_debug, LOG_LEVEL_DEBUG)
