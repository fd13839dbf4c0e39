/* Values that a script expects from outside, as at a desk: typed, given as arguments, or set as
 * variables. */
#include "base/cleanup.h"
#include "base/memory.h"
#include "base/text.h"
#include "server/tools/code/python_source.h"
#include "server/tools/hints/hint_table.h"

#include <string.h>

static bool hint_is_about_any(const struct hint_facts *facts, const char *const *types)
{
    for (; *types; types++)
        if (hint_is_about(facts, *types))
            return true;
    return false;
}

/* True when the line of the script that has failed contains WORDS. */
static bool hint_failed_at(const struct hint_facts *facts, const char *words)
{
    const char *line = facts->code->text;
    const char *found;

    if (facts->failure.line == 0)
        return false;
    for (unsigned i = 1; i < facts->failure.line && *line; i++) {
        line = strchrnul(line, '\n');
        line += *line == '\n';
    }
    found = strstr(line, words);
    return found && found < strchrnul(line, '\n');
}

char *hint_input(const struct hint_facts *facts)
{
    if (!hint_is_about(facts, "EOFError") ||
        strcmp(facts->failure.message, "EOF when reading a line") != 0)
        return NULL;
    return memory_copy_string("Nobody can answer input() here, and standard input is empty. Write "
                              "the values into the code.");
}

/* True when what has failed, or is shown, can come from an empty input. */
static bool hint_may_lack_input(const struct hint_facts *facts)
{
    static const char *const types[] = {"IndexError", "ValueError", "StopIteration",
                                        "json.decoder.JSONDecodeError", NULL};

    return (facts->run->is_success && facts->is_silent &&
            json_array_size(facts->run->files) == 0) ||
           hint_is_about_any(facts, types);
}

char *hint_standard_input(const struct hint_facts *facts)
{
    if (!hint_may_lack_input(facts) ||
        (!hint_code_has(facts, "sys.stdin") && !hint_code_has(facts, "fileinput.input(")))
        return NULL;
    return memory_copy_string("Standard input is empty here: write the values into the code, or "
                              "read them from a file.");
}

/* Messages of argparse, and of click and typer, about arguments that are missing. */
static bool hint_misses_arguments(const struct hint_facts *facts)
{
    static const char *const words[] = {
        ": error: the following arguments are required: ",
        ": error: one of the arguments ",
        "Missing argument '",
        "Missing option '",
    };

    for (size_t i = 0; facts->run->returncode == 2 && i < ARRAY_SIZE(words); i++)
        if (strstr(facts->errors, words[i]))
            return true;
    return false;
}

/* True when a script that looks at its arguments has failed, or says how it is called. */
static bool hint_looks_at_arguments(const struct hint_facts *facts)
{
    static const char *const types[] = {"IndexError", "ValueError", NULL};

    if (!hint_code_has(facts, "sys.argv"))
        return false;
    if (facts->failure.type)
        return hint_is_about_any(facts, types) && hint_failed_at(facts, "argv");
    return hint_prints(facts, "usage:") || hint_prints(facts, "Usage:") ||
           hint_prints(facts, "USAGE:");
}

char *hint_arguments(const struct hint_facts *facts)
{
    if (hint_misses_arguments(facts))
        return memory_format("Scripts get no arguments here. Pass them in the code: %s.",
                             hint_code_has(facts, "argparse") ? "parse_args([\"VALUE\"])"
                                                              : "main([\"VALUE\"])");
    if (hint_looks_at_arguments(facts))
        return memory_copy_string("Scripts get no arguments here: write the values into the code.");
    return NULL;
}

/* The name before " environment variable" in MESSAGE, as clients of services say which key they
 * miss. Owned by the caller; NULL: there is none. */
static char *hint_variable_in(const char *message)
{
    static const char letters[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZ_0123456789";
    const char *end = strstr(message, " environment variable");
    const char *start = end;

    while (start && start > message && strchr(letters, start[-1]))
        start--;
    return !end || end - start < 3 ? NULL : memory_format("%.*s", (int)(end - start), start);
}

/* True when the innermost frame is in FILE, the end of a path with its quote. */
static bool hint_failed_in(const struct hint_facts *facts, const char *file)
{
    const char *frame = facts->failure.innermost;
    const char *found = frame ? strstr(frame, file) : NULL;

    return found && found < strchrnul(frame, '\n');
}

/* True when Python's own os.environ has raised the exception. */
static bool hint_is_from_environ(const struct hint_facts *facts)
{
    return hint_is_about(facts, "KeyError") &&
           (hint_failed_in(facts, "\"<frozen os>\"") || hint_failed_in(facts, "/os.py\""));
}

char *hint_variable(const struct hint_facts *facts)
{
    AUTO_FREE char *name = NULL;

    if (!facts->failure.type)
        return NULL;
    name = hint_is_from_environ(facts) ? hint_quoted(facts->failure.message)
                                       : hint_variable_in(facts->failure.message);
    if (!name)
        return NULL;
    return memory_format("Scripts have none of your environment variables, so %s is not set. If "
                         "you know its value, set it in the code; the operator can set it for all "
                         "scripts.",
                         name);
}
