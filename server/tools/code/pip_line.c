#include "server/tools/code/pip_line.h"

#include "base/cleanup.h"
#include "base/json.h"
#include "base/memory.h"
#include "environments/packages/requirement.h"

#include <stdlib.h>
#include <string.h>

/* A person who is asked sees all of them. */
enum {
    PIP_LINES_MOST = 200,
    PIP_LINES_BYTES = 16 * 1024, /* of all packages of a cell */
};

static bool pip_line_is_among(const char *word, const char *const *words)
{
    for (; *words; words++)
        if (strcmp(word, *words) == 0)
            return true;
    return false;
}

/* Options without a value, which mean nothing to a new environment. */
static bool pip_line_is_harmless(const char *word)
{
    static const char *const options[] = {"--quiet",
                                          "--verbose",
                                          "--upgrade",
                                          "--user",
                                          "--system",
                                          "--no-cache-dir",
                                          "--no-input",
                                          "--break-system-packages",
                                          "--disable-pip-version-check",
                                          NULL};
    const size_t letters = *word == '-' ? strspn(word + 1, "qvU") : 0;

    return (letters > 0 && !word[1 + letters]) || pip_line_is_among(word, options);
}

/* The next word of the text at *REST, which is cut there, with its quotes; NULL at the end. */
static char *pip_line_word(char **rest)
{
    char *word = *rest + strspn(*rest, " \t");
    char *end = word;

    while (*end && *end != ' ' && *end != '\t') {
        const char *closed = *end == '"' || *end == '\'' ? strchr(end + 1, *end) : NULL;

        end += closed ? closed - end + 1 : 1;
    }
    *rest = end + (*end != '\0');
    *end = '\0';
    return *word ? word : NULL;
}

/* WORD sends what an installer prints to nowhere. Takes its other half from REST. */
static bool pip_line_silences(const char *word, char **rest)
{
    static const char *const whole[] = {">/dev/null",  "1>/dev/null", "2>/dev/null",
                                        "&>/dev/null", "2>&1",        NULL};
    static const char *const halves[] = {">", "1>", "2>", "&>", NULL};
    const char *other;

    if (!pip_line_is_among(word, halves))
        return pip_line_is_among(word, whole);
    other = pip_line_word(rest);
    return other && strcmp(other, "/dev/null") == 0;
}

/* Also with options that say how much is printed. */
static bool pip_line_has_words(char **rest, const char *const *words)
{
    for (; *words; words++) {
        const char *word = pip_line_word(rest);

        while (word && pip_line_is_harmless(word))
            word = pip_line_word(rest);
        if (!word || strcmp(word, *words) != 0)
            return false;
    }
    return true;
}

