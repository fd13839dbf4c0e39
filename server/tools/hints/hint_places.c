/* Where a script was when its time was over, from the stacks of its threads (schemas/
 * run_python.output.json), and for its main thread also from the traceback that it has left. */
#include "base/json.h"
#include "base/memory.h"
#include "base/text.h"
#include "server/tools/hints/hint.h"

#include <stdarg.h>
#include <string.h>

enum {
    PLACES_CALLERS = 3,
    PLACES_THREADS = 3, /* groups of threads, beside the main one */
};

static bool places_is_own(const json_t *frame)
{
    const char *file = json_object_get_string(frame, "file");
    const char *name = file ? strrchr(file, '/') : NULL;

    return name && strcmp(name, "/script.py") == 0;
}

/* The next frame of the script itself in STACK, from *PLACE on, which moves behind it; NULL: there
 * is none. Borrowed. */
static const json_t *places_next_own(const json_t *stack, size_t *place)
{
    const json_t *frames = json_object_get(stack, "frames");

    while (*place < json_array_size(frames)) {
        const json_t *frame = json_array_get(frames, (*place)++);

        if (places_is_own(frame))
            return frame;
    }
    return NULL;
}

static unsigned places_line(const json_t *frame)
{
    return (unsigned)json_integer_value(json_object_get(frame, "line"));
}

/* Appends more to *TEXT, which may be NULL. */
static void __attribute__((format(printf, 2, 3)))
places_append(char **text, const char *format, ...)
{
    AUTO_FREE char *former = *text;
    AUTO_FREE char *more = NULL;
    va_list arguments;

    va_start(arguments, format);
    more = memory_format_list(format, arguments);
    va_end(arguments);
    *text = memory_format("%s%s", text_or_none(former), more);
}

/* "line 12 (TEXT)": the physical line NUMBER of the code, with its text if that is fit for it. */
static void places_append_line(char **text, const struct hint_facts *facts, unsigned number)
{
    enum { SHOWN_BYTES = 80 };
    const char *line = facts->code->text;
    size_t length;

    for (unsigned i = 1; i < number && *line; i++) {
        line = strchrnul(line, '\n');
        line += *line == '\n';
    }
    line += strspn(line, " \t");
    length = strcspn(line, "\r\n");
    places_append(text, "line %u", number);
    if (length > 0 && length <= SHOWN_BYTES)
        places_append(text, " (%.*s)", (int)length, line);
}

/* " in fetch", but for the script itself. */
static void places_append_function(char **text, const json_t *frame)
{
    const char *name = json_object_get_string(frame, "function");

    if (name && *name != '<')
        places_append(text, " in %s", name);
}

/* The main thread, of which no traceback says more. */
static void places_append_main(char **text, const struct hint_facts *facts, const json_t *stack)
{
    size_t place = 0;
    const json_t *frame = places_next_own(stack, &place);

    if (!frame)
        return;
    places_append(text, "it was at ");
    places_append_line(text, facts, places_line(frame));
    places_append_function(text, frame);
    for (size_t i = 0; i < PLACES_CALLERS && (frame = places_next_own(stack, &place)); i++) {
        places_append(text, ", called from line %u", places_line(frame));
        places_append_function(text, frame);
    }
}

/* Other threads that have the same stack. False when no frame of the stack is in the script. */
static bool places_append_threads(char **text, const struct hint_facts *facts, const json_t *stack)
{
    const unsigned count = (unsigned)json_integer_value(json_object_get(stack, "threads"));
    size_t place = 0;
    const json_t *frame = places_next_own(stack, &place);

    if (!frame)
        return false;
    places_append(text, *text ? "; %u other thread%s at " : "%u thread%s at ", count,
                  count == 1 ? " was" : "s were");
    places_append_line(text, facts, places_line(frame));
    places_append_function(text, frame);
    return true;
}

char *hint_last_places(const struct hint_facts *facts)
{
    const json_t *stacks = facts->run->report->execution.stacks;
    const json_t *stack;
    unsigned shown = 0;
    char *text = NULL;
    size_t i;

    if (hint_is_about(facts, "KeyboardInterrupt") && facts->failure.line > 0) {
        places_append(&text, "it was at ");
        places_append_line(&text, facts, facts->failure.line);
    } else if (json_is_true(json_object_get(json_array_get(stacks, 0), "main"))) {
        places_append_main(&text, facts, json_array_get(stacks, 0));
    }
    json_array_foreach (stacks, i, stack)
        if (shown < PLACES_THREADS && !json_is_true(json_object_get(stack, "main")))
            shown += places_append_threads(&text, facts, stack);
    return text;
}
