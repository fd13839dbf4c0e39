#include "server/transport/oauth/jwt.h"

#include "base/base64.h"
#include "base/cleanup.h"
#include "base/json.h"
#include "base/memory.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

#define NOW 1000000.0

static const struct jwt_rules rules = {
    .issuer = "https://issuer",
    .audience = "https://server/mcp",
    .now = NOW,
};

/* A token of these parts; owned by the caller. */
static char *compose(const char *header, const char *claims)
{
    AUTO_FREE char *first = base64_encode(BASE64_URL, header, strlen(header));
    AUTO_FREE char *second = base64_encode(BASE64_URL, claims, strlen(claims));

    return memory_format("%s.%s.c2ln", first, second);
}

static void test_the_parts_are_read(void **state)
{
    AUTO_FREE char *text =
        compose("{\"alg\":\"RS256\",\"kid\":\"k\",\"typ\":\"at+JWT\"}", "{\"sub\":1}");
    struct error err = ERROR_INIT;
    struct jwt jwt;

    (void)state;
    assert_int_equal(jwt_read(&jwt, text, &err), 0);
    assert_string_equal(jwt.alg, "RS256");
    assert_string_equal(jwt.kid, "k");
    assert_int_equal(json_integer_value(json_object_get(jwt.claims, "sub")), 1);
    assert_int_equal(jwt.signature_length, 3);
    jwt_deinit(&jwt);
    jwt_deinit(&jwt);
}

static void check_unreadable(const char *text)
{
    struct error err = ERROR_INIT;
    struct jwt jwt;

    print_message("%s\n", text);
    assert_int_equal(jwt_read(&jwt, text, &err), -1);
    assert_int_equal(err.code, ERROR_INVALID_REQUEST);
}

static void test_what_is_no_token_is_refused(void **state)
{
    static const char *const texts[] = {
        "",
        "a",
        "a.b",
        "...",
        "a.b.c.d",
        "..",
        "e30.e30.",
        "!.!.!",
        "e30=.e30=.e30=",
        "W10.W10.W10",
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(texts); i++)
        check_unreadable(texts[i]);
}

static void test_headers_that_cannot_be_judged_are_refused(void **state)
{
    static const char *const headers[] = {
        "{}",
        "[]",
        "{\"alg\":\"RS256\"}",
        "{\"kid\":\"k\"}",
        "{\"alg\":5,\"kid\":\"k\"}",
        "{\"alg\":\"RS256\",\"kid\":5}",
        "{\"alg\":\"RS256\",\"kid\":\"k\",\"crit\":[\"x\"]}",
        "{\"alg\":\"RS256\",\"kid\":\"k\",\"typ\":\"dpop+jwt\"}",
        "{\"alg\":\"RS256\",\"kid\":\"k\",\"typ\":5}",
        "{\"alg\":\"none\",\"alg\":\"RS256\",\"kid\":\"k\"}",
        "{\"alg\":\"RS256\",\"kid\":\"k\"}x",
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(headers); i++) {
        AUTO_FREE char *text = compose(headers[i], "{}");

        check_unreadable(text);
    }
}

/* "" when the claims are good, else the reason. */
static const char *judge(const char *claims)
{
    static struct error err;
    AUTO_JSON json_t *parsed = json_loads(claims, 0, NULL);

    err = (struct error)ERROR_INIT;
    assert_non_null(parsed);
    return jwt_check(&(struct jwt){.claims = parsed}, &rules, &err) < 0 ? err.message : "";
}

#define ISSUER   "\"iss\":\"https://issuer\","
#define AUDIENCE "\"aud\":\"https://server/mcp\","
#define SUBJECT  "\"sub\":\"alice\","

static void test_claims_are_judged(void **state)
{
    static const struct {
        const char *claims;
        const char *reason;
    } cases[] = {
        {"{" ISSUER AUDIENCE SUBJECT "\"exp\":1000001}", ""},
        {"{" ISSUER AUDIENCE SUBJECT "\"exp\":999971}", ""},
        {"{" ISSUER AUDIENCE SUBJECT "\"exp\":999970}", "the token has expired"},
        {"{" ISSUER AUDIENCE SUBJECT "\"exp\":1000001,\"nbf\":1000030}", ""},
        {"{" ISSUER AUDIENCE SUBJECT "\"exp\":1000001,\"nbf\":1000031}",
         "the token is not valid yet"},
        {"{" ISSUER AUDIENCE SUBJECT "\"exp\":1000001,\"nbf\":\"0\"}",
         "the token is not valid yet"},
        {"{" ISSUER AUDIENCE SUBJECT "\"exp\":\"1000001\"}", "the token has no expiry"},
        {"{" ISSUER AUDIENCE SUBJECT "\"iat\":1}", "the token has no expiry"},
        {"{" ISSUER SUBJECT "\"aud\":[\"x\",\"https://server/mcp\"],\"exp\":1000001}", ""},
        {"{" ISSUER SUBJECT "\"aud\":[],\"exp\":1000001}", "the token is for another resource"},
        {"{" ISSUER SUBJECT "\"aud\":\"https://server/mcp/\",\"exp\":1000001}",
         "the token is for another resource"},
        {"{" ISSUER SUBJECT "\"exp\":1000001}", "the token is for another resource"},
        {"{" ISSUER AUDIENCE "\"exp\":1000001}", "the token does not say whose it is"},
        {"{" ISSUER AUDIENCE "\"sub\":\"\",\"exp\":1000001}", "the token does not say whose it is"},
        {"{" ISSUER AUDIENCE "\"sub\":7,\"exp\":1000001}", "the token does not say whose it is"},
        {"{\"iss\":\"https://issuer/\"," AUDIENCE SUBJECT "\"exp\":1000001}",
         "another server has issued the token"},
        {"{" AUDIENCE SUBJECT "\"exp\":1000001}", "another server has issued the token"},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        print_message("%s\n", cases[i].claims);
        assert_string_equal(judge(cases[i].claims), cases[i].reason);
    }
}

static bool allows(const char *claims, const char *scope)
{
    AUTO_JSON json_t *parsed = json_loads(claims, 0, NULL);

    return jwt_has_scope(&(struct jwt){.claims = parsed}, scope);
}

static void test_scopes_are_words(void **state)
{
    (void)state;
    assert_true(allows("{\"scope\":\"read run admin\"}", "run"));
    assert_true(allows("{\"scope\":\"run\"}", "run"));
    assert_true(allows("{\"scp\":[\"read\",\"run\"]}", "run"));
    assert_true(allows("{\"scp\":\"read run\"}", "run"));
    assert_false(allows("{\"scope\":\"runner rerun\"}", "run"));
    assert_false(allows("{\"scope\":\"\"}", "run"));
    assert_false(allows("{\"scope\":5}", "run"));
    assert_false(allows("{}", "run"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_the_parts_are_read),
        cmocka_unit_test(test_what_is_no_token_is_refused),
        cmocka_unit_test(test_headers_that_cannot_be_judged_are_refused),
        cmocka_unit_test(test_claims_are_judged),
        cmocka_unit_test(test_scopes_are_words),
    };

    setvbuf(stdout, NULL, _IOLBF, 0);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
