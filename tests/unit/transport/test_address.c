#include "server/transport/socket/address.h"

#include "base/memory.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

#define PATH_50 "/234567890123456789012345678901234567890123456789."

static const struct {
    const char *text;
    enum address_kind kind;
    const char *formatted[ADDRESS_ENDPOINTS];
} good[] = {
    {"stdio", ADDRESS_STDIO, {NULL}},
    {"systemd", ADDRESS_SYSTEMD, {NULL}},
    {"unix:/run/pyexecd.sock", ADDRESS_UNIX, {"unix:/run/pyexecd.sock"}},
    {"unix:/a:b c", ADDRESS_UNIX, {"unix:/a:b c"}},
    {"unix:" PATH_50 PATH_50 "/234567", ADDRESS_UNIX, {"unix:" PATH_50 PATH_50 "/234567"}},
    {"tcp:127.0.0.1:7000", ADDRESS_TCP, {"tcp:127.0.0.1:7000"}},
    {"tcp:127.255.255.254:65535", ADDRESS_TCP, {"tcp:127.255.255.254:65535"}},
    {"tcp:127.0.0.1:0", ADDRESS_TCP, {"tcp:127.0.0.1:0"}},
    {"tcp:[::1]:7000", ADDRESS_TCP, {"tcp:[::1]:7000"}},
    {"tcp:[0:0:0:0:0:0:0:1]:7000", ADDRESS_TCP, {"tcp:[::1]:7000"}},
    {"tcp:0.0.0.0:7000", ADDRESS_TCP, {"tcp:0.0.0.0:7000"}},
    {"tcp:[::]:7000", ADDRESS_TCP, {"tcp:[::]:7000"}},
    {"tcp:[fe80::1]:7000", ADDRESS_TCP, {"tcp:[fe80::1]:7000"}},
    {"http://127.0.0.1:7000", ADDRESS_HTTP, {"http://127.0.0.1:7000/mcp"}},
    {"http://0.0.0.0:0/", ADDRESS_HTTP, {"http://0.0.0.0:0/"}},
    {"https://[::1]:8443/a", ADDRESS_HTTPS, {"https://[::1]:8443/a"}},
    {"http://[::1]:7000/a/b", ADDRESS_HTTP, {"http://[::1]:7000/a/b"}},
    {"http://localhost:7000/mcp",
     ADDRESS_HTTP,
     {"http://127.0.0.1:7000/mcp", "http://[::1]:7000/mcp"}},
    {"unix:///run/a.sock#/mcp", ADDRESS_UNIX_HTTP, {"unix:///run/a.sock#/mcp"}},
    {"unix:///run/a#b#/", ADDRESS_UNIX_HTTP, {"unix:///run/a#b#/"}},
    {"tcp:localhost:7000", ADDRESS_TCP, {"tcp:127.0.0.1:7000", "tcp:[::1]:7000"}},
};

static void test_reads_every_form(void **state)
{
    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(good); i++) {
        char text[ADDRESS_TEXT_BYTES];
        struct error err = ERROR_INIT;
        struct address address;

        print_message("%s\n", good[i].text);
        assert_int_equal(address_parse(good[i].text, &address, &err), 0);
        assert_int_equal(err.code, ERROR_NONE);
        assert_int_equal(address.kind, good[i].kind);
        for (unsigned j = 0; j < address.endpoint_count; j++) {
            address_format(&address.endpoints[j], address.kind, address.path, text);
            assert_string_equal(text, good[i].formatted[j]);
        }
        assert_true(address.endpoint_count == ADDRESS_ENDPOINTS ||
                    !good[i].formatted[address.endpoint_count]);
    }
}

