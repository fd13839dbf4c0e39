#include "server/tools/code/pip_line.h"

#include "base/cleanup.h"
#include "base/json.h"
#include "base/memory.h"
#include "environments/packages/requirement.h"

#include <string.h>

/* A person who is asked sees all of them. */
enum {
    PIP_LINES_MOST = 200,
    PIP_LINES_BYTES = 16 * 1024, /* of all packages of a cell */
};

/* Options without a value, which mean nothing to a new environment. */
static bool pip_line_is_harmless(const char *option)
{
    static const char *const options[] = {
        "-q",
        "-qq",
        "-qqq",
        "-U",
        "--quiet",
        "--upgrade",
        "--user",
        "--system",
        "--no-cache-dir",
        "--no-input",
        "--break-system-packages",
        "--disable-pip-version-check",
    };

    for (size_t i = 0; i < ARRAY_SIZE(options); i++)
        if (strcmp(option, options[i]) == 0)
            return true;
    return false;
}

/* A name with extras and versions: no character has a meaning for a shell, and the word is no path
 * or option for an installer. */
static bool pip_line_is_package(const char *word)
{
    return *word != '.' && word[strspn(word, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
                                             "0123456789._-[],<>=!~")] == '\0';
}

/* The next word of the text at *REST, which is cut there; NULL at the end. */
static char *pip_line_word(char **rest)
{
    char *word;

    do
        word = strsep(rest, " \t");
    while (word && !*word);
    return word;
}

static bool pip_line_has_words(char **rest, const char *const *words)
{
    for (size_t i = 0; words[i]; i++) {
        const char *word = pip_line_word(rest);

        if (!word || strcmp(word, words[i]) != 0)
            return false;
    }
    return true;
}

/* Moves over the command up to "install". */
static bool pip_line_is_command(const char *program, char **rest)
{
    static const char *const install[] = {"install", NULL};
    static const char *const of_uv[] = {"pip", "install", NULL};
    static const char *const module[] = {"-m", "pip", "install", NULL};
    static const struct {
        const char *program;
        const char *const *words;
    } commands[] = {{"pip", install},   {"pip3", install},   {"uv", of_uv},
                    {"python", module}, {"python3", module}, {"{sys.executable}", module}};

    for (size_t i = 0; program && i < ARRAY_SIZE(commands); i++)
        if (strcmp(program, commands[i].program) == 0)
            return pip_line_has_words(rest, commands[i].words);
    return false;
}

/* WORD without quotes around it; in place. */
static char *pip_line_unquote(char *word)
{
    const size_t length = strlen(word);

    if (length < 2 || (*word != '"' && *word != '\'') || word[length - 1] != *word)
        return word;
    word[length - 1] = '\0';
    return word + 1;
}

static json_t *pip_line_packages(char **rest)
{
    json_t *packages = json_array();
    char *word;

    while ((word = pip_line_word(rest))) {
        const char *bare = pip_line_unquote(word);

        if (pip_line_is_harmless(bare))
            continue;
        if (*bare == '-' || !pip_line_is_package(bare)) {
            json_decref(packages);
            return NULL;
        }
        json_array_append_new(packages, json_string(bare));
    }
    return packages;
}

bool pip_line_read(const struct python_line *line, json_t **ret)
{
    AUTO_FREE char *text = memory_format("%.*s", (int)line->length, line->text);
    char *rest = text + 1;
    const char *program;

    *ret = NULL;
    if (*text != '!' && *text != '%')
        return false;
    program = pip_line_word(&rest);
    if (!pip_line_is_command(program, &rest))
        return false;
    *ret = pip_line_packages(&rest);
    return true;
}

/* A cell of this magic has another language than Python, or gives its lines to a program. */
static bool pip_lines_are_code(const char *code, size_t length)
{
    struct python_source source;
    struct python_line line;

    python_source_init(&source, code, length);
    return python_source_next(&source, &line) &&
           (line.length < 2 || memcmp(line.text, "%%", 2) != 0);
}

/* Moves to the next command. */
static bool pip_lines_next(struct python_source *source, struct python_line *ret,
                           json_t **ret_packages)
{
    while (python_source_next(source, ret))
        if (ret->indent == 0 && pip_line_read(ret, ret_packages))
            return true;
    return false;
}

static bool pip_lines_are_packages(const json_t *packages)
{
    const json_t *package;
    size_t i;

    json_array_foreach (packages, i, package) {
        const char *text = json_string_value(package);
        struct requirement requirement;
        struct error ignored = ERROR_INIT;

        if (requirement_parse(&requirement, text, strlen(text), &ignored) < 0)
            return false;
        requirement_deinit(&requirement);
    }
    return json_array_size(packages) > 0;
}

static size_t pip_lines_length(const json_t *packages)
{
    size_t length = 0;
    const json_t *package;
    size_t i;

    json_array_foreach (packages, i, package)
        length += json_string_length(package) + 1;
    return length;
}

/* PACKAGES of line NUMBER come to ALL. */
static int pip_lines_add(json_t *all, json_t *packages, unsigned number, struct error *err)
{
    if (packages && json_array_size(packages) + json_array_size(all) > PIP_LINES_MOST)
        return error_set(err, ERROR_INVALID_ARGUMENTS,
                         "nothing ran: line %u: a cell installs at most %d packages", number,
                         PIP_LINES_MOST);
    if (!pip_lines_are_packages(packages))
        return error_set(
            err, ERROR_INVALID_ARGUMENTS,
            "nothing ran: line %u may only name packages, with extras and versions, "
            "as in %%pip install 'rich>=13' tqdm; leave files, URLs, options and other "
            "commands out of it",
            number);
    json_array_extend(all, packages);
    if (pip_lines_length(all) <= PIP_LINES_BYTES)
        return 0;
    return error_set(err, ERROR_INVALID_ARGUMENTS,
                     "nothing ran: line %u: the packages of a cell are too long, over %d bytes",
                     number, PIP_LINES_BYTES);
}

static int pip_lines_collect(struct python_source *source, json_t *all, struct error *err)
{
    struct python_line line;
    json_t *packages;

    while (pip_lines_next(source, &line, &packages)) {
        AUTO_JSON json_t *own = packages;

        if (pip_lines_add(all, own, line.number, err) < 0)
            return -1;
    }
    return 0;
}

/* Where a string or a bracket is not closed, a line may be a part of it. */
int pip_lines_read(const char *code, size_t length, json_t **ret, struct error *err)
{
    AUTO_JSON json_t *all = json_array();
    struct error refused = ERROR_INIT;
    struct python_source source;
    struct python_line line;
    int result;

    *ret = NULL;
    if (!pip_lines_are_code(code, length))
        return 0;
    python_source_init(&source, code, length);
    result = pip_lines_collect(&source, all, &refused);
    while (python_source_next(&source, &line)) /* to its end */
        continue;
    if (source.is_lost)
        return 0;
    if (result < 0)
        error_copy(err, &refused);
    else if (json_array_size(all) > 0)
        *ret = json_incref(all);
    return result;
}

void pip_lines_blank(char *code, size_t length)
{
    struct python_source source;
    struct python_line line;
    json_t *packages;

    python_source_init(&source, code, length);
    while (pip_lines_next(&source, &line, &packages)) {
        json_decref(packages);
        memset(code + (line.text - code), ' ', line.length);
    }
}
