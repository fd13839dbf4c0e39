#include "server/tools/hints/traceback.h"

#include "base/memory.h"
#include "base/text.h"
#include "server/tools/code/python_source.h"

#include <stdlib.h>
#include <string.h>

enum { TRACEBACK_LINES = 1 << 30 };

#define FRAME "  File \""

void traceback_deinit(struct traceback *traceback)
{
    free(traceback->type);
    free(traceback->message);
    *traceback = (struct traceback){0};
}

/* The line number in `  File ".../script.py", line 12`; 0 for another file. */
static unsigned traceback_own_line(const char *frame, const char *end)
{
    static const char words[] = "script.py\", line ";
    const char *found = memmem(frame, (size_t)(end - frame), words, strlen(words));
    unsigned long number;

    if (!found || (found[-1] != '/' && found[-1] != '"'))
        return 0;
    number = strtoul(found + strlen(words), NULL, 10);
    return number < TRACEBACK_LINES ? (unsigned)number : 0;
}

/* The length of the type at the beginning of a line: a dotted name, at its end or before ": ". */
static size_t traceback_type_length(const char *line, const char *end)
{
    const char *at = line;

    for (;;) {
        const size_t length = python_name_length(at, end);

        if (length == 0)
            return 0;
        at += length;
        if (at == end || *at != '.')
            break;
        at++;
    }
    return at == end || (*at == ':' && (at + 1 == end || at[1] == ' ')) ? (size_t)(at - line) : 0;
}

/* The lines so far. */
struct traceback_reader {
    struct traceback frames; /* the frames above the line; without a type */
    bool is_among_frames;
    bool is_ignored; /* by Python itself, at the end of an object or of the program */
};

/* The line says which exception the frames above it belong to, unless it says something else. */
static void traceback_take(struct traceback *traceback, const struct traceback_reader *reader,
                           const char *line, const char *end)
{
    const size_t length = traceback_type_length(line, end);
    const char *message = line + length;

    if (length == 0 || reader->is_ignored)
        return;
    traceback_deinit(traceback);
    *traceback = reader->frames;
    while (message < end && (*message == ':' || *message == ' '))
        message++;
    traceback->type = memory_format("%.*s", (int)length, line);
    traceback->message = memory_format("%.*s", (int)(end - message), message);
}

static void traceback_add_frame(struct traceback_reader *reader, const char *line, const char *end)
{
    const unsigned own = traceback_own_line(line, end);

    reader->is_among_frames = true;
    reader->frames.line = own ? own : reader->frames.line;
    reader->frames.is_own = own > 0;
    reader->frames.innermost = line;
}

static void traceback_read_line(struct traceback *ret, struct traceback_reader *reader,
                                const char *line, const char *end)
{
    if (text_starts_with(line, "Exception ignored ")) {
        *reader = (struct traceback_reader){.is_ignored = true};
    } else if (text_starts_with(line, FRAME)) {
        traceback_add_frame(reader, line, end);
    } else if (reader->is_among_frames && *line != ' ' && line < end) {
        traceback_take(ret, reader, line, end);
        *reader = (struct traceback_reader){0};
    }
}

void traceback_read(struct traceback *ret, const char *errors)
{
    struct traceback_reader reader = {0};

    *ret = (struct traceback){0};
    for (const char *line = errors; *line;) {
        const char *end = strchrnul(line, '\n');

        traceback_read_line(ret, &reader, line, end);
        line = *end ? end + 1 : end;
    }
}
