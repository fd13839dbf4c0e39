/* One line on stderr, at the edge only: accepted, closed, refused, started, ended. A sentence, then
 * key=value pairs; never program output, never secrets, never the client's code. An error may quote
 * lines of a tool: they follow, indented. Control characters are replaced. Under a systemd journal
 * each line carries its priority. */
#pragma once

#include <jansson.h>
#include <stdbool.h>

enum log_level {
    LOG_LEVEL_ERROR,
    LOG_LEVEL_WARNING,
    LOG_LEVEL_INFO,
    LOG_LEVEL_DEBUG,
};

/* Sets the least severe level that is written (default: warning). Call once, at start. */
void log_open(enum log_level level);

/* Sets the function that is called before each line is written, for a display that draws on the
 * same terminal; NULL: no such display. */
void log_precede(void (*before)(void *data), void *data);

/* True when lines of LEVEL are written. */
bool log_wants(enum log_level level);

/* EVENT has happened, and MEMBERS, an object of strings, numbers and booleans, say more about it:
 * a line of JSON for machines, with the time before them unless the journal knows it. On a terminal
 * it is a line like the others. Long strings are cut. */
void log_event(enum log_level level, const char *event, const json_t *members);

void log_error(const char *format, ...) __attribute__((format(printf, 1, 2)));
void log_warning(const char *format, ...) __attribute__((format(printf, 1, 2)));
void log_info(const char *format, ...) __attribute__((format(printf, 1, 2)));
void log_debug(const char *format, ...) __attribute__((format(printf, 1, 2)));
