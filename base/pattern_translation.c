#include "base/pattern_translation.h"

#include "base/memory.h"

#include <ctype.h>
#include <stdbool.h>
#include <string.h>

/* The rest of the expression, and the buffer that gets its translation. */
struct translation {
    const char *at;  /* borrowed: the next character */
    const char *end; /* borrowed: behind the last one */
    bool in_class;
    struct buffer *output; /* borrowed */
};

/* White space and line ends of ECMA-262 (12.2, 12.3), as members of a character class. */
#define SPACES                                                                                     \
    "\\x09-\\x0d\\x20\\x{a0}\\x{1680}\\x{2000}-\\x{200a}\\x{2028}\\x{2029}\\x{202f}\\x{205f}\\x{"  \
    "3000}\\x{feff}"
#define LINE_ENDS "\\x0a\\x0d\\x{2028}\\x{2029}"

/* Unicode's long names of general categories, which PCRE2 does not know. */
static const struct {
    const char *name;
    const char *category;
} category_names[] = {
    {"Cased_Letter", "L&"},
    {"Close_Punctuation", "Pe"},
    {"Connector_Punctuation", "Pc"},
    {"Control", "Cc"},
    {"Currency_Symbol", "Sc"},
    {"Dash_Punctuation", "Pd"},
    {"Decimal_Number", "Nd"},
    {"Enclosing_Mark", "Me"},
    {"Final_Punctuation", "Pf"},
    {"Format", "Cf"},
    {"Initial_Punctuation", "Pi"},
    {"Letter", "L"},
    {"Letter_Number", "Nl"},
    {"Line_Separator", "Zl"},
    {"Lowercase_Letter", "Ll"},
    {"Mark", "M"},
    {"Math_Symbol", "Sm"},
    {"Modifier_Letter", "Lm"},
    {"Modifier_Symbol", "Sk"},
    {"Nonspacing_Mark", "Mn"},
    {"Number", "N"},
    {"Open_Punctuation", "Ps"},
    {"Other", "C"},
    {"Other_Letter", "Lo"},
    {"Other_Number", "No"},
    {"Other_Punctuation", "Po"},
    {"Other_Symbol", "So"},
    {"Paragraph_Separator", "Zp"},
    {"Private_Use", "Co"},
    {"Punctuation", "P"},
    {"Separator", "Z"},
    {"Space_Separator", "Zs"},
    {"Spacing_Mark", "Mc"},
    {"Surrogate", "Cs"},
    {"Symbol", "S"},
    {"Titlecase_Letter", "Lt"},
    {"Unassigned", "Cn"},
    {"Uppercase_Letter", "Lu"},
    {"cntrl", "Cc"},
    {"digit", "Nd"},
    {"punct", "P"},
};

static int pattern_translation_emit(struct translation *translation, const char *text,
                                    size_t length, struct error *err)
{
    return buffer_append(translation->output, text, length, err);
}

static int emit_string(struct translation *translation, const char *text, struct error *err)
{
    return pattern_translation_emit(translation, text, strlen(text), err);
}

static size_t pattern_translation_left(const struct translation *translation)
{
    return (size_t)(translation->end - translation->at);
}

static bool starts_with(const struct translation *translation, const char *text)
{
    return pattern_translation_left(translation) >= strlen(text) &&
           memcmp(translation->at, text, strlen(text)) == 0;
}

static int not_ecma(const struct translation *translation, size_t length, struct error *err)
{
    if (length > pattern_translation_left(translation))
        length = pattern_translation_left(translation);
    return error_set(err, ERROR_CONFIG, "\"%.*s\" is not an expression of ECMA-262", (int)length,
                     translation->at);
}

/* DIGITS hexadecimal digits at AT; -1 when there are fewer. */
static long read_hexadecimal(const char *at, const char *end, size_t digits)
{
    long value = 0;

    if ((size_t)(end - at) < digits)
        return -1;
    for (size_t i = 0; i < digits; i++) {
        if (!isxdigit((unsigned char)at[i]))
            return -1;
        value =
            16 * value + (isdigit((unsigned char)at[i]) ? at[i] - '0' : (at[i] | 0x20) - 'a' + 10);
    }
    return value;
}

