#include "environments/packages/requirement.h"

#include "base/ascii.h"
#include "base/buffer.h"
#include "base/cleanup.h"
#include "base/memory.h"

#include <stdbool.h>
#include <string.h>
#include <strings.h>

enum {
    TEXT_BYTES = 64 * 1024, /* of one requirement with its hashes */
    MARKER_DEPTH = 16,      /* parentheses inside parentheses */
};

/* The text that is read, and the result so far. */
struct requirement_reader {
    const char *at;
    const char *end;
    struct buffer text;
    struct error *err;
};

static int requirement_refuse(struct requirement_reader *reader, const char *reason)
{
    return error_set(reader->err, ERROR_CONFIG, "%s", reason);
}

static bool is_alphanumeric(char c)
{
    return ascii_is_digit(c) || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

static void skip_blanks(struct requirement_reader *reader)
{
    while (reader->at < reader->end && (*reader->at == ' ' || *reader->at == '\t'))
        reader->at++;
}

static char requirement_peek(const struct requirement_reader *reader)
{
    return reader->at < reader->end ? *reader->at : '\0';
}

/* There is always room: the result has twice the size of the input, and a blank is added only
 * beside a word of at least two letters. */
static void requirement_keep(struct requirement_reader *reader, const char *bytes, size_t length)
{
    struct error ignored = ERROR_INIT;

    (void)buffer_append(&reader->text, bytes, length, &ignored);
}

static bool requirement_is_at(const struct requirement_reader *reader, const char *token)
{
    size_t length = strlen(token);

    return (size_t)(reader->end - reader->at) >= length && memcmp(reader->at, token, length) == 0;
}

/* Moves over LENGTH bytes and the blanks behind them. */
static void take_bytes(struct requirement_reader *reader, size_t length)
{
    requirement_keep(reader, reader->at, length);
    reader->at += length;
    skip_blanks(reader);
}

/* Moves over TOKEN. False if something else follows. */
static bool requirement_take(struct requirement_reader *reader, const char *token)
{
    if (!requirement_is_at(reader, token))
        return false;
    take_bytes(reader, strlen(token));
    return true;
}

/* The length of the text from here that begins with a letter or digit and consists of letters,
 * digits and FURTHER. */
static size_t word_length(const struct requirement_reader *reader, const char *further)
{
    const char *at = reader->at;

    if (!is_alphanumeric(requirement_peek(reader)))
        return 0;
    while (at < reader->end && (is_alphanumeric(*at) || (*at && strchr(further, *at))))
        at++;
    return (size_t)(at - reader->at);
}

static int read_word(struct requirement_reader *reader, const char *further, const char *reason)
{
    size_t length = word_length(reader, further);

    if (length == 0)
        return requirement_refuse(reader, reason);
    take_bytes(reader, length);
    return 0;
}

/* Name and extras */

static bool requirement_ends_with(const char *text, size_t length, const char *end)
{
    size_t end_length = strlen(end);

    return length > end_length && strncasecmp(text + length - end_length, end, end_length) == 0;
}

/* Installers take a name that looks like an archive for a file. */
static bool is_archive(const char *name, size_t length)
{
    static const char *const ends[] = {".whl",     ".zip",     ".tar", ".tar.gz",  ".tgz",
                                       ".tar.bz2", ".tbz",     ".txz", ".tar.xz",  ".tlz",
                                       ".tar.lz",  ".tar.zst", ".egg", ".tar.lzma"};

    for (size_t i = 0; i < ARRAY_SIZE(ends); i++)
        if (requirement_ends_with(name, length, ends[i]))
            return true;
    return false;
}

static bool has_before_blank(const struct requirement_reader *reader, const char *needle)
{
    const char *end = reader->at;

    while (end < reader->end && *end != ' ' && *end != '\t')
        end++;
    return memmem(reader->at, (size_t)(end - reader->at), needle, strlen(needle)) != NULL;
}

/* Names the thing that stands in the place of a name: a path, a URL, an option. */
static int refuse_name(struct requirement_reader *reader)
{
    if (requirement_peek(reader) == '-')
        return requirement_refuse(
            reader, "options are not taken (-r, -c, -e and all the others), only packages "
                    "by name");
    if (has_before_blank(reader, "://") || has_before_blank(reader, "git+"))
        return requirement_refuse(reader, "URLs are not taken, only packages by name");
    if (requirement_peek(reader) == '.' || requirement_peek(reader) == '~' ||
        has_before_blank(reader, "/") || has_before_blank(reader, "\\"))
        return requirement_refuse(reader, "paths are not taken, only packages by name");
    return requirement_refuse(reader, "there is no package name");
}

static int read_name(struct requirement_reader *reader, struct requirement *requirement)
{
    size_t length = word_length(reader, "._-");

    if (length == 0 || has_before_blank(reader, "://") || has_before_blank(reader, "/") ||
        has_before_blank(reader, "\\"))
        return refuse_name(reader);
    if (is_archive(reader->at, length))
        return requirement_refuse(reader, "paths of archives are not taken, only packages by name");
    if (!is_alphanumeric(reader->at[length - 1]))
        return requirement_refuse(reader, "a package name ends with a letter or a digit");
    requirement->name_length = length;
    take_bytes(reader, length);
    return 0;
}

static int read_extras(struct requirement_reader *reader)
{
    static const char reason[] = "extras are names between brackets, as in name[one,two]";

    if (!requirement_take(reader, "["))
        return 0;
    if (requirement_take(reader, "]"))
        return 0;
    do
        if (read_word(reader, "._-", reason) < 0)
            return -1;
    while (requirement_take(reader, ","));
    return requirement_take(reader, "]") ? 0 : requirement_refuse(reader, reason);
}

/* Versions */

static bool take_comparison(struct requirement_reader *reader)
{
    static const char *const operators[] = {"===", "==", "~=", "!=", "<=", ">=", "<", ">"};

    for (size_t i = 0; i < ARRAY_SIZE(operators); i++)
        if (requirement_take(reader, operators[i]))
            return true;
    return false;
}

static int read_clauses(struct requirement_reader *reader)
{
    static const char reason[] = "a version clause is a comparison and a version, as in >=1.2,<3";

    do
        if (!take_comparison(reader))
            return requirement_refuse(reader, reason);
        else if (read_word(reader, "._-*+!", reason) < 0)
            return -1;
    while (requirement_take(reader, ","));
    return 0;
}

/* Removes the parentheses that an older form has around the clauses. */
static int read_versions(struct requirement_reader *reader)
{
    if (requirement_peek(reader) == '(') {
        reader->at++;
        skip_blanks(reader);
        if (read_clauses(reader) < 0)
            return -1;
        if (requirement_peek(reader) != ')')
            return requirement_refuse(reader,
                                      "the parenthesis around the version clauses is not closed");
        reader->at++;
        skip_blanks(reader);
        return 0;
    }
    if (requirement_peek(reader) && strchr("=~!<>", requirement_peek(reader)))
        return read_clauses(reader);
    return 0;
}

/* Markers */

static const char bad_marker[] =
    "a marker compares what it knows of the Python with a text in quotes, as in "
    "python_version >= \"3.9\"";

/* Blanks between the quotes are refused, since installers look for options behind them. */
static int read_quoted(struct requirement_reader *reader)
{
    const char quote[] = {requirement_peek(reader), '\0'};

    take_bytes(reader, 1);
    if (requirement_peek(reader) != quote[0] && read_word(reader, "._-*+!", bad_marker) < 0)
        return -1;
    return requirement_take(reader, quote) ? 0 : requirement_refuse(reader, bad_marker);
}

static bool take_variable(struct requirement_reader *reader)
{
    static const char *const variables[] = {
        "python_version",      "python_full_version",    "os_name",
        "sys_platform",        "platform_release",       "platform_system",
        "platform_version",    "platform_machine",       "platform_python_implementation",
        "implementation_name", "implementation_version", "extra"};
    size_t length = word_length(reader, "_");

    for (size_t i = 0; i < ARRAY_SIZE(variables); i++)
        if (strlen(variables[i]) == length && requirement_take(reader, variables[i]))
            return true;
    return false;
}

static int read_operand(struct requirement_reader *reader)
{
    if (requirement_peek(reader) == '"' || requirement_peek(reader) == '\'')
        return read_quoted(reader);
    return take_variable(reader) ? 0 : requirement_refuse(reader, bad_marker);
}

/* Moves over WORD, which is kept with a blank on either side. */
static bool take_word(struct requirement_reader *reader, const char *word)
{
    if (word_length(reader, "_") != strlen(word) || !requirement_is_at(reader, word))
        return false;
    requirement_keep(reader, " ", 1);
    take_bytes(reader, strlen(word));
    requirement_keep(reader, " ", 1);
    return true;
}

static bool take_operator(struct requirement_reader *reader)
{
    if (take_comparison(reader) || take_word(reader, "in"))
        return true;
    return take_word(reader, "not") && take_word(reader, "in");
}

static int read_alternatives(struct requirement_reader *reader, unsigned depth);

static int read_condition(struct requirement_reader *reader, unsigned depth)
{
    if (requirement_take(reader, "(")) {
        if (depth == MARKER_DEPTH)
            return requirement_refuse(reader, "a marker has too many parentheses");
        if (read_alternatives(reader, depth + 1) < 0)
            return -1;
        return requirement_take(reader, ")")
                   ? 0
                   : requirement_refuse(reader, "a parenthesis of the marker is not closed");
    }
    if (read_operand(reader) < 0)
        return -1;
    return take_operator(reader) ? read_operand(reader) : requirement_refuse(reader, bad_marker);
}

static int read_conjunction(struct requirement_reader *reader, unsigned depth)
{
    do
        if (read_condition(reader, depth) < 0)
            return -1;
    while (take_word(reader, "and"));
    return 0;
}

static int read_alternatives(struct requirement_reader *reader, unsigned depth)
{
    do
        if (read_conjunction(reader, depth) < 0)
            return -1;
    while (take_word(reader, "or"));
    return 0;
}

static int read_marker(struct requirement_reader *reader)
{
    return requirement_take(reader, ";") ? read_alternatives(reader, 0) : 0;
}

/* Hashes */

static size_t count_digits(const struct requirement_reader *reader, size_t offset)
{
    size_t count = 0;

    for (const char *at = reader->at + offset; at < reader->end; at++, count++)
        if (!*at || !strchr("0123456789abcdefABCDEF", *at))
            break;
    return count;
}

static int read_hash(struct requirement_reader *reader)
{
    static const struct {
        const char *option;
        size_t digits;
    } algorithms[] = {{"--hash=sha256:", 64}, {"--hash=sha384:", 96}, {"--hash=sha512:", 128}};

    for (size_t i = 0; i < ARRAY_SIZE(algorithms); i++) {
        size_t length = strlen(algorithms[i].option);

        if (!requirement_is_at(reader, algorithms[i].option) ||
            count_digits(reader, length) != algorithms[i].digits)
            continue;
        requirement_keep(reader, " ", 1);
        take_bytes(reader, length + algorithms[i].digits);
        return 0;
    }
    return requirement_refuse(
        reader, "the only option that is taken is --hash=sha256:..., or sha384 or sha512 "
                "with as many digits as it has");
}

static int read_hashes(struct requirement_reader *reader)
{
    while (requirement_peek(reader) == '-')
        if (read_hash(reader) < 0)
            return -1;
    return 0;
}

/* All together */

static int refuse_rest(struct requirement_reader *reader)
{
    if (requirement_peek(reader) == '@')
        return requirement_refuse(
            reader, "URLs behind \"@\" are not taken, only packages by name and version");
    return requirement_refuse(
        reader, "there is something behind the package that is no version clause, marker "
                "or hash");
}

static char *copy_text(const struct requirement_reader *reader)
{
    return memory_format("%.*s", (int)buffer_length(&reader->text), buffer_bytes(&reader->text));
}

static int read_all(struct requirement_reader *reader, struct requirement *requirement)
{
    skip_blanks(reader);
    if (read_name(reader, requirement) < 0 || read_extras(reader) < 0 ||
        read_versions(reader) < 0 || read_marker(reader) < 0)
        return -1;
    requirement->text = copy_text(reader);
    buffer_consume(&reader->text, buffer_length(&reader->text));
    if (read_hashes(reader) < 0)
        return -1;
    requirement->hashes = copy_text(reader);
    return reader->at == reader->end ? 0 : refuse_rest(reader);
}

int requirement_parse(struct requirement *ret, const char *text, size_t length, struct error *err)
{
    struct requirement_reader reader = {.at = text, .end = text + length, .err = err};
    struct requirement requirement = {0};
    int result;

    if (length > TEXT_BYTES)
        return error_set(err, ERROR_CONFIG, "it is longer than %d bytes", TEXT_BYTES);
    buffer_init(&reader.text, (size_t)2 * TEXT_BYTES);
    result = read_all(&reader, &requirement);
    buffer_deinit(&reader.text);
    if (result < 0)
        requirement_deinit(&requirement);
    else
        *ret = requirement;
    return result;
}

void requirement_deinit(struct requirement *requirement)
{
    free(requirement->text);
    free(requirement->hashes);
    *requirement = (struct requirement){0};
}

static bool requirement_is_mark(char c)
{
    return c == '-' || c == '_' || c == '.';
}

/* The character as names are compared; '\0': it ends the name. */
static char requirement_fold(char c)
{
    if (c >= 'A' && c <= 'Z')
        return (char)(c - 'A' + 'a');
    if (requirement_is_mark(c))
        return '-';
    return (c >= 'a' && c <= 'z') || ascii_is_digit(c) ? c : '\0';
}

char *requirement_name(const char *text)
{
    char *ret = memory_new(strlen(text) + 1, 1);
    size_t length = 0;

    for (const char *at = text; requirement_fold(*at); at++)
        if (!requirement_is_mark(*at) || length == 0 || ret[length - 1] != '-')
            ret[length++] = requirement_fold(*at);
    ret[length] = '\0';
    return ret;
}