static const struct {
    const char *text;
    const char *complaint; /* part of the message */
} bad[] = {
    {"", "an address is stdio, unix:/PATH, tcp:HOST:PORT, http://HOST:PORT/mcp, "
         "https://HOST:PORT/mcp, unix:///PATH#/mcp"},
    {"STDIO", "an address is"},
    {"stdio:", "an address is"},
    {"stdio ", "an address is"},
    {"systemd:1", "an address is"},
    {"http:127.0.0.1:80/", "an address is"},
    {"http://127.0.0.1/mcp", "port is missing"},
    {"http://:80/mcp", "not empty"},
    {"http://127.0.0.1:80x/mcp", "from 0 to 65535"},
    {"http://me@127.0.0.1:80/mcp", "not me@127.0.0.1"},
    {"http://127.0.0.1:80/a?b", "the path of an HTTP address"},
    {"http://127.0.0.1:80/a#b", "the path of an HTTP address"},
    {"http://127.0.0.1:80/%41", "the path of an HTTP address"},
    {"http://127.0.0.1:80/a b", "the path of an HTTP address"},
    {"http://127.0.0.1:80" PATH_50 PATH_50 PATH_50, "150 bytes long, the limit is 127"},
    {"unix:///run/socket", "unix:///PATH#/mcp"},
    {"unix://run/socket#/mcp", "absolute"},
    {"unix:///run/socket#mcp", "the path of an HTTP address"},
    {"unix:///run/socket#", "the path of an HTTP address"},
    {"unix:///run/#/mcp", "file name"},
    {"unix", "an address is"},
    {"unix:", "absolute"},
    {"unix:run/socket", "absolute"},
    {"unix:@abstract", "absolute"},
    {"unix:/", "file name"},
    {"unix:/run/", "file name"},
    {"unix:" PATH_50 PATH_50 "/2345678", "108 bytes long, the limit is 107"},
    {"tcp:", "port is missing"},
    {"tcp:7000", "port is missing"},
    {"tcp::7000", "not empty"},
    {"tcp:127.0.0.1:", "from 0 to 65535"},
    {"tcp:127.0.0.1:65536", "from 0 to 65535"},
    {"tcp:127.0.0.1:000080", "from 0 to 65535"},
    {"tcp:127.0.0.1:99999999999999999999999", "from 0 to 65535"},
    {"tcp:127.0.0.1:-1", "from 0 to 65535"},
    {"tcp:127.0.0.1:+1", "from 0 to 65535"},
    {"tcp:127.0.0.1: 1", "from 0 to 65535"},
    {"tcp:127.0.0.1:1x", "from 0 to 65535"},
    {"tcp:127.0.0.1:http", "from 0 to 65535"},
    {"tcp:[::1%lo]:7000", "must be an IP address or localhost, not ::1%lo"},
    {"tcp:::1:7000", "in brackets"},
    {"tcp:[127.0.0.1]:7000", "in brackets"},
    {"tcp:[::1:7000", "in brackets"},
    {"tcp:[]:7000", "in brackets"},
    {"tcp:127.1:7000", "must be an IP address or localhost, not 127.1"},
    {"tcp:0x7f000001:7000", "must be"},
    {"tcp:2130706433:7000", "must be"},
    {"tcp:example.org:7000", "not example.org"},
    {"tcp:localhost.:7000", "not localhost."},
    {"tcp:*:7000", "not *"},
    {"tcp:" PATH_50 PATH_50 PATH_50 ":1", "must be an IP address or localhost"},
};

static void test_refuses_everything_else_in_words(void **state)
{
    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(bad); i++) {
        struct error err = ERROR_INIT;
        struct address address = {.endpoint_count = 77};

        print_message("%s\n", bad[i].text);
        assert_int_equal(address_parse(bad[i].text, &address, &err), -1);
        assert_int_equal(err.code, ERROR_CONFIG);
        if (!strstr(err.message, bad[i].complaint))
            fail_msg("\"%s\" does not say \"%s\"", err.message, bad[i].complaint);
        assert_int_equal(address.endpoint_count, 77);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_reads_every_form),
        cmocka_unit_test(test_refuses_everything_else_in_words),
    };

    setvbuf(stdout, NULL, _IOLBF, 0);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
