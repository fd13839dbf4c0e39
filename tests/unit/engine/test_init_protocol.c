#include "environments/engine/init_protocol.h"

#include "base/list.h"
#include "base/memory.h"
#include "base/wire_reader.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <string.h>

#define HEAD(TYPE, LENGTH) TYPE "\0\0\0" LENGTH "\0\0\0"
#define OUT(LENGTH)        HEAD("\1", LENGTH)
#define ERRORS(LENGTH)     HEAD("\2", LENGTH)
#define BEGUN              HEAD("\3", "\0")

static const struct last_words some_words = {
    .status = 0x7f00,
    .failure = 2,
    .leftovers = 70000,
    .flags = LAST_WORDS_OVERDUE,
    .run_seconds = 1.5,
    .cpu_seconds = 12345.678901,
    .peak_bytes = (uint64_t)5 << 32 | 77,
};

/* What is heard without its NULs, a sign before each piece that does not go on with the last one.
 */
struct hearing {
    struct wire_reader reader;
    char text[256];
    char sign;
    struct last_words words;
    struct go go;
};

static const char signs[] = {
    [INIT_OUT] = '>',   [INIT_ERRORS] = '!',    [INIT_BEGUN] = 'b', [INIT_NOT_BEGUN] = 'n',
    [INIT_CELL] = 'c',  [INIT_ENDED] = 'e',     [INIT_GO] = 'g',    [INIT_CODE] = 'k',
    [INIT_CELLS] = 'w', [INIT_DISMISSAL] = 'd', [INIT_TOOLS] = 't',
};

static void hear(struct hearing *hearing, char sign, const char *data, size_t length)
{
    if (hearing->sign != sign)
        strncat(hearing->text, &sign, 1);
    hearing->sign = sign;
    assert_true(strlen(hearing->text) + length < sizeof hearing->text);
    for (size_t i = 0; i < length; i++)
        strncat(hearing->text, data + i, 1);
}

static void on_frame(struct wire_reader *reader, uint32_t type, const char *data, size_t length)
{
    struct hearing *hearing = CONTAINER_OF(reader, struct hearing, reader);

    hear(hearing, signs[type], data, init_protocol.rules[type].is_split ? length : 0);
    if (type == INIT_CELL || type == INIT_ENDED)
        hearing->words = last_words_decode(data);
    if (type == INIT_GO)
        hearing->go = go_decode(data);
}

static void on_foreign(struct wire_reader *reader, const char *data, size_t length)
{
    hear(CONTAINER_OF(reader, struct hearing, reader), '?', data, length);
}

/* Feeds STREAM in pieces of SIZE bytes. */
static void listen(struct hearing *hearing, const char *stream, size_t length, size_t size)
{
    *hearing = (struct hearing){
        .reader = {.protocol = &init_protocol, .frame = on_frame, .foreign = on_foreign}};
    for (size_t i = 0; i < length; i += size)
        wire_reader_feed(&hearing->reader, stream + i, size_min(length - i, size));
    wire_reader_end(&hearing->reader);
}

static void expect(const char *stream, size_t length, const char *text)
{
    struct hearing hearing;

    for (size_t size = 1; size <= length; size++) {
        listen(&hearing, stream, length, size);
        assert_string_equal(hearing.text, text);
    }
}

#define EXPECT(STREAM, TEXT) expect(STREAM, sizeof(STREAM) - 1, TEXT)

static void test_frames_are_read_in_every_possible_split(void **state)
{
    (void)state;
    EXPECT(WIRE_HELLO, "");
    EXPECT(WIRE_HELLO OUT("\4") "text" BEGUN OUT("\0") ERRORS("\3") "err" OUT("\1") "o",
           ">textb!err>o");
}

static void test_a_frame_inside_of_output_is_output(void **state)
{
    (void)state;
    EXPECT(WIRE_HELLO OUT("\x10") HEAD("x", "y") HEAD("z", "z") BEGUN, ">xyzzb");
}

static void test_what_is_told_to_an_init_is_read_like_the_rest(void **state)
{
    const struct go go = {.device = 1, .inode = (uint64_t)7 << 60, .size = 77};
    char frame[WIRE_HEAD_BYTES + GO_BYTES];
    struct hearing hearing;

    (void)state;
    wire_put_head(frame, INIT_GO, GO_BYTES);
    go_encode(&go, frame + WIRE_HEAD_BYTES);
    listen(&hearing, WIRE_HELLO, WIRE_HELLO_BYTES, 1);
    wire_reader_feed(&hearing.reader, frame, sizeof frame);
    wire_reader_feed(&hearing.reader, HEAD("\x8", "\2") "kk" HEAD("\x9", "\1") "w", 19);
    wire_reader_feed(&hearing.reader, init_dismissal, WIRE_HEAD_BYTES);
    assert_string_equal(hearing.text, "gkkkwwd");
    assert_memory_equal(&hearing.go, &go, sizeof go);
}

