/* A descriptor that may be a terminal. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

struct terminal {
    int fd;          /* borrowed */
    bool is_there;   /* else a file or a pipe */
    bool is_movable; /* its cursor can be moved: not with TERM=dumb */
    bool has_colour; /* colour is possible and wanted: see https://no-color.org */
};

void terminal_init(struct terminal *terminal, int fd);

/* The terminal behind FD as a non-blocking open file of our own; -1: there is none, or it may not
 * be opened. */
int terminal_open_again(int fd);

/* True while there is a terminal whose signals reach us, whatever our descriptors are. */
bool terminal_has_us(void);

/* The present size; 80 and 24 where the terminal does not say. */
size_t terminal_columns(const struct terminal *terminal);
size_t terminal_rows(const struct terminal *terminal);

/* The sequences before and after a green text, or "". Static storage. */
const char *terminal_green(const struct terminal *terminal);
const char *terminal_plain(const struct terminal *terminal);
