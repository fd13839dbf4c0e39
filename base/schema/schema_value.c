#include "base/schema/schema_value.h"

#include <assert.h>
#include <inttypes.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A number as people write it: MANTISSA times ten to the EXPONENT. */
struct decimal {
    uint64_t mantissa;
    int exponent;
};

enum { ROUND_TRIP_DIGITS = 17, DECIMAL_BYTES = 40 };

bool schema_value_is_integer(const json_t *value)
{
    if (json_is_integer(value))
        return true;
    return json_is_real(value) && isfinite(json_real_value(value)) &&
           floor(json_real_value(value)) == json_real_value(value);
}

static int compare_integer_to_real(json_int_t integer, double real)
{
    double whole = floor(real);

    if (real >= 0x1p63)
        return -1;
    if (real < -0x1p63)
        return 1;
    if (integer != (json_int_t)whole)
        return integer < (json_int_t)whole ? -1 : 1;
    return whole < real ? -1 : 0;
}

int schema_value_compare(const json_t *left, const json_t *right)
{
    json_int_t a = json_integer_value(left);
    json_int_t b = json_integer_value(right);
    double x = json_real_value(left);
    double y = json_real_value(right);

    if (json_is_integer(left) && json_is_integer(right))
        return (a > b) - (a < b);
    if (json_is_integer(left))
        return compare_integer_to_real(a, y);
    if (json_is_integer(right))
        return -compare_integer_to_real(b, x);
    return (x > y) - (x < y);
}

/* The fewest digits that read back as REAL are the digits it was written with, up to trailing
 * zeros. */
static struct decimal decimal_from_real(double real)
{
    char text[DECIMAL_BYTES];
    char *exponent;
    struct decimal decimal = {0};
    int digits = 0;

    do
        snprintf(text, sizeof text, "%.*e", digits, fabs(real));
    while (strtod(text, NULL) != fabs(real) && ++digits < ROUND_TRIP_DIGITS);
    exponent = strchr(text, 'e');
    for (const char *c = text; c < exponent; c++)
        if (*c >= '0' && *c <= '9')
            decimal.mantissa = 10 * decimal.mantissa + (uint64_t)(*c - '0');
    decimal.exponent = (int)strtol(exponent + 1, NULL, 10) - digits;
    return decimal;
}

static struct decimal decimal_from(const json_t *value)
{
    json_int_t integer = json_integer_value(value);

    if (json_is_real(value))
        return decimal_from_real(json_real_value(value));
    return (struct decimal){integer < 0 ? -(uint64_t)integer : (uint64_t)integer, 0};
}

bool schema_value_is_multiple(const json_t *value, const json_t *divisor)
{
    struct decimal dividend = decimal_from(value);
    struct decimal by = decimal_from(divisor);
    int shift = dividend.exponent - by.exponent;
    unsigned __int128 rest = dividend.mantissa;
    unsigned __int128 unit = by.mantissa;

    for (; shift < 0 && unit <= UINT64_MAX; shift++)
        unit *= 10;
    assert(unit > 0);
    if (shift < 0)
        return rest == 0;
    rest %= unit;
    for (; shift > 0 && rest != 0; shift--)
        rest = rest * 10 % unit;
    return rest == 0;
}

static bool objects_equal(const json_t *left, const json_t *right, size_t *budget)
{
    const char *key;
    json_t *value;

    if (json_object_size(left) != json_object_size(right))
        return false;
    json_object_foreach ((json_t *)left, key, value) {
        const json_t *other = json_object_get(right, key);

        if (!other || !schema_value_equal(value, other, budget))
            return false;
    }
    return true;
}

static bool arrays_equal(const json_t *left, const json_t *right, size_t *budget)
{
    if (json_array_size(left) != json_array_size(right))
        return false;
    for (size_t i = 0; i < json_array_size(left); i++)
        if (!schema_value_equal(json_array_get(left, i), json_array_get(right, i), budget))
            return false;
    return true;
}

bool schema_value_equal(const json_t *left, const json_t *right, size_t *budget)
{
    if (*budget == 0)
        return false;
    --*budget;
    if (json_is_number(left) && json_is_number(right))
        return schema_value_compare(left, right) == 0;
    if (json_typeof(left) != json_typeof(right))
        return false;
    if (json_is_object(left))
        return objects_equal(left, right, budget);
    if (json_is_array(left))
        return arrays_equal(left, right, budget);
    return json_equal(left, right);
}

static size_t count_characters(const json_t *string)
{
    const char *text = json_string_value(string);
    size_t count = 0;

    for (size_t i = 0; i < json_string_length(string); i++)
        count += ((unsigned char)text[i] & 0xC0) != 0x80;
    return count;
}

size_t schema_value_count(const json_t *value)
{
    if (json_is_string(value))
        return count_characters(value);
    return json_is_array(value) ? json_array_size(value) : json_object_size(value);
}