static int emit_character(struct translation *translation, long character, struct error *err)
{
    return buffer_append_format(translation->output, err, "\\x{%lx}", (unsigned long)character);
}

/* \u{1F432}, \u2603, and the pair of surrogates \uD83D\uDC32, which is one character. */
static int translate_unicode(struct translation *translation, struct error *err)
{
    const char *digits = translation->at + 2;
    const char *end = translation->end;
    const char *brace = digits < end && *digits == '{'
                            ? memchr(digits, '}', pattern_translation_left(translation) - 2)
                            : NULL;
    long character = -1;
    long low;

    if (brace) {
        digits++;
        if (brace - digits >= 1 && brace - digits <= 6)
            character = read_hexadecimal(digits, end, (size_t)(brace - digits));
        digits = brace + 1;
    } else {
        character = read_hexadecimal(digits, end, 4);
        digits += 4;
    }
    if (character < 0)
        return not_ecma(translation, 2, err);
    if (character >= 0xD800 && character < 0xDC00 && end - digits >= 6 && digits[0] == '\\' &&
        digits[1] == 'u') {
        low = read_hexadecimal(digits + 2, end, 4);
        if (low >= 0xDC00 && low < 0xE000) {
            character = 0x10000 + ((character - 0xD800) << 10) + (low - 0xDC00);
            digits += 6;
        }
    }
    translation->at = digits;
    return emit_character(translation, character, err);
}

/* \xHH */
static int translate_byte(struct translation *translation, struct error *err)
{
    long character = read_hexadecimal(translation->at + 2, translation->end, 2);

    if (character < 0)
        return not_ecma(translation, 2, err);
    translation->at += 4;
    return emit_character(translation, character, err);
}

static const char *category_find(const char *name, size_t length)
{
    for (size_t i = 0; i < ARRAY_SIZE(category_names); i++)
        if (strlen(category_names[i].name) == length &&
            memcmp(category_names[i].name, name, length) == 0)
            return category_names[i].category;
    return NULL;
}

/* \p{Letter}, \p{gc=Letter}, \P{Script=Greek}, \p{L} */
static int translate_property(struct translation *translation, struct error *err)
{
    static const char *const prefixes[] = {"General_Category=", "gc="};
    const char *name = translation->at + 3;
    const char *close = pattern_translation_left(translation) > 3
                            ? memchr(name, '}', pattern_translation_left(translation) - 3)
                            : NULL;
    const char *category;
    size_t length;

    if (!close || translation->at[2] != '{')
        return not_ecma(translation, 2, err);
    length = (size_t)(close - name);
    for (size_t i = 0; i < 2; i++)
        if (length > strlen(prefixes[i]) && memcmp(name, prefixes[i], strlen(prefixes[i])) == 0) {
            name += strlen(prefixes[i]);
            length -= strlen(prefixes[i]);
            break;
        }
    category = category_find(name, length);
    if (category) {
        name = category;
        length = strlen(category);
    }
    if (pattern_translation_emit(translation, translation->at, 3, err) < 0 ||
        pattern_translation_emit(translation, name, length, err) < 0)
        return -1;
    translation->at = close + 1;
    return emit_string(translation, "}", err);
}

/* A translated escape of two characters: its translations outside and inside of [...]. */
static const struct {
    char letter;
    const char *outside;
    const char *inside;
} escapes[] = {
    {'s', "[" SPACES "]", SPACES},
    {'S', "[^" SPACES "]", NULL}, /* no class can be subtracted from another */
    {'v', "\\x0b", "\\x0b"},
    {'0', "\\x{0}", "\\x{0}"},
    {'b', "\\b", "\\x08"},
    {'B', "\\B", NULL},
    {'d', "\\d", "\\d"},
    {'D', "\\D", "\\D"},
    {'w', "\\w", "\\w"},
    {'W', "\\W", "\\W"},
    {'t', "\\x09", "\\x09"},
    {'n', "\\x0a", "\\x0a"},
    {'f', "\\x0c", "\\x0c"},
    {'r', "\\x0d", "\\x0d"},
};