static void test_words_arrive_as_they_were_said(void **state)
{
    char frame[WIRE_HEAD_BYTES + LAST_WORDS_BYTES];
    struct hearing hearing;

    (void)state;
    for (enum init_frame type = INIT_CELL; type <= INIT_ENDED; type++) {
        wire_put_head(frame, type, LAST_WORDS_BYTES);
        last_words_encode(&some_words, frame + WIRE_HEAD_BYTES);
        for (size_t size = 1; size <= sizeof frame; size++) {
            listen(&hearing, WIRE_HELLO, WIRE_HELLO_BYTES, size);
            for (size_t i = 0; i < sizeof frame; i += size)
                wire_reader_feed(&hearing.reader, frame + i, size_min(sizeof frame - i, size));
            assert_string_equal(hearing.text, type == INIT_CELL ? "c" : "e");
            assert_int_equal(hearing.words.status, some_words.status);
            assert_int_equal(hearing.words.failure, some_words.failure);
            assert_int_equal(hearing.words.leftovers, some_words.leftovers);
            assert_int_equal(hearing.words.flags, some_words.flags);
            assert_true(hearing.words.run_seconds == some_words.run_seconds);
            assert_true(hearing.words.cpu_seconds == some_words.cpu_seconds);
            assert_int_equal(hearing.words.peak_bytes, some_words.peak_bytes);
        }
    }
}

static void test_a_stream_without_the_hello_is_foreign(void **state)
{
    (void)state;
    EXPECT("OCI runtime exec failed", "?OCI runtime exec failed");
    EXPECT("pyexe", "?pyexe");
    EXPECT("pyexecd wire 2\n" BEGUN "x", "?pyexecd wire 2\n\3x");
}

static void test_what_is_no_frame_is_not_read(void **state)
{
    (void)state;
    EXPECT(WIRE_HELLO HEAD("\0", "\0") BEGUN, "");
    EXPECT(WIRE_HELLO HEAD("\xc", "\0") BEGUN, "");
    EXPECT(WIRE_HELLO HEAD("\3", "\1") "x" BEGUN, "");
    EXPECT(WIRE_HELLO HEAD("\6", "\x27") BEGUN, "");
    EXPECT(WIRE_HELLO "\1\0\0\1\1\0\0\0x" BEGUN, "");
    EXPECT(WIRE_HELLO "\1\0\0\0\1\x80\0\0x" BEGUN, "");
    EXPECT(WIRE_HELLO "\1\0\0\0\0\x80\0\0x", ">x");
}

static const struct stat some_file = {
    .st_mode = S_IFREG | 0600,
    .st_dev = 0xfd03,
    .st_ino = 0x123456789abcdef,
    .st_size = 77,
};

static void test_a_go_comes_as_it_went(void **state)
{
    const struct go go = go_for(&some_file);
    char bytes[GO_BYTES];
    struct go came;

    (void)state;
    go_encode(&go, bytes);
    assert_memory_equal(
        bytes, "\x03\xfd\0\0\0\0\0\0\xef\xcd\xab\x89\x67\x45\x23\x01\x4d\0\0\0\0\0\0\0", GO_BYTES);
    came = go_decode(bytes);
    assert_memory_equal(&came, &go, sizeof go);
}

static void test_a_go_is_for_one_file_with_one_size(void **state)
{
    const struct go go = go_for(&some_file);
    struct stat file = some_file;

    (void)state;
    assert_true(go_is_for(&go, &file));
    file.st_size++;
    assert_false(go_is_for(&go, &file));
    file = some_file;
    file.st_ino++;
    assert_false(go_is_for(&go, &file));
    file = some_file;
    file.st_dev++;
    assert_false(go_is_for(&go, &file));
    file = some_file;
    file.st_mode = S_IFDIR | 0700;
    assert_false(go_is_for(&go, &file));
}

static void test_code_follows_a_go_where_files_have_other_numbers(void **state)
{
    const struct go with_code = go_with_code(77);
    const struct go local = go_for(&some_file);

    (void)state;
    assert_true(go_has_code(&with_code));
    assert_false(go_is_for(&with_code, &some_file));
    assert_false(go_has_code(&local));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_frames_are_read_in_every_possible_split),
        cmocka_unit_test(test_a_frame_inside_of_output_is_output),
        cmocka_unit_test(test_what_is_told_to_an_init_is_read_like_the_rest),
        cmocka_unit_test(test_words_arrive_as_they_were_said),
        cmocka_unit_test(test_a_stream_without_the_hello_is_foreign),
        cmocka_unit_test(test_what_is_no_frame_is_not_read),
        cmocka_unit_test(test_a_go_comes_as_it_went),
        cmocka_unit_test(test_a_go_is_for_one_file_with_one_size),
        cmocka_unit_test(test_code_follows_a_go_where_files_have_other_numbers),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
