#include "base/base64.h"

#include "base/cleanup.h"
#include "base/memory.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

static void the_vectors_of_the_standard_go_both_ways(void **state)
{
    static const struct {
        const char *bytes;
        const char *standard;
        const char *url;
    } VECTORS[] = {
        {"", "", ""},
        {"f", "Zg==", "Zg"},
        {"fo", "Zm8=", "Zm8"},
        {"foo", "Zm9v", "Zm9v"},
        {"foob", "Zm9vYg==", "Zm9vYg"},
        {"fooba", "Zm9vYmE=", "Zm9vYmE"},
        {"foobar", "Zm9vYmFy", "Zm9vYmFy"},
        {"\xff\xef\xbe", "/+++", "_---"},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(VECTORS); i++) {
        const char *texts[] = {
            [BASE64_STANDARD] = VECTORS[i].standard, [BASE64_URL] = VECTORS[i].url};

        for (enum base64_alphabet alphabet = BASE64_STANDARD; alphabet <= BASE64_URL; alphabet++) {
            size_t length = strlen(VECTORS[i].bytes);
            AUTO_FREE char *text = base64_encode(alphabet, VECTORS[i].bytes, length);
            AUTO_FREE char *bytes =
                base64_decode(alphabet, texts[alphabet], strlen(texts[alphabet]), &length);

            assert_string_equal(text, texts[alphabet]);
            assert_non_null(bytes);
            assert_int_equal(length, strlen(VECTORS[i].bytes));
            assert_memory_equal(bytes, VECTORS[i].bytes, length + 1);
        }
    }
}

static void what_this_would_not_have_written_is_refused(void **state)
{
    static const struct {
        enum base64_alphabet alphabet;
        const char *text;
    } BAD[] = {
        {BASE64_STANDARD, "Zg"},      {BASE64_STANDARD, "Zg="},   {BASE64_STANDARD, "Zg==="},
        {BASE64_STANDARD, "Zh=="},    {BASE64_STANDARD, "Zm9="},  {BASE64_STANDARD, "Z==="},
        {BASE64_STANDARD, "===="},    {BASE64_STANDARD, "Zm9v="}, {BASE64_STANDARD, "Zg==Zg=="},
        {BASE64_STANDARD, "_---"},    {BASE64_STANDARD, "Zm 9v"}, {BASE64_STANDARD, "Zm9v\n"},
        {BASE64_STANDARD, "Zm9\xc3"}, {BASE64_URL, "Zg=="},       {BASE64_URL, "Z"},
        {BASE64_URL, "Zh"},           {BASE64_URL, "/+++"},       {BASE64_URL, "Zm9vY"},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(BAD); i++) {
        size_t length = 0;
        AUTO_FREE char *bytes =
            base64_decode(BAD[i].alphabet, BAD[i].text, strlen(BAD[i].text), &length);

        if (bytes)
            fail_msg("%s", BAD[i].text);
    }
}

static void every_byte_comes_back(void **state)
{
    unsigned char all[256];

    (void)state;
    for (size_t i = 0; i < sizeof all; i++)
        all[i] = (unsigned char)i;
    for (size_t used = 0; used <= sizeof all; used++) {
        AUTO_FREE char *text = base64_encode(BASE64_URL, all, used);
        size_t length = 0;
        AUTO_FREE char *bytes = base64_decode(BASE64_URL, text, strlen(text), &length);

        assert_non_null(bytes);
        assert_int_equal(length, used);
        assert_memory_equal(bytes, all, used);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_vectors_of_the_standard_go_both_ways),
        cmocka_unit_test(what_this_would_not_have_written_is_refused),
        cmocka_unit_test(every_byte_comes_back),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