/* Moves over the command up to "install". Which Python a program belongs to does not matter. */
static bool pip_line_is_command(const char *program, char **rest)
{
    static const char *const install[] = {"install", NULL};
    static const char *const of_uv[] = {"pip", "install", NULL};
    static const char *const module[] = {"-m", "pip", "install", NULL};
    static const struct {
        const char *program;
        const char *const *words;
    } commands[] = {
        {"pip", install}, {"uv", of_uv}, {"python", module}, {"{sys.executable}", module}};

    for (size_t i = 0; program && i < ARRAY_SIZE(commands); i++) {
        const size_t length = strlen(commands[i].program);

        if (strncmp(program, commands[i].program, length) == 0 &&
            !program[length + strspn(program + length, ".0123456789")])
            return pip_line_has_words(rest, commands[i].words);
    }
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

/* Adds WORD to PACKAGES as an installer gets it: a name with extras and versions. No character has
 * a meaning for a shell, and it is no path or option. */
static bool pip_line_add(json_t *packages, const char *word)
{
    struct requirement requirement;
    struct error ignored = ERROR_INIT;

    if (word[strspn(word, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
                          "0123456789._-[],<>=!~ ")] ||
        requirement_parse(&requirement, word, strlen(word), &ignored) < 0)
        return false;
    json_array_append_new(packages, json_string(requirement.text));
    requirement_deinit(&requirement);
    return true;
}

/* The packages of REST, up to the first that is one too many for a cell. NULL, and *RET_WRONG the
 * word that is none: owned by the caller. */
static json_t *pip_line_packages(char *rest, char **ret_wrong)
{
    json_t *packages = json_array();
    char *word;

    while (json_array_size(packages) <= PIP_LINES_MOST && (word = pip_line_word(&rest))) {
        const char *bare = pip_line_unquote(word);

        if (pip_line_is_harmless(bare) || pip_line_silences(bare, &rest) ||
            pip_line_add(packages, bare))
            continue;
        *ret_wrong = memory_copy_string(bare);
        json_decref(packages);
        return NULL;
    }
    return packages;
}

/* The text of LINE in one line, without the ";" that may end it. Owned by the caller. */
static char *pip_line_join(const struct python_line *line)
{
    char *text = memory_format("%.*s", (int)line->length, line->text);
    size_t length = strlen(text);

    for (size_t i = 0; i < length; i++)
        if (text[i] == '\\' && (text[i + 1] == '\n' || text[i + 1] == '\r'))
            text[i] = ' ';
    for (size_t i = 0; i < length; i++)
        if (text[i] == '\n' || text[i] == '\r')
            text[i] = ' ';
    while (length > 0 && (text[length - 1] == ' ' || text[length - 1] == '\t'))
        length--;
    if (length > 0 && text[length - 1] == ';')
        text[length - 1] = '\0';
    return text;
}

/* As pip_line_read(). *RET_WRONG: owned by the caller, or NULL. A command alone is no Python, and
 * IPython takes it, too. */
static bool pip_line_take(const struct python_line *line, json_t **ret, char **ret_wrong)
{
    AUTO_FREE char *text = NULL;
    char *rest;
    const char *program;

    *ret = NULL;
    *ret_wrong = NULL;
    if (memchr(line->text, '\0', line->length))
        return false;
    text = pip_line_join(line);
    rest = text + strspn(text, "!%");
    program = pip_line_word(&rest);
    if (!pip_line_is_command(program, &rest))
        return false;
    *ret = pip_line_packages(rest, ret_wrong);
    return true;
}

bool pip_line_read(const struct python_line *line, json_t **ret)
{
    AUTO_FREE char *wrong = NULL;

    return pip_line_take(line, ret, &wrong);
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
                           json_t **ret_packages, char **ret_wrong)
{
    while (python_source_next(source, ret))
        if (ret->indent == 0 && pip_line_take(ret, ret_packages, ret_wrong))
            return true;
    return false;
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

/* A later requirement replaces its namesake. */
static void pip_lines_put(json_t *all, json_t *package)
{
    AUTO_FREE char *name = requirement_name(json_string_value(package));
    const json_t *other;
    size_t i;

    json_array_foreach (all, i, other) {
        AUTO_FREE char *another = requirement_name(json_string_value(other));

        if (strcmp(name, another) == 0) {
            json_array_set(all, i, package);
            return;
        }
    }
    json_array_append(all, package);
}

/* PACKAGES of line NUMBER come to ALL. *COUNT is of all that were named, also twice. */
static int pip_lines_add(json_t *all, const json_t *packages, size_t *count, unsigned number,
                         struct error *err)
{
    json_t *package;
    size_t i;

    *count += json_array_size(packages);
    if (*count > PIP_LINES_MOST)
        return error_set(err, ERROR_INVALID_ARGUMENTS,
                         "nothing ran: line %u: a cell installs at most %d packages", number,
                         PIP_LINES_MOST);
    json_array_foreach (packages, i, package)
        pip_lines_put(all, package);
    if (pip_lines_length(all) <= PIP_LINES_BYTES)
        return 0;
    return error_set(err, ERROR_INVALID_ARGUMENTS,
                     "nothing ran: line %u: the packages of a cell are too long, over %d bytes",
                     number, PIP_LINES_BYTES);
}

/* WRONG: NULL where the line names nothing. */
static int pip_lines_refuse(const char *wrong, unsigned number, struct error *err)
{
    AUTO_FREE char *quoted = wrong ? memory_format("leave \"%.80s\" out of it", wrong) : NULL;

    return error_set(err, ERROR_INVALID_ARGUMENTS,
                     "nothing ran: line %u may only name packages, with extras and versions, as in "
                     "%%pip install 'rich>=13' tqdm; %s",
                     number, quoted ? quoted : "it names none");
}

static int pip_lines_collect(struct python_source *source, json_t *all, struct error *err)
{
    struct python_line line;
    json_t *packages;
    size_t count = 0;
    char *word;

    while (pip_lines_next(source, &line, &packages, &word)) {
        AUTO_JSON json_t *own = packages;
        AUTO_FREE char *wrong = word;

        if (json_array_size(own) == 0)
            return pip_lines_refuse(wrong, line.number, err);
        if (pip_lines_add(all, own, &count, line.number, err) < 0)
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
    char *wrong;

    python_source_init(&source, code, length);
    while (pip_lines_next(&source, &line, &packages, &wrong)) {
        char *text = code + (line.text - code);

        json_decref(packages);
        free(wrong);
        for (size_t i = 0; i < line.length; i++)
            if (text[i] != '\n' && text[i] != '\r')
                text[i] = ' ';
    }
}
