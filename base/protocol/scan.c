#include "base/protocol/scan.h"

#include "base/cleanup.h"
#include "base/memory.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

/* The keys that lead to an id. */
enum scan_key {
    KEY_OTHER,
    KEY_ID,
    KEY_PARAMS,
    KEY_REQUEST_ID,
};

/* An array or object that has been entered. */
struct scan_level {
    bool is_object;
    bool expects_key;
    enum scan_key key; /* the last one seen */
    size_t members;    /* keys seen in an object, commas in an array */
};

struct scanner {
    struct scan *scan; /* borrowed */
    char *text;        /* borrowed */
    size_t length;
    size_t at;
    size_t nodes;
    size_t depth;
    struct scan_level levels[SCAN_DEPTH];
};

static struct scan_level *scan_innermost(struct scanner *scanner)
{
    return scanner->depth ? &scanner->levels[scanner->depth - 1] : NULL;
}

static int count_node(struct scanner *scanner, struct error *err)
{
    if (++scanner->nodes > SCAN_NODES)
        return error_set(err, ERROR_INVALID_REQUEST, "message has more than %d values", SCAN_NODES);
    return 0;
}

/* Arrays and objects */

static int scan_enter(struct scanner *scanner, struct error *err)
{
    bool is_object = scanner->text[scanner->at++] == '{';

    if (scanner->depth == SCAN_DEPTH)
        return error_set(err, ERROR_INVALID_REQUEST, "message is nested deeper than %d levels",
                         SCAN_DEPTH);
    scanner->levels[scanner->depth++] =
        (struct scan_level){.is_object = is_object, .expects_key = is_object};
    return count_node(scanner, err);
}

static void scan_leave(struct scanner *scanner)
{
    scanner->at++;
    if (scanner->depth)
        scanner->depth--;
}

static void pass_comma(struct scanner *scanner)
{
    struct scan_level *level = scan_innermost(scanner);

    scanner->at++;
    if (level && level->is_object)
        level->expects_key = true;
    else if (level)
        level->members++;
}

/* Strings */

static int hex_digit(char c)
{
    static const char DIGITS[] = "0123456789abcdef";
    const char *found = c ? strchr(DIGITS, c | 0x20) : NULL;

    return found ? (int)(found - DIGITS) : -1;
}

/* True when TEXT, the inside of a JSON string, is NAME, any of it perhaps written as \u00XX. */
static bool scan_spells(const char *text, size_t length, const char *name)
{
    size_t at = 0;

    for (; *name; name++) {
        if (at < length && text[at] == *name) {
            at++;
        } else if (at + 6 <= length && memcmp(text + at, "\\u00", 4) == 0 &&
                   hex_digit(text[at + 4]) * 16 + hex_digit(text[at + 5]) == *name) {
            at += 6;
        } else {
            return false;
        }
    }
    return at == length;
}

static enum scan_key scan_find_key(const char *text, size_t length)
{
    static const char *const NAMES[] = {
        [KEY_ID] = "id", [KEY_PARAMS] = "params", [KEY_REQUEST_ID] = "requestId"};

    for (enum scan_key key = KEY_ID; key <= KEY_REQUEST_ID; key++) {
        if (scan_spells(text, length, NAMES[key]))
            return key;
    }
    return KEY_OTHER;
}

/* The place of the next quote at AT or behind it. */
static size_t scan_find_quote(const struct scanner *scanner, size_t at)
{
    const char *quote =
        at < scanner->length ? memchr(scanner->text + at, '"', scanner->length - at) : NULL;

    return quote ? (size_t)(quote - scanner->text) : scanner->length;
}

/* No byte is looked at more than twice: a quote that was found is kept until an escape takes it. */
static size_t string_end(const struct scanner *scanner, size_t at)
{
    size_t quote = scan_find_quote(scanner, at);
    const char *escape;

    while (at < quote && (escape = memchr(scanner->text + at, '\\', quote - at))) {
        at = (size_t)(escape - scanner->text) + 2;
        if (at > quote)
            quote = scan_find_quote(scanner, at);
    }
    return quote;
}

static void note_string(struct scanner *scanner, size_t start, size_t end)
{
    struct scan *scan = scanner->scan;

    if (end - start < SCAN_LONG_BYTES || end == scanner->length)
        return;
    if (scan->string_count == scan->string_room) {
        scan->string_room = 2 * scan->string_room + 1;
        scan->strings = memory_resize(scan->strings, scan->string_room * sizeof *scan->strings);
    }
    scan->strings[scan->string_count++] =
        (struct scan_string){.node = scanner->nodes, .start = start, .end = end};
}

static int pass_string(struct scanner *scanner, struct error *err)
{
    struct scan_level *level = scan_innermost(scanner);
    size_t start = scanner->at + 1;
    size_t end = string_end(scanner, start);

    scanner->at = end + 1;
    if (!level || !level->expects_key) {
        if (count_node(scanner, err) < 0)
            return -1;
        note_string(scanner, start, end);
        return 0;
    }
    level->key = scan_find_key(scanner->text + start, end - start);
    level->expects_key = false;
    if (++level->members > SCAN_MEMBERS)
        return error_set(err, ERROR_INVALID_REQUEST, "an object has more than %d members",
                         SCAN_MEMBERS);
    return 0;
}

/* Numbers */

struct number {
    const char *text;
    size_t length;
    bool is_real;
    bool has_exponent;
};

static size_t scan_digits(const char *text, size_t length)
{
    size_t count = 0;

    while (count < length && text[count] >= '0' && text[count] <= '9')
        count++;
    return count;
}

