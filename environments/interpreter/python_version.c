#include "environments/interpreter/python_version.h"

#include "base/ascii.h"
#include "base/memory.h"

#include <string.h>

enum {
    RELEASE_PARTS = 3,
    RELEASE_PART_MOST = 100000,
    VERSION_BYTES = 40,
};

/* "3.11.2", or "3.11.*". */
struct python_release {
    unsigned parts[RELEASE_PARTS]; /* missing parts are 0 */
    unsigned count;                /* of the written parts */
    bool is_open;                  /* ends with ".*" */
};

/* Reads one part at *AT, which moves behind it. */
static bool python_release_read_part(const char **at, unsigned *ret)
{
    const char *start = *at;

    *ret = 0;
    while (ascii_is_digit(**at) && *ret < RELEASE_PART_MOST)
        *ret = *ret * 10 + (unsigned)(*(*at)++ - '0');
    return *at > start;
}

/* Reads the release at *AT, which moves behind it. */
static bool python_release_read(const char **at, struct python_release *ret)
{
    *ret = (struct python_release){0};
    for (;;) {
        if (ret->count > 0 && **at == '*') {
            (*at)++;
            ret->is_open = true;
            return true;
        }
        if (ret->count == RELEASE_PARTS || !python_release_read_part(at, &ret->parts[ret->count]))
            return false;
        ret->count++;
        if (**at != '.')
            return true;
        (*at)++;
    }
}

/* Compares the first COUNT parts. */
static int python_release_compare(const struct python_release *a, const struct python_release *b,
                                  unsigned count)
{
    for (unsigned i = 0; i < count; i++)
        if (a->parts[i] != b->parts[i])
            return a->parts[i] < b->parts[i] ? -1 : 1;
    return 0;
}

static bool python_release_equals(const struct python_release *actual,
                                  const struct python_release *wanted)
{
    return python_release_compare(actual, wanted,
                                  wanted->is_open ? wanted->count : RELEASE_PARTS) == 0;
}

static bool python_release_differs(const struct python_release *actual,
                                   const struct python_release *wanted)
{
    return !python_release_equals(actual, wanted);
}

static bool python_release_is_less(const struct python_release *actual,
                                   const struct python_release *wanted)
{
    return python_release_compare(actual, wanted, RELEASE_PARTS) < 0;
}

static bool python_release_is_more(const struct python_release *actual,
                                   const struct python_release *wanted)
{
    return python_release_compare(actual, wanted, RELEASE_PARTS) > 0;
}

static bool python_release_is_at_most(const struct python_release *actual,
                                      const struct python_release *wanted)
{
    return !python_release_is_more(actual, wanted);
}

static bool python_release_is_at_least(const struct python_release *actual,
                                       const struct python_release *wanted)
{
    return !python_release_is_less(actual, wanted);
}

/* "~=3.10" is ">=3.10, ==3.*". */
static bool python_release_is_compatible(const struct python_release *actual,
                                         const struct python_release *wanted)
{
    return wanted->count > 1 && python_release_is_at_least(actual, wanted) &&
           python_release_compare(actual, wanted, wanted->count - 1) == 0;
}

static const struct python_comparison {
    const char *operator;
    bool takes_open; /* a release that ends with ".*" */
    bool (*holds)(const struct python_release *actual, const struct python_release *wanted);
} python_comparisons[] = {
    {"===", false, python_release_equals},     {"==", true, python_release_equals},
    {"!=", true, python_release_differs},      {"~=", false, python_release_is_compatible},
    {">=", false, python_release_is_at_least}, {"<=", false, python_release_is_at_most},
    {">", false, python_release_is_more},      {"<", false, python_release_is_less},
};

static const struct python_comparison *python_comparison_read(const char **at)
{
    for (size_t i = 0; i < ARRAY_SIZE(python_comparisons); i++) {
        const size_t length = strlen(python_comparisons[i].operator);

        if (strncmp(*at, python_comparisons[i].operator, length) != 0)
            continue;
        *at += length;
        return &python_comparisons[i];
    }
    return NULL;
}

static void python_version_skip_blanks(const char **at)
{
    while (ascii_is_blank(**at))
        (*at)++;
}

/* Reads the clause at *AT, which moves behind it. False: ACTUAL does not fit, or it is none. */
static bool python_version_clause_holds(const char **at, const struct python_release *actual)
{
    const struct python_comparison *comparison;
    struct python_release wanted;

    python_version_skip_blanks(at);
    comparison = python_comparison_read(at);
    python_version_skip_blanks(at);
    if (!comparison || !python_release_read(at, &wanted) ||
        (wanted.is_open && !comparison->takes_open))
        return false;
    python_version_skip_blanks(at);
    return comparison->holds(actual, &wanted);
}

static bool python_version_clauses_hold(const char *wanted, const char *actual)
{
    struct python_release release;

    if (!python_release_read(&actual, &release))
        return false;
    while (python_version_clause_holds(&wanted, &release)) {
        if (*wanted == '\0')
            return true;
        if (*wanted++ != ',')
            return false;
    }
    return false;
}

bool python_version_is_plain(const char *text)
{
    static const char inside[] =
        "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_.+";

    return ascii_is_digit(*text) && strlen(text) <= VERSION_BYTES && !text[strspn(text, inside)];
}

bool python_version_fits(const char *wanted, const char *actual)
{
    const size_t length = strlen(wanted);

    if (!ascii_is_digit(*wanted))
        return python_version_clauses_hold(wanted, actual);
    return strncmp(wanted, actual, length) == 0 &&
           (actual[length] == '\0' || actual[length] == '.');
}

char *python_version_minor(const char *version)
{
    const char *dot = strchr(version, '.');
    const size_t length =
        dot ? (size_t)(dot - version) + 1 + strcspn(dot + 1, ".") : strlen(version);

    return memory_format("%.*s", (int)length, version);
}
