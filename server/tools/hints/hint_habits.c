#include "base/cleanup.h"
#include "base/memory.h"
#include "base/text.h"
#include "server/tools/code/python_source.h"
#include "server/tools/hints/hint_table.h"

#include <signal.h>
#include <string.h>

char *hint_input(const struct hint_facts *facts)
{
    if (!hint_is_about(facts, "EOFError") ||
        strcmp(facts->failure.message, "EOF when reading a line") != 0)
        return NULL;
    return memory_copy_string("Nobody can answer input() here, and standard input is empty. Write "
                              "the values into the code.");
}

char *hint_undefined_name(const struct hint_facts *facts)
{
    AUTO_FREE char *name =
        hint_is_about(facts, "NameError") ? hint_quoted(facts->failure.message) : NULL;

    if (!name || !json_object_get(facts->earlier, name))
        return NULL;
    return memory_format(
        "An earlier call has defined \"%s\", but every call is a new program: only "
        "files stay. Define it again, or save it to a file in one call and load it "
        "in the next.",
        name);
}

/* A name that only IPython defines. */
char *hint_notebook(const struct hint_facts *facts)
{
    AUTO_FREE char *name =
        hint_is_about(facts, "NameError") ? hint_quoted(facts->failure.message) : NULL;

    if (!name || (strcmp(name, "display") != 0 && strcmp(name, "get_ipython") != 0) ||
        json_object_get(facts->earlier, name))
        return NULL;
    return memory_format("%s() is of notebooks, and this is a program: use print(), or write a "
                         "file.",
                         name);
}

/* A signal that ends a crash in a C library, but no exception of Python. */
char *hint_crash(const struct hint_facts *facts)
{
    static const int signals[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT};

    for (size_t i = 0; i < ARRAY_SIZE(signals); i++)
        if (facts->run->returncode == -signals[i])
            return memory_copy_string("A crash, not an exception: begin the script with `import "
                                      "faulthandler; faulthandler.enable()` to see the line.");
    return NULL;
}

char *hint_left_running(const struct hint_facts *facts)
{
    const unsigned count = facts->run->report->execution.leftovers;

    if (count == 0 || !facts->run->is_success)
        return NULL;
    return memory_format("When the script had ended, %u process%s of it still ran and %s ended: "
                         "nothing runs on after a call. "
                         "Use what you start in the same script, and wait for it.",
                         count, count == 1 ? "" : "es", count == 1 ? "was" : "were");
}

/* A message of matplotlib or tkinter about the missing screen. */
char *hint_screen(const struct hint_facts *facts)
{
    if (strstr(facts->errors, "is non-interactive, and thus cannot be shown") &&
        strstr(facts->code->text, "plt"))
        return memory_copy_string(
            "There is no screen, so plt.show() shows nothing. Save the figure: "
            "plt.savefig(\"figure.png\").");
    if (hint_is_about(facts, "_tkinter.TclError") && strstr(facts->failure.message, "display"))
        return memory_copy_string(
            "There is no screen here, so windows cannot be opened. Write files "
            "or print instead.");
    return NULL;
}

/* The bare expression */

static bool hint_is_statement(const struct python_line *line)
{
    static const char *const words[] = {
        "import", "from",   "pass",  "del",   "assert", "global",   "nonlocal",
        "raise",  "return", "yield", "await", "break",  "continue", "print",
    };

    for (size_t i = 0; i < ARRAY_SIZE(words); i++)
        if (python_line_begins(line, words[i]))
            return true;
    return line->length == 0 || *line->text == '@' || line->mark != NULL;
}

/* A long string is a comment, and "..." stands for nothing. */
static bool hint_is_empty_value(const struct python_line *line)
{
    return (line->length >= 3 &&
            (memcmp(line->text, "\"\"\"", 3) == 0 || memcmp(line->text, "'''", 3) == 0 ||
             memcmp(line->text, "...", 3) == 0)) ||
           (line->length == 4 && memcmp(line->text, "None", 4) == 0);
}

/* Finds the last logical line, which is no part of a block. */
static bool hint_find_last_line(const struct hint_facts *facts, struct python_line *ret)
{
    struct python_source source;
    struct python_line line;
    bool is_found = false;

    python_source_init(&source, facts->code->text, facts->code->length);
    while (python_source_next(&source, &line)) {
        *ret = line;
        is_found = true;
    }
    return is_found && !source.is_lost && ret->indent == 0 && !ret->stop;
}

char *hint_bare_expression(const struct hint_facts *facts)
{
    struct python_line line;

    if (!facts->is_silent || json_array_size(facts->run->files) > 0 || !facts->run->is_success ||
        !hint_find_last_line(facts, &line) || hint_is_statement(&line) ||
        hint_is_empty_value(&line))
        return NULL;
    return memory_format(
        "Line %u is a bare expression, whose value is not shown. If you want to see "
        "it, print() it.",
        line.number);
}
