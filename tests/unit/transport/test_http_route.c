#include "server/transport/http/http_route.h"

#include "base/memory.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <cmocka.h>

static const struct {
    const char *what;
    enum incoming_kind kind;
    struct http_route_headers headers; /* version, how often, how often the session */
    enum http_route route;
} cases[] = {
    {"initialize", INCOMING_INITIALIZE, {NULL, 0, 0}, HTTP_ROUTE_OPEN},
    {"initialize, legacy version", INCOMING_INITIALIZE, {"2025-11-25", 1, 0}, HTTP_ROUTE_OPEN},
    {"initialize in a session", INCOMING_INITIALIZE, {NULL, 0, 1}, HTTP_ROUTE_IS_OPEN},
    {"initialize, modern version", INCOMING_INITIALIZE, {"2026-07-28", 1, 0}, HTTP_ROUTE_ALONE},

    {"request", INCOMING_REQUEST, {NULL, 0, 0}, HTTP_ROUTE_NEEDS_SESSION},
    {"request, legacy version", INCOMING_REQUEST, {"2025-06-18", 1, 0}, HTTP_ROUTE_NEEDS_SESSION},
    {"request in a session", INCOMING_REQUEST, {NULL, 0, 1}, HTTP_ROUTE_SESSION},
    {"request in a session, version", INCOMING_REQUEST, {"2025-06-18", 1, 1}, HTTP_ROUTE_SESSION},
    {"request in two sessions", INCOMING_REQUEST, {NULL, 0, 2}, HTTP_ROUTE_REPEATED_SESSION},
    {"request, modern version", INCOMING_REQUEST, {"2026-07-28", 1, 0}, HTTP_ROUTE_ALONE},
    {"request in a session, modern", INCOMING_REQUEST, {"2026-07-28", 1, 1}, HTTP_ROUTE_ALONE},
    {"request, unknown version", INCOMING_REQUEST, {"2031-01-01", 1, 1}, HTTP_ROUTE_ALONE},
    {"request, no version", INCOMING_REQUEST, {"", 1, 1}, HTTP_ROUTE_ALONE},
    {"request, two versions", INCOMING_REQUEST, {"2025-06-18", 2, 1}, HTTP_ROUTE_ALONE},

    {"modern request", INCOMING_MODERN, {"2026-07-28", 1, 0}, HTTP_ROUTE_ALONE},
    {"modern request, no version", INCOMING_MODERN, {NULL, 0, 0}, HTTP_ROUTE_ALONE},
    {"modern request, legacy", INCOMING_MODERN, {"2025-11-25", 1, 1}, HTTP_ROUTE_ALONE},
    {"modern request, unknown", INCOMING_MODERN, {"2031-01-01", 1, 0}, HTTP_ROUTE_ALONE},

    {"notification", INCOMING_NOTIFICATION, {NULL, 0, 0}, HTTP_ROUTE_NEEDS_SESSION},
    {"notification in a session", INCOMING_NOTIFICATION, {NULL, 0, 1}, HTTP_ROUTE_SESSION},
    {"modern notification", INCOMING_NOTIFICATION, {"2026-07-28", 1, 0}, HTTP_ROUTE_ALONE},
    {"response in a session", INCOMING_RESPONSE, {NULL, 0, 1}, HTTP_ROUTE_SESSION},
    {"modern response", INCOMING_RESPONSE, {"2026-07-28", 1, 0}, HTTP_ROUTE_ANSWERS_NOTHING},
    {"notification, unknown",
     INCOMING_NOTIFICATION,
     {"2031-01-01", 1, 1},
     HTTP_ROUTE_UNKNOWN_VERSION},
    {"notification in two sessions",
     INCOMING_NOTIFICATION,
     {NULL, 0, 2},
     HTTP_ROUTE_REPEATED_SESSION},

    {"batch", INCOMING_BATCH, {NULL, 0, 0}, HTTP_ROUTE_ALONE},
    {"batch in a session", INCOMING_BATCH, {NULL, 0, 1}, HTTP_ROUTE_SESSION},
    {"batch in a session, version", INCOMING_BATCH, {"2025-03-26", 1, 1}, HTTP_ROUTE_SESSION},
    {"batch, modern version", INCOMING_BATCH, {"2026-07-28", 1, 1}, HTTP_ROUTE_ALONE},

    {"no message", INCOMING_INVALID, {NULL, 0, 0}, HTTP_ROUTE_ALONE},
    {"no message in a session", INCOMING_INVALID, {"2025-06-18", 1, 1}, HTTP_ROUTE_ALONE},
    {"no message, modern version", INCOMING_INVALID, {"2026-07-28", 1, 0}, HTTP_ROUTE_ALONE},
};

static void test_both_eras_find_their_way(void **state)
{
    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        print_message("%s\n", cases[i].what);
        assert_int_equal(http_route(cases[i].kind, &cases[i].headers), cases[i].route);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_both_eras_find_their_way),
    };

    setvbuf(stdout, NULL, _IOLBF, 0);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
