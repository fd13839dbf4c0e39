#include "base/log.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

enum { LINE_BYTES = 1024 };

/* The one piece of state that is not owned by main: where a line goes must be known everywhere. */
static enum log_level threshold = LOG_LEVEL_WARNING;
static bool on_journal;

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

__attribute__((format(printf, 2, 0))) static void write_line(enum log_level level,
                                                             const char *format, va_list arguments)
{
    char line[LINE_BYTES];
    int used;

    if (level > threshold)
        return;
    used = snprintf(line, sizeof line, "%spyexecd: ", on_journal ? journal_prefix[level] : "");
    vsnprintf(line + used, sizeof line - (size_t)used - 1, format, arguments);
    for (used = 0; line[used]; used++)
        if ((unsigned char)line[used] < ' ' || line[used] == 0x7f)
            line[used] = '?';
    line[used++] = '\n';
    (void)!write(STDERR_FILENO, line, (size_t)used); /* nowhere else to complain */
}

#define DEFINE_LOG(NAME, LEVEL)                                                                    \
    void NAME(const char *format, ...)                                                             \
    {                                                                                              \
        va_list arguments;                                                                         \
        va_start(arguments, format);                                                               \
        write_line(LEVEL, format, arguments);                                                      \
        va_end(arguments);                                                                         \
    }

DEFINE_LOG(log_error, LOG_LEVEL_ERROR)
DEFINE_LOG(log_warning, LOG_LEVEL_WARNING)
DEFINE_LOG(log_info, LOG_LEVEL_INFO)
DEFINE_LOG(log_debug, LOG_LEVEL_DEBUG)
