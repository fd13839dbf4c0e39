#include "base/wire_reader.h"

#include "base/list.h"
#include "base/memory.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
#include <string.h>

enum { TEXT_FRAME = 1, PIECES_FRAME, FRAMES, TEXT_MOST = 3 * WIRE_HELD_BYTES };

static const struct wire_rule rules[FRAMES] = {
    [TEXT_FRAME] = {.least = 2, .most = TEXT_MOST},
    [PIECES_FRAME] = {.most = 3, .is_split = true},
};
static const struct wire_protocol protocol = {.types = FRAMES, .rules = rules};

/* "[text]" of whole frames, "pieces" of others. */
struct heard {
    struct wire_reader reader;
    char text[2 * TEXT_MOST];
};

static void on_frame(struct wire_reader *reader, uint32_t type, const char *data, size_t length)
{
    struct heard *heard = CONTAINER_OF(reader, struct heard, reader);

    assert_true(strlen(heard->text) + length + 2 < sizeof heard->text);
    strcat(heard->text, type == TEXT_FRAME ? "[" : "");
    strncat(heard->text, data, length);
    strcat(heard->text, type == TEXT_FRAME ? "]" : "");
}

static void expect(const char *stream, size_t length, const char *text, enum wire_state state)
{
    for (size_t size = 1; size <= length; size++) {
        struct heard heard = {.reader = {.protocol = &protocol, .frame = on_frame}};

        for (size_t i = 0; i < length; i += size)
            wire_reader_feed(&heard.reader, stream + i, size_min(length - i, size));
        assert_string_equal(heard.text, text);
        assert_int_equal(heard.reader.state, state);
        wire_reader_deinit(&heard.reader);
    }
}

#define EXPECT(STREAM, TEXT, STATE) expect(STREAM, sizeof(STREAM) - 1, TEXT, STATE)

static void test_a_frame_has_at_least_and_at_most_what_the_protocol_says(void **state)
{
    (void)state;
    EXPECT(WIRE_HELLO "\1\0\0\0\2\0\0\0ab", "[ab]", WIRE_OPEN);
    EXPECT(WIRE_HELLO "\1\0\0\0\1\0\0\0a", "", WIRE_BROKEN);
    EXPECT(WIRE_HELLO "\1\0\0\0\x79\0\0\0a", "", WIRE_BROKEN);
    EXPECT(WIRE_HELLO "\2\0\0\0\3\0\0\0abc\2\0\0\0\0\0\0\0", "abc", WIRE_OPEN);
    EXPECT(WIRE_HELLO "\2\0\0\0\4\0\0\0abcd", "", WIRE_BROKEN);
}

static void test_a_large_frame_comes_as_a_whole(void **state)
{
    char stream[WIRE_HELLO_BYTES + WIRE_HEAD_BYTES + TEXT_MOST + 1] = WIRE_HELLO;
    char text[TEXT_MOST + 3] = "[";

    (void)state;
    wire_put_head(stream + WIRE_HELLO_BYTES, TEXT_FRAME, TEXT_MOST);
    memset(stream + WIRE_HELLO_BYTES + WIRE_HEAD_BYTES, 'x', TEXT_MOST);
    memset(text + 1, 'x', TEXT_MOST);
    text[TEXT_MOST + 1] = ']';
    expect(stream, sizeof stream - 1, text, WIRE_OPEN);
    expect(stream, sizeof stream - 2, "", WIRE_INSIDE);
}

static void test_nobody_has_to_hear_what_is_foreign(void **state)
{
    (void)state;
    EXPECT("pyexecd\n", "", WIRE_BROKEN);
    EXPECT("pyexecd wire 2\n\1\0\0\0\2\0\0\0ab", "", WIRE_BROKEN);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_frame_has_at_least_and_at_most_what_the_protocol_says),
        cmocka_unit_test(test_a_large_frame_comes_as_a_whole),
        cmocka_unit_test(test_nobody_has_to_hear_what_is_foreign),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
