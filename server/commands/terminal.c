#include "server/commands/terminal.h"

#include "base/cleanup.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

enum { DEFAULT_COLUMNS = 80, DEFAULT_ROWS = 24 };

enum { PATH_BYTES = 32 };

static bool is_set(const char *name)
{
    const char *value = getenv(name);

    return value && *value;
}

static bool is_clever(void)
{
    const char *kind = getenv("TERM");

    return kind && *kind && strcmp(kind, "dumb") != 0;
}

void terminal_init(struct terminal *terminal, int fd)
{
    bool is_there = isatty(fd);
    bool is_movable = is_there && is_clever();

    *terminal = (struct terminal){
        .fd = fd,
        .is_there = is_there,
        .is_movable = is_movable,
        .has_colour = is_movable && !is_set("NO_COLOR"),
    };
}

int terminal_open_again(int fd)
{
    char path[PATH_BYTES];

    if (!isatty(fd))
        return -1;
    snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    return open(path, O_WRONLY | O_NOCTTY | O_NONBLOCK | O_CLOEXEC);
}

bool terminal_has_us(void)
{
    AUTO_CLOSE int fd = open("/dev/tty", O_RDWR | O_NOCTTY | O_NONBLOCK | O_CLOEXEC);

    return fd >= 0;
}

/* Zeros where it is not known. */
static struct winsize terminal_size(const struct terminal *terminal)
{
    struct winsize size = {0};

    (void)ioctl(terminal->fd, TIOCGWINSZ, &size);
    return size;
}

size_t terminal_columns(const struct terminal *terminal)
{
    const struct winsize size = terminal_size(terminal);

    return size.ws_col > 0 ? size.ws_col : DEFAULT_COLUMNS;
}

size_t terminal_rows(const struct terminal *terminal)
{
    const struct winsize size = terminal_size(terminal);

    return size.ws_row > 0 ? size.ws_row : DEFAULT_ROWS;
}

const char *terminal_green(const struct terminal *terminal)
{
    return terminal->has_colour ? "\033[32m" : "";
}

const char *terminal_plain(const struct terminal *terminal)
{
    return terminal->has_colour ? "\033[m" : "";
}
