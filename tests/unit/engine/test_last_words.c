#include "environments/engine/last_words.h"

#include "base/list.h"
#include "base/memory.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <string.h>

#define NONCE "0123456789abcdef0123456789abcdef"

static const struct last_words some_words = {
    .status = 0x7f00,
    .failure = 2,
    .leftovers = 70000,
    .flags = LAST_WORDS_OVERDUE,
    .run_seconds = 1.5,
    .cpu_seconds = 12345.678901,
    .peak_bytes = (uint64_t)5 << 32 | 77,
};

struct listener {
    struct last_words_reader reader;
    char output[1024];
    size_t length;
};

static void on_output(struct last_words_reader *reader, const char *data, size_t length)
{
    struct listener *listener = CONTAINER_OF(reader, struct listener, reader);

    assert_true(length > 0 && listener->length + length <= sizeof listener->output);
    memcpy(listener->output + listener->length, data, length);
    listener->length += length;
}

static void listen_anew(struct listener *listener)
{
    listener->length = 0;
    last_words_reader_init(&listener->reader, NONCE);
    listener->reader.output = on_output;
}

/* Feeds TEXT in pieces of SIZE bytes; whether it ended with last words. */
static bool feed(struct listener *listener, const char *text, size_t length, size_t size,
                 struct last_words *words)
{
    listen_anew(listener);
    for (size_t i = 0; i < length; i += size)
        last_words_reader_feed(&listener->reader, text + i, length - i < size ? length - i : size);
    return last_words_reader_end(&listener->reader, words);
}

static void assert_same_words(const struct last_words *words)
{
    assert_int_equal(words->status, some_words.status);
    assert_int_equal(words->failure, some_words.failure);
    assert_int_equal(words->leftovers, some_words.leftovers);
    assert_int_equal(words->flags, some_words.flags);
    assert_true(words->run_seconds == 1.5);
    assert_true(words->cpu_seconds > 12345.67890 && words->cpu_seconds < 12345.67891);
    assert_true(words->peak_bytes == some_words.peak_bytes);
}

static void test_words_are_taken_out_in_every_possible_split(void **state)
{
    static const char said[] = "text\0"
                               "0123456789abcdeX not the last\n\0"
                               "0";
    char stream[sizeof said - 1 + LAST_WORDS_BYTES];
    struct listener listener;
    struct last_words words;

    (void)state;
    memcpy(stream, said, sizeof said - 1);
    last_words_encode(&some_words, NONCE, stream + sizeof said - 1);
    for (size_t size = 1; size <= sizeof stream; size++) {
        assert_true(feed(&listener, stream, sizeof stream, size, &words));
        assert_same_words(&words);
        assert_int_equal(listener.length, sizeof said - 1);
        assert_memory_equal(listener.output, said, sizeof said - 1);
    }
}

static void test_words_are_known_before_the_stream_ends(void **state)
{
    char bytes[LAST_WORDS_BYTES];
    struct listener listener;
    struct last_words words;

    (void)state;
    last_words_encode(&some_words, NONCE, bytes);
    listen_anew(&listener);
    last_words_reader_feed(&listener.reader, bytes, sizeof bytes - 1);
    assert_false(last_words_reader_peek(&listener.reader, &words));
    last_words_reader_feed(&listener.reader, bytes + sizeof bytes - 1, 1);
    assert_true(last_words_reader_peek(&listener.reader, &words));
    assert_same_words(&words);
    last_words_reader_feed(&listener.reader, "x", 1);
    assert_false(last_words_reader_peek(&listener.reader, &words));
}

static void test_what_only_looks_like_words_is_output(void **state)
{
    static const struct {
        const char *text;
        size_t length;
    } cases[] = {
        {"", 0},
        {"\0", 1},
        {"\0\0\0", 3},
        {"\0" NONCE, LAST_WORDS_MARK},
        {"\0" NONCE "12345678901234567890123456789012345678", LAST_WORDS_BYTES - 1},
        {"\0" NONCE "1234567890123456789012345678901234567890x", LAST_WORDS_BYTES + 1},
        {"\0f123456789abcdef0123456789abcdef", LAST_WORDS_MARK},
    };
    struct listener listener;
    struct last_words words;

    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(cases); i++)
        for (size_t size = 1; size <= cases[i].length; size++) {
            assert_false(feed(&listener, cases[i].text, cases[i].length, size, &words));
            assert_int_equal(listener.length, cases[i].length);
            assert_memory_equal(listener.output, cases[i].text, cases[i].length);
        }
}

static void test_words_of_another_nonce_are_output(void **state)
{
    char bytes[LAST_WORDS_BYTES];
    struct listener listener;
    struct last_words words;

    (void)state;
    last_words_encode(&some_words, "fedcba9876543210fedcba9876543210", bytes);
    assert_false(feed(&listener, bytes, sizeof bytes, 7, &words));
    assert_int_equal(listener.length, sizeof bytes);
}

struct first {
    char stream[LAST_WORDS_BYTES + 64];
    size_t length;
    size_t behind; /* bytes in front of that */
};

/* Text, then words, then what comes behind them. */
static struct first make_first(void)
{
    static const char before[] = "text\0\0\0001";
    static const char behind[] = "\0behind";
    struct first first = {.length = 0};

    memcpy(first.stream, before, 8);
    last_words_encode(&some_words, NONCE, first.stream + 8);
    first.behind = 8 + LAST_WORDS_BYTES;
    memcpy(first.stream + first.behind, behind, sizeof behind - 1);
    first.length = first.behind + sizeof behind - 1;
    return first;
}

static void test_the_first_words_end_what_is_fed(void **state)
{
    struct first first = make_first();
    struct listener listener;
    struct last_words words;
    bool has_words;

    (void)state;
    for (size_t size = 1; size <= first.length; size++) {
        size_t done = 0;

        listen_anew(&listener);
        do {
            size_t left = first.length - done;

            done += last_words_reader_feed_first(&listener.reader, first.stream + done,
                                                 left < size ? left : size, &has_words, &words);
        } while (!has_words);
        assert_same_words(&words);
        assert_int_equal(done, first.behind);
        assert_int_equal(listener.length, 8);
        assert_memory_equal(listener.output, first.stream, 8);
    }
}

static void test_output_is_not_held_back(void **state)
{
    struct listener listener;

    (void)state;
    listen_anew(&listener);
    last_words_reader_feed(&listener.reader, "tick\n", 5);
    assert_int_equal(listener.length, 5);
    last_words_reader_feed(&listener.reader, "tock\0", 5);
    assert_int_equal(listener.length, 9);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_words_are_taken_out_in_every_possible_split),
        cmocka_unit_test(test_words_are_known_before_the_stream_ends),
        cmocka_unit_test(test_the_first_words_end_what_is_fed),
        cmocka_unit_test(test_what_only_looks_like_words_is_output),
        cmocka_unit_test(test_words_of_another_nonce_are_output),
        cmocka_unit_test(test_output_is_not_held_back),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