/* Reads the number (RFC 8259 section 6) that fills LENGTH bytes of TEXT. False: it is none. */
static bool number_read(struct number *number, const char *text, size_t length)
{
    size_t at = text[0] == '-';
    size_t whole = scan_digits(text + at, length - at);

    *number = (struct number){.text = text, .length = length};
    if (whole == 0 || (whole > 1 && text[at] == '0'))
        return false;
    at += whole;
    if (at < length && text[at] == '.') {
        size_t fraction = scan_digits(text + at + 1, length - at - 1);

        if (fraction == 0)
            return false;
        number->is_real = true;
        at += 1 + fraction;
    }
    if (at < length && (text[at] | 0x20) == 'e') {
        at++;
        at += at < length && (text[at] == '+' || text[at] == '-');
        number->is_real = true;
        number->has_exponent = true;
        return at < length && at + scan_digits(text + at, length - at) == length;
    }
    return at == length;
}

static bool integer_fits(const struct number *number)
{
    bool negative = number->text[0] == '-';
    const char *largest = negative ? "9223372036854775808" : "9223372036854775807";
    size_t length = number->length - negative;

    if (length != strlen(largest))
        return length < strlen(largest);
    return memcmp(number->text + negative, largest, length) <= 0;
}

static bool real_fits(const struct number *number)
{
    enum { CERTAIN_BYTES = 300 }; /* shorter ones without exponent are below 1e300 */
    AUTO_FREE char *copy = NULL;

    if (!number->has_exponent && number->length < CERTAIN_BYTES)
        return true;
    copy = memory_format("%.*s", (int)number->length, number->text);
    return isfinite(strtod(copy, NULL));
}

static void keep_digits(struct scanner *scanner, enum scan_place place, const struct number *number)
{
    struct scan *scan = scanner->scan;
    bool in_batch = !scanner->levels[0].is_object;

    scan->numbers = memory_resize(scan->numbers, (scan->count + 1) * sizeof *scan->numbers);
    scan->numbers[scan->count++] = (struct scan_number){
        .element = in_batch ? scanner->levels[0].members : 0,
        .place = place,
        .digits = memory_format("%.*s", (int)number->length, number->text),
    };
}

/* Keeps NUMBER if it is where an id is: in a message, or in the `params` of one. */
static void keep_id(struct scanner *scanner, const struct number *number)
{
    size_t top = scanner->depth && !scanner->levels[0].is_object;
    const struct scan_level *message = &scanner->levels[top];
    const struct scan_level *params = message + 1;

    if (scanner->depth == top + 1 && message->is_object && message->key == KEY_ID)
        keep_digits(scanner, SCAN_ID, number);
    if (scanner->depth == top + 2 && message->is_object && message->key == KEY_PARAMS &&
        params->is_object && params->key == KEY_REQUEST_ID)
        keep_digits(scanner, SCAN_REQUEST_ID, number);
}

/* No number that overflows is shorter than this one. */
static void scan_overwrite(char *text, size_t length)
{
    static const char LARGE[] = "1e308";
    size_t sign = text[0] == '-';

    memset(text + sign, ' ', length - sign);
    memcpy(text + sign, LARGE, sizeof LARGE - 1);
}

static int pass_number(struct scanner *scanner, struct error *err)
{
    char *text = scanner->text + scanner->at;
    size_t left = scanner->length - scanner->at;
    struct number number;
    size_t length = 0;

    while (length < left && text[length] && strchr("+-.0123456789Ee", text[length]))
        length++;
    scanner->at += length;
    if (number_read(&number, text, length)) {
        bool fits = number.is_real ? real_fits(&number) : integer_fits(&number);

        if (!fits && !number.is_real)
            keep_id(scanner, &number);
        if (!fits)
            scan_overwrite(text, length);
    }
    return count_node(scanner, err);
}

/* The rest: literals count as values, blanks and colons do not. */

static int pass_other(struct scanner *scanner, struct error *err)
{
    size_t start = scanner->at;

    while (scanner->at < scanner->length && scanner->text[scanner->at] >= 'a' &&
           scanner->text[scanner->at] <= 'z')
        scanner->at++;
    if (scanner->at > start)
        return count_node(scanner, err);
    scanner->at++;
    return 0;
}

static int scan_step(struct scanner *scanner, struct error *err)
{
    switch (scanner->text[scanner->at]) {
    case '{':
    case '[':
        return scan_enter(scanner, err);
    case '}':
    case ']':
        scan_leave(scanner);
        return 0;
    case ',':
        pass_comma(scanner);
        return 0;
    case '"':
        return pass_string(scanner, err);
    case '-':
    case '0' ... '9':
        return pass_number(scanner, err);
    default:
        return pass_other(scanner, err);
    }
}

int scan_text(struct scan *scan, char *text, size_t length, struct error *err)
{
    struct scanner scanner = {.scan = scan, .text = text, .length = length};

    while (scanner.at < scanner.length) {
        if (scan_step(&scanner, err) < 0)
            return -1;
    }
    return 0;
}

void scan_deinit(struct scan *scan)
{
    for (size_t i = 0; i < scan->count; i++)
        free(scan->numbers[i].digits);
    free(scan->numbers);
    free(scan->strings);
    *scan = (struct scan){0};
}

const char *scan_find(const struct scan *scan, size_t element, enum scan_place place)
{
    for (size_t i = 0; i < scan->count; i++) {
        if (scan->numbers[i].element == element && scan->numbers[i].place == place)
            return scan->numbers[i].digits;
    }
    return NULL;
}
