#include "server/tools/hints/traceback.h"

#include "base/memory.h"
#include "base/text.h"
#include "server/tools/code/python_source.h"

#include <stdlib.h>
#include <string.h>

enum { TRACEBACK_LINES = 1 << 30 };

#define FRAME        "  File \""
#define KERNEL_FRAME "Cell In["

void traceback_deinit(struct traceback *traceback)
{
    free(traceback->type);
    free(traceback->message);
    *traceback = (struct traceback){0};
}

/* The number that follows WORDS in the text up to END; 0: there is none. *RET_REST is the text
 * behind it. */
static unsigned traceback_number(const char *text, const char *end, const char *words,
                                 const char **ret_rest)
{
    const char *found = memmem(text, (size_t)(end - text), words, strlen(words));
    unsigned long number;
    char *rest;

    if (!found)
        return 0;
    number = strtoul(found + strlen(words), &rest, 10);
    *ret_rest = rest;
    return number < TRACEBACK_LINES ? (unsigned)number : 0;
}

/* The line number in `  File ".../script.py", line 12`; 0 for another file. */
static unsigned traceback_script_line(const char *frame, const char *end)
{
    static const char words[] = "script.py\", line ";
    const char *found = memmem(frame, (size_t)(end - frame), words, strlen(words));
    const char *rest;

    if (!found || (found[-1] != '/' && found[-1] != '"'))
        return 0;
    return traceback_number(found, end, words, &rest);
}

/* The same in `  File "<cell 3>", line 12, in <module>` of a session, and in `Cell In[3], line 12`
 * of a kernel. Functions can be of earlier cells, whose lines are not those of the code. */
static unsigned traceback_cell_line(const char *frame, const char *end)
{
    const char *rest = end;
    unsigned number = 0;

    if (text_starts_with(frame, FRAME "<cell "))
        number = traceback_number(frame, end, ">\", line ", &rest);
    else if (text_starts_with(frame, KERNEL_FRAME))
        number = traceback_number(frame, end, "], line ", &rest);
    return rest >= end || text_starts_with(rest, ", in <module>") ? number : 0;
}

static unsigned traceback_own_line(const char *frame, const char *end)
{
    const unsigned line = traceback_script_line(frame, end);

    return line ? line : traceback_cell_line(frame, end);
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

/* True for lines among frames: code, which a kernel marks with an arrow, and frames of a kernel in
 * other files. */
static bool traceback_is_inside(const char *line)
{
    return *line == ' ' || text_starts_with(line, "--") || text_starts_with(line, "File ");
}

static void traceback_read_line(struct traceback *ret, struct traceback_reader *reader,
                                const char *line, const char *end)
{
    if (text_starts_with(line, "Exception ignored ")) {
        *reader = (struct traceback_reader){.is_ignored = true};
    } else if (text_starts_with(line, FRAME) || text_starts_with(line, KERNEL_FRAME)) {
        traceback_add_frame(reader, line, end);
    } else if (reader->is_among_frames && !traceback_is_inside(line) && line < end) {
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
