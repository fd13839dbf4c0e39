/* Values that a script expects from outside, as at a desk: typed, given as arguments, or set as
 * variables. */
#include "base/cleanup.h"
#include "base/memory.h"
#include "base/text.h"
#include "server/tools/code/python_source.h"
#include "server/tools/hints/hint_table.h"

#include <string.h>

enum { VARIABLE_BYTES = 3 }; /* the shortest name that is taken for one */

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

/* True when a script that shows nothing, or its failure, can have met an empty input. A cell may
 * only define something. */
static bool hint_may_lack_input(const struct hint_facts *facts)
{
    static const char *const types[] = {"IndexError", "ValueError", "StopIteration",
                                        "json.decoder.JSONDecodeError", NULL};

    if (hint_is_about_any(facts, types))
        return true;
    return facts->run->is_success && facts->is_silent && !facts->run->setting->session &&
           json_array_size(facts->run->files) == 0;
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

/* True when a line of TEXT begins with WORD. */
static bool hint_has_line(const char *text, const char *word)
{
    for (const char *line = text; line; line = strchr(line, '\n')) {
        line += *line == '\n';
        if (text_starts_with(line, word))
            return true;
    }
    return false;
}

static bool hint_says_usage(const struct hint_facts *facts)
{
    static const char *const words[] = {"usage: ", "Usage: ", "USAGE: "};

    for (size_t i = 0; i < ARRAY_SIZE(words); i++)
        if (hint_has_line(facts->output, words[i]) || hint_has_line(facts->errors, words[i]))
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
    return hint_says_usage(facts);
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

/* The first name in MESSAGE, about an environment variable, that is one of a variable: with an
 * underscore, in capitals. Owned by the caller; NULL: there is none. */
static char *hint_variable_in(const char *message)
{
    static const char letters[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_";

    if (!strstr(message, " environment variable"))
        return NULL;
    for (const char *at = message; *(at += strcspn(at, letters));) {
        const size_t length = strspn(at, letters);

        if (length >= VARIABLE_BYTES && memchr(at, '_', length))
            return memory_format("%.*s", (int)length, at);
        at += length;
    }
    return NULL;
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

/* Messages of clients of services that have found no key at all. */
static bool hint_misses_credentials(const struct hint_facts *facts)
{
    return strstr(facts->failure.message, "Unable to locate credentials") || /* boto */
           strstr(facts->failure.message,
                  "Could not resolve authentication method"); /* anthropic */
}

#define SET_IT "set %s in the code; the operator can set variables for all scripts."

char *hint_variable(const struct hint_facts *facts)
{
    AUTO_FREE char *name = NULL;

    if (!facts->failure.type)
        return NULL;
    if (hint_misses_credentials(facts))
        return memory_format("Scripts have none of your credentials and environment variables. If "
                             "you know them, " SET_IT,
                             "them");
    name = hint_is_from_environ(facts) ? hint_quoted(facts->failure.message)
                                       : hint_variable_in(facts->failure.message);
    if (!name)
        return NULL;
    return memory_format("Scripts have none of your environment variables, so %s is not set. If "
                         "you know its value, " SET_IT,
                         name, "it");
}
