/* What a result says of the pictures that a run has left, and which of them it shows. */
#include "server/tools/answer/run_pictures.h"

#include "base/json.h"
#include "base/memory.h"
#include "server/tools/invocation.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>
#include <cmocka.h>

#define SHOWN(PATH)                                                                                \
    "{\"path\":\"" PATH "\",\"mimeType\":\"image/png\",\"data\":\"AAAA\",\"width\":4,"             \
    "\"height\":2,\"fileWidth\":4,\"fileHeight\":2}"
#define LEFT_OUT(PATH, REASON) "{\"path\":\"" PATH "\",\"reason\":\"" REASON "\"}"

static void test_the_text_tells_of_each_picture(void **state)
{
    static const struct {
        const char *pictures;
        const char *text;
    } cases[] = {
        {"[]", "Code output: 1"},
        {"[" SHOWN("a.png") "," SHOWN("b.gif") "]",
         "Code output: 1\nPictures shown below: a.png, b.gif\n"},
        {"[{\"path\":\"a.png\",\"mimeType\":\"image/png\",\"data\":\"AAAA\",\"width\":1568,"
         "\"height\":784,\"fileWidth\":4000,\"fileHeight\":2000}]",
         "Code output: 1\nPictures shown below: a.png (scaled to 1568x784; the file has 4000x2000 "
         "pixels)\n"},
        {"[" LEFT_OUT("a.png", "broken") "]",
         "Code output: 1\nPictures not shown: a.png (broken)\n"},
        {"[" SHOWN("a.png") "," LEFT_OUT("b", "many") "," LEFT_OUT("c", "broken") "," LEFT_OUT(
             "d", "many") "]",
         "Code output: 1\nPictures shown below: a.png\nPictures not shown: b, d (many); c "
         "(broken)\n"},
        {"[" SHOWN("a\\nb.png") "," LEFT_OUT("c\\u001b[m", "broken") "]",
         "Code output: 1\nPictures shown below: a<U+000A>b.png\nPictures not shown: "
         "c<U+001B>[m (broken)\n"},
        {"[" LEFT_OUT("1", "x") "," LEFT_OUT("2", "x") "," LEFT_OUT("3", "x") "," LEFT_OUT(
             "4", "x") "," LEFT_OUT("5", "x") "," LEFT_OUT("6", "x") "," LEFT_OUT("7", "x") "]",
         "Code output: 1\nPictures not shown: 1, 2, 3, 4, 5 and 2 more (x)\n"},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        AUTO_JSON json_t *pictures = json_loads(cases[i].pictures, 0, NULL);
        AUTO_JSON json_t *text = run_pictures_add_text(json_string("Code output: 1"), pictures);

        assert_non_null(pictures);
        assert_string_equal(json_string_value(text), cases[i].text);
    }
}

static void test_the_text_before_stays_as_it_is(void **state)
{
    AUTO_JSON json_t *pictures = json_loads("[" SHOWN("a.png") "]", 0, NULL);
    AUTO_JSON json_t *none = run_pictures_add_text(json_string("1"), NULL);
    AUTO_JSON json_t *line = run_pictures_add_text(json_string("1\n"), pictures);
    AUTO_JSON json_t *nul = run_pictures_add_text(json_stringn("\0b", 2), pictures);

    (void)state;
    assert_string_equal(json_string_value(none), "1");
    assert_string_equal(json_string_value(line), "1\nPictures shown below: a.png\n");
    assert_memory_equal(json_string_value(nul), "\0b\nPictures shown below: a.png\n",
                        json_string_length(nul));
}

static void test_what_is_shown_follows_the_text(void **state)
{
    AUTO_JSON json_t *pictures =
        json_loads("[" LEFT_OUT("x.png", "broken") "," SHOWN("a.png") "]", 0, NULL);
    struct invocation invocation = {0};
    const json_t *image;

    (void)state;
    invocation_add_text(&invocation, "1", 1);
    run_pictures_show(&invocation, pictures);
    image = json_array_get(invocation.result.content, 1);
    assert_int_equal(json_array_size(invocation.result.content), 2);
    assert_string_equal(json_object_get_string(image, "type"), "image");
    assert_string_equal(json_object_get_string(image, "mimeType"), "image/png");
    assert_string_equal(json_object_get_string(image, "data"), "AAAA");
    assert_int_equal(json_object_size(image), 3);
    invocation_reset(&invocation);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_the_text_tells_of_each_picture),
        cmocka_unit_test(test_the_text_before_stays_as_it_is),
        cmocka_unit_test(test_what_is_shown_follows_the_text),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