static int translate_listed_escape(struct translation *translation, struct error *err)
{
    char letter = translation->at[1];

    for (size_t i = 0; i < ARRAY_SIZE(escapes); i++) {
        const char *text = translation->in_class ? escapes[i].inside : escapes[i].outside;

        if (escapes[i].letter != letter || !text)
            continue;
        translation->at += 2;
        return emit_string(translation, text, err);
    }
    return not_ecma(translation, 2, err);
}

/* \cJ */
static int translate_control(struct translation *translation, struct error *err)
{
    char letter = pattern_translation_left(translation) > 2 ? translation->at[2] : '\0';

    if ((letter | 0x20) < 'a' || (letter | 0x20) > 'z')
        return not_ecma(translation, 3, err);
    translation->at += 3;
    return emit_character(translation, letter & 0x1F, err);
}

static int pattern_translation_copy(struct translation *translation, size_t length,
                                    struct error *err)
{
    translation->at += length;
    return pattern_translation_emit(translation, translation->at - length, length, err);
}

static int translate_escape(struct translation *translation, struct error *err)
{
    char letter = pattern_translation_left(translation) > 1 ? translation->at[1] : '\0';

    if (letter == 'u')
        return translate_unicode(translation, err);
    if (letter == 'x')
        return translate_byte(translation, err);
    if (letter == 'p' || letter == 'P')
        return translate_property(translation, err);
    if (letter == 'c')
        return translate_control(translation, err);
    if (letter && strchr("^$\\.*+?()[]{}|/-", letter))
        return pattern_translation_copy(translation, 2, err);
    if (!translation->in_class && ((letter >= '1' && letter <= '9') || letter == 'k'))
        return pattern_translation_copy(translation, 2, err);
    return translate_listed_escape(translation, err);
}

static int translate_group(struct translation *translation, struct error *err)
{
    static const char *const forms[] = {"(?:", "(?=", "(?!", "(?<=", "(?<!"};

    if (starts_with(translation, "(*"))
        return not_ecma(translation, 2, err);
    if (!starts_with(translation, "(?"))
        return pattern_translation_copy(translation, 1, err);
    for (size_t i = 0; i < ARRAY_SIZE(forms); i++)
        if (starts_with(translation, forms[i]))
            return pattern_translation_copy(translation, strlen(forms[i]), err);
    if (starts_with(translation, "(?<"))
        return pattern_translation_copy(translation, 3, err);
    return not_ecma(translation, 3, err);
}

/* A quantifier; "lazy" is known to both dialects, a possessive "+" behind it only to PCRE2. */
static int translate_quantifier(struct translation *translation, struct error *err)
{
    const char *close = translation->at;

    if (*close == '{')
        close = memchr(close, '}', pattern_translation_left(translation));
    if (close && close + 1 < translation->end && close[1] == '+')
        return not_ecma(translation, (size_t)(close - translation->at) + 2, err);
    return pattern_translation_copy(translation, 1, err);
}

static int translate_in_class(struct translation *translation, struct error *err)
{
    char character = *translation->at;

    if (character == '\\')
        return translate_escape(translation, err);
    if (character == ']')
        translation->in_class = false;
    if (character == '[') {
        translation->at++;
        return emit_string(translation, "\\[", err); /* no POSIX classes in ECMA-262 */
    }
    return pattern_translation_copy(translation, 1, err);
}

static int translate_one(struct translation *translation, struct error *err)
{
    if (translation->in_class)
        return translate_in_class(translation, err);
    switch (*translation->at) {
    case '\\':
        return translate_escape(translation, err);
    case '[':
        translation->in_class = true;
        return pattern_translation_copy(translation, starts_with(translation, "[^") ? 2 : 1, err);
    case '(':
        return translate_group(translation, err);
    case '*':
    case '+':
    case '?':
    case '{':
        return translate_quantifier(translation, err);
    case '.':
        translation->at++;
        return emit_string(translation, "[^" LINE_ENDS "]", err);
    default:
        return pattern_translation_copy(translation, 1, err);
    }
}

int pattern_translate(const char *text, size_t length, struct buffer *output, struct error *err)
{
    struct translation translation = {.at = text, .end = text + length, .output = output};

    while (translation.at < translation.end)
        if (translate_one(&translation, err) < 0)
            return -1;
    return 0;
}
