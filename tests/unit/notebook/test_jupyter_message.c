#include "base/cleanup.h"
#include "base/memory.h"
#include "environments/notebook/jupyter/message.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

static const struct jupyter_key key = {"0123456789abcdef0123456789abcdef"};

/* What is sent, as it would come back: a message of the same form. */
static struct jupyter_request made(const char *type, const char *content)
{
    json_t *tree = json_loads(content, 0, NULL);
    struct jupyter_request request;

    jupyter_request_init(&request, &key, "the session", type, tree);
    json_decref(tree);
    return request;
}

static size_t parts_of(const struct jupyter_request *request, struct jupyter_part *parts)
{
    for (int i = 0; i < JUPYTER_SENT; i++)
        parts[i] = (struct jupyter_part){request->texts[i], strlen(request->texts[i])};
    return JUPYTER_SENT;
}

static void assert_refused(const struct jupyter_part *parts, size_t count, const char *why)
{
    struct jupyter_message message = {0};
    struct error err = ERROR_INIT;

    assert_int_equal(jupyter_message_read(&message, &key, parts, count, &err), -1);
    assert_string_equal(err.message, why);
    assert_null(message.content);
}

static void what_is_sent_can_be_read(void **state)
{
    struct jupyter_request request = made("execute_request", "{\"code\": \"1\"}");
    struct jupyter_part parts[JUPYTER_SENT];
    struct jupyter_message message = {0};
    struct error err = ERROR_INIT;

    (void)state;
    assert_int_equal(strlen(request.id), JUPYTER_ID);
    assert_string_equal(request.texts[0], "<IDS|MSG>");
    assert_int_equal(jupyter_message_read(&message, &key, parts, parts_of(&request, parts), &err),
                     0);
    assert_string_equal(message.type, "execute_request");
    assert_string_equal(message.parent, "");
    assert_string_equal(json_string_value(json_object_get(message.content, "code")), "1");
    assert_false(jupyter_message_answers(&message, &request));
    jupyter_message_deinit(&message);
    jupyter_request_deinit(&request);
}

/* The signature of a header of the standard, made by Python's hmac:
 * hmac.new(b"0123456789abcdef0123456789abcdef", b'{"msg_type":"x"}{}{}{}', "sha256") */
static void the_signature_is_that_of_other_programs(void **state)
{
    const char *const texts[] = {
        "topic",
        "<IDS|MSG>",
        "c98f10cf4a3962b324ff771457a7184f950e3cbacf8d9ac7085becb39c1d8a0f",
        "{\"msg_type\":\"x\"}",
        "{}",
        "{}",
        "{}",
        "a buffer",
    };
    struct jupyter_part parts[ARRAY_SIZE(texts)];
    struct jupyter_message message = {0};
    struct error err = ERROR_INIT;

    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(texts); i++)
        parts[i] = (struct jupyter_part){texts[i], strlen(texts[i])};
    assert_int_equal(jupyter_message_read(&message, &key, parts, ARRAY_SIZE(parts), &err), 0);
    assert_string_equal(message.type, "x");
    jupyter_message_deinit(&message);
}

static void one_changed_byte_is_refused(void **state)
{
    struct jupyter_request request = made("status", "{\"execution_state\": \"idle\"}");
    struct jupyter_part parts[JUPYTER_SENT];

    (void)state;
    for (int i = 1; i < JUPYTER_SENT; i++) {
        char *text = request.texts[i];

        text[1] ^= 1;
        assert_refused(parts, parts_of(&request, parts), "the signature is wrong");
        text[1] ^= 1;
    }
    jupyter_request_deinit(&request);
}

static void another_key_or_none_is_refused(void **state)
{
    struct jupyter_request request = made("status", "{}");
    const struct jupyter_key other = {"0123456789abcdef0123456789abcdee"};
    struct jupyter_part parts[JUPYTER_SENT];
    struct jupyter_message message = {0};
    struct error err = ERROR_INIT;

    (void)state;
    parts_of(&request, parts);
    assert_int_equal(jupyter_message_read(&message, &other, parts, JUPYTER_SENT, &err), -1);
    parts[1].length = 0;
    assert_refused(parts, JUPYTER_SENT, "the signature is wrong");
    parts[1].length = 63;
    assert_refused(parts, JUPYTER_SENT, "the signature is wrong");
    jupyter_request_deinit(&request);
}

static void parts_must_be_there(void **state)
{
    struct jupyter_request request = made("status", "{}");
    struct jupyter_part parts[JUPYTER_SENT];
    const struct jupyter_part none[] = {{"", 0}, {"x", 1}};

    (void)state;
    parts_of(&request, parts);
    for (size_t count = 0; count < JUPYTER_SENT; count++)
        assert_refused(parts, count, "parts are missing");
    assert_refused(none, ARRAY_SIZE(none), "parts are missing");
    jupyter_request_deinit(&request);
}

static void content_must_be_an_object(void **state)
{
    static const char *const wrong[] = {"[]", "1", "\"text\"", "null"};

    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(wrong); i++) {
        json_t *tree = json_loads(wrong[i], JSON_DECODE_ANY, NULL);
        struct jupyter_request request;
        struct jupyter_part parts[JUPYTER_SENT];

        jupyter_request_init(&request, &key, "s", "stream", tree);
        assert_refused(parts, parts_of(&request, parts), "a part is no JSON object");
        jupyter_request_deinit(&request);
        json_decref(tree);
    }
}

/* They are not ours, and no memory is taken for them. */
static void names_that_are_too_long_are_none(void **state)
{
    AUTO_FREE char *type = memory_new(4001, 1);
    struct jupyter_request request;
    struct jupyter_part parts[JUPYTER_SENT];
    struct jupyter_message message = {0};
    struct error err = ERROR_INIT;

    (void)state;
    memset(type, 'x', 4000);
    request = made(type, "{}");
    assert_int_equal(jupyter_message_read(&message, &key, parts, parts_of(&request, parts), &err),
                     0);
    assert_string_equal(message.type, "");
    jupyter_message_deinit(&message);
    jupyter_request_deinit(&request);
}

static void a_request_that_was_forgotten_has_no_answer(void **state)
{
    const struct jupyter_request none = {0};
    const struct jupyter_message message = {.parent = ""};

    (void)state;
    assert_false(jupyter_message_answers(&message, &none));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_sent_can_be_read),
        cmocka_unit_test(the_signature_is_that_of_other_programs),
        cmocka_unit_test(one_changed_byte_is_refused),
        cmocka_unit_test(another_key_or_none_is_refused),
        cmocka_unit_test(parts_must_be_there),
        cmocka_unit_test(content_must_be_an_object),
        cmocka_unit_test(names_that_are_too_long_are_none),
        cmocka_unit_test(a_request_that_was_forgotten_has_no_answer),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
