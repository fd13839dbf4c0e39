#include "environments/process/python_stacks.h"

#include "base/json.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

enum { STACKS_LINES = 1 << 30 };

struct stacks_reader {
    json_t *stacks; /* owned: the complete stacks */
    json_t *frames; /* owned: of the thread that is being read; NULL: none is read */
    bool is_main;
};

static bool stacks_begins(const char *line, const char *end, const char *words)
{
    const size_t length = strlen(words);

    return (size_t)(end - line) >= length && memcmp(line, words, length) == 0;
}

/* The last WORDS between START and END; NULL: there are none. */
static const char *stacks_find_last(const char *start, const char *end, const char *words)
{
    const size_t length = strlen(words);

    for (const char *at = end - length; at >= start; at--)
        if (memcmp(at, words, length) == 0)
            return at;
    return NULL;
}

static json_t *stacks_name(const char *name, const char *end)
{
    char shown[PYTHON_STACK_NAME_BYTES];
    size_t length = 0;

    for (; name < end && length < sizeof shown; name++)
        shown[length++] = *name >= ' ' && *name <= '~' ? *name : '?';
    return json_stringn(shown, length);
}

/* `  File "/w/script.py", line 12 in fetch`. Frames of the starter (base/starter/starter.h) are
 * left out. */
static void stacks_add_frame(struct stacks_reader *reader, const char *line, const char *end)
{
    static const char file[] = "  File \"";
    static const char starter[] = "/proc/self/fd/";
    static const char number[] = "\", line ";
    static const char function[] = " in ";
    const char *name = line + strlen(file);
    const char *place = stacks_find_last(name, end, number);
    const char *in =
        place ? memmem(place, (size_t)(end - place), function, strlen(function)) : NULL;
    unsigned long value = in ? strtoul(place + strlen(number), NULL, 10) : 0;

    if (value == 0 || value >= STACKS_LINES || stacks_begins(name, end, starter) ||
        json_array_size(reader->frames) == PYTHON_STACK_FRAMES)
        return;
    json_array_append_new(reader->frames,
                          json_pack("{s:o, s:I, s:o}", "file", stacks_name(name, place), "line",
                                    (json_int_t)value, "function",
                                    stacks_name(in + strlen(function), end)));
}

/* Counts one more thread if another has the same stack. False if there is none. */
static bool stacks_count_again(json_t *stacks, const json_t *frames)
{
    json_t *stack;
    size_t i;

    json_array_foreach (stacks, i, stack) {
        json_t *threads = json_object_get(stack, "threads");

        if (json_is_false(json_object_get(stack, "main")) &&
            json_equal(json_object_get(stack, "frames"), frames)) {
            json_integer_set(threads, json_integer_value(threads) + 1);
            return true;
        }
    }
    return false;
}

/* The thread that was being read is complete. */
static void stacks_end_thread(struct stacks_reader *reader)
{
    AUTO_JSON json_t *frames = reader->frames;

    reader->frames = NULL;
    if (json_array_size(frames) == 0 || stacks_count_again(reader->stacks, frames) ||
        json_array_size(reader->stacks) == PYTHON_STACKS)
        return;
    json_array_append_new(reader->stacks, json_pack("{s:b, s:i, s:O}", "main", reader->is_main,
                                                    "threads", 1, "frames", frames));
}

static void stacks_read_line(struct stacks_reader *reader, const char *line, const char *end)
{
    const bool is_first = stacks_begins(line, end, "Stack (");
    const bool is_current = stacks_begins(line, end, "Current thread 0x");

    if (is_first || is_current || stacks_begins(line, end, "Thread 0x")) {
        stacks_end_thread(reader);
        reader->is_main = is_first && json_array_size(reader->stacks) == 0;
        reader->frames = is_current ? NULL : json_array();
    } else if (reader->frames && stacks_begins(line, end, "  File \"")) {
        stacks_add_frame(reader, line, end);
    }
}

/* If the text is cut off, the last thread is dropped, except the first: a part of its stack is
 * useful. */
static void stacks_drop_thread(struct stacks_reader *reader)
{
    if (json_array_size(reader->stacks) == 0)
        return;
    json_decref(reader->frames);
    reader->frames = NULL;
}

json_t *python_stacks_read(const char *text, size_t length)
{
    struct stacks_reader reader = {.stacks = json_array()};
    const char *end = text + length;

    for (const char *line = text; line < end;) {
        const char *next = memchr(line, '\n', (size_t)(end - line));

        if (!next) {
            stacks_drop_thread(&reader);
            break;
        }
        stacks_read_line(&reader, line, next);
        line = next + 1;
    }
    stacks_end_thread(&reader);
    if (json_array_size(reader.stacks) > 0)
        return reader.stacks;
    json_decref(reader.stacks);
    return NULL;
}
