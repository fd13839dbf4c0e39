#include "server/tools/hints/hints.h"

#include "base/json.h"
#include "base/memory.h"
#include "server/tools/code/python_source.h"
#include "server/tools/hints/hint_table.h"

#include <string.h>

enum {
    QUOTED_BYTES = 200,
    HINT_BYTES = 2000, /* a longer line, as with a whole Dockerfile in it, is none */
};

bool hint_is_about(const struct hint_facts *facts, const char *type)
{
    return facts->failure.type && strcmp(facts->failure.type, type) == 0;
}

bool hint_code_has(const struct hint_facts *facts, const char *words)
{
    return python_source_has(facts->code->text, facts->code->length, words);
}

bool hint_is_program(const struct hint_facts *facts)
{
    return !json_object_get(facts->arguments, "blocks") &&
           !json_object_get(facts->arguments, "message");
}

bool hint_takes_files(const struct hint_facts *facts)
{
    return !facts->has_code_alone && hint_is_program(facts);
}

const char *hint_new_session(const struct hint_facts *facts)
{
    return facts->run->setting->session ? ", session: \"new\"" : "";
}

char *hint_quoted(const char *message)
{
    const char *start = strchr(message, '\'');
    const char *end = start ? strchr(++start, '\'') : NULL;

    if (!end || end == start || end - start > QUOTED_BYTES)
        return NULL;
    return memory_format("%.*s", (int)(end - start), start);
}

/* For a path that could not be opened, only the first hint that applies is given. */
static char *hint_first(const hint_fn *table, size_t count, const struct hint_facts *facts)
{
    char *line = NULL;

    for (size_t i = 0; !line && i < count; i++)
        line = table[i](facts);
    return line;
}

static char *hint_closed_place(const struct hint_facts *facts)
{
    static const hint_fn table[] = {hint_home, hint_own_tmp, hint_hidden_path, hint_read_only,
                                    hint_left_directory};

    return hint_first(table, ARRAY_SIZE(table), facts);
}

static char *hint_path(const struct hint_facts *facts)
{
    static const hint_fn table[] = {hint_foreign_path, hint_foreign_name, hint_found_file,
                                    hint_closed_place, hint_missing_file};

    return hint_first(table, ARRAY_SIZE(table), facts);
}

/* Of several explanations of one failure, only the first is given. */
static char *hint_text(const struct hint_facts *facts)
{
    static const hint_fn table[] = {hint_fence,       hint_prose,         hint_escaped,
                                    hint_pip_command, hint_shell_command, hint_magic};

    return hint_first(table, ARRAY_SIZE(table), facts);
}

static char *hint_package(const struct hint_facts *facts)
{
    static const hint_fn table[] = {hint_module, hint_optional_module, hint_managed_python};

    return hint_first(table, ARRAY_SIZE(table), facts);
}

static char *hint_value(const struct hint_facts *facts)
{
    static const hint_fn table[] = {hint_input, hint_arguments, hint_variable, hint_standard_input};

    return hint_first(table, ARRAY_SIZE(table), facts);
}

static char *hint_privilege(const struct hint_facts *facts)
{
    static const hint_fn table[] = {hint_administrator, hint_system_packages, hint_refused_call};

    return hint_first(table, ARRAY_SIZE(table), facts);
}

/* In the order in which they are said: changes to the code, causes of failures, other facts. */
static const hint_fn hint_table[] = {
    hint_removed_fence,  hint_removed_magic,   hint_text,          hint_await,
    hint_package,        hint_unused_block,    hint_path,          hint_own_file,
    hint_project,        hint_network,         hint_privilege,     hint_value,
    hint_undefined_name, hint_threads,         hint_memory,        hint_timeout,
    hint_screen,         hint_notebook,        hint_crash,         hint_left_running,
    hint_lost_files,     hint_bare_expression, hint_missing_layer,
};

/* The hints for a cell of a session, whose variables and processes stay, and which shows the value
 * of its last expression. */
static const hint_fn hint_cell_table[] = {
    hint_text,  hint_package, hint_path,   hint_project, hint_network, hint_privilege,
    hint_value, hint_threads, hint_memory, hint_timeout, hint_screen,  hint_crash,
};

/* The hints for a person who has written the script. */
static const hint_fn hint_terminal_table[] = {
    hint_package,      hint_unused_block,    hint_network,    hint_closed_place,
    hint_refused_call, hint_system_packages, hint_input,      hint_threads,
    hint_memory,       hint_crash,           hint_lost_files,
};

/* A script that has succeeded may show a traceback as well. */
static void hints_read_failure(struct hint_facts *facts)
{
    if (!facts->run->is_success)
        traceback_read(&facts->failure, facts->errors);
}

static json_t *hints_find_in(const hint_fn *table, size_t count, const struct hint_facts *given)
{
    struct hint_facts facts = *given;
    json_t *said = json_array();

    facts.failure = (struct traceback){0};
    hints_read_failure(&facts);
    for (size_t i = 0; i < count; i++) {
        AUTO_FREE char *line = table[i](&facts);

        if (line && strlen(line) <= HINT_BYTES)
            json_array_append_new(said, json_string_format("%s", line));
    }
    traceback_deinit(&facts.failure);
    return said;
}

json_t *hints_find(const struct hint_facts *facts)
{
    if (facts->is_at_terminal)
        return hints_find_in(hint_terminal_table, ARRAY_SIZE(hint_terminal_table), facts);
    if (facts->run->setting->session)
        return hints_find_in(hint_cell_table, ARRAY_SIZE(hint_cell_table), facts);
    return hints_find_in(hint_table, ARRAY_SIZE(hint_table), facts);
}
