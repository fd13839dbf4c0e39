#include "environments/egress/destination.h"

#include "base/memory.h"
#include "environments/egress/public_address.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <arpa/inet.h>
#include <string.h>

enum { RULES = 8 };

/* An address as it is compared: one of IPv4 in its mapped form. */
static struct in6_addr address_of(const char *text)
{
    struct in6_addr six;
    struct in_addr four;

    if (inet_pton(AF_INET, text, &four) == 1)
        return public_address_map(&four);
    assert_int_equal(inet_pton(AF_INET6, text, &six), 1);
    return six;
}

static void test_an_operator_names_hosts_and_ports(void **state)
{
    static const struct {
        const char *text;
        const char *host; /* NULL: it is none */
        unsigned port;
    } cases[] = {
        {"packages.example.net:443", "packages.example.net", 443},
        {"PACKAGES.Example.Net.:443", "packages.example.net", 443},
        {"A-Z.Example.Org:80", "a-z.example.org", 80},
        {"a:1", "a", 1},
        {"*.example.org:80", "example.org", 80},
        {"localhost:8080", "localhost", 8080},
        {"10.0.0.5:5432", "10.0.0.5", 5432},
        {"[2001:DB8::1]:65535", "2001:db8::1", 65535},
        {"my_host-1.x:1", "my_host-1.x", 1},
        {"packages.example.net", NULL, 0},
        {"packages.example.net:", NULL, 0},
        {"packages.example.net:0", NULL, 0},
        {"packages.example.net:080", NULL, 0},
        {"packages.example.net:65536", NULL, 0},
        {"packages.example.net:443x", NULL, 0},
        {"packages.example.net:https", NULL, 0},
        {":443", NULL, 0},
        {"*:443", NULL, 0},
        {"*.:443", NULL, 0},
        {"*.10.0.0.1:443", NULL, 0},
        {"a.*.org:443", NULL, 0},
        {"https://packages.example.net:443", NULL, 0},
        {"user@packages.example.net:443", NULL, 0},
        {"pypi..org:443", NULL, 0},
        {".org:443", NULL, 0},
        {"127.1:80", NULL, 0},
        {"0x7f000001:80", NULL, 0},
        {"2130706433:80", NULL, 0},
        {"::1:80", NULL, 0},
        {"[packages.example.net]:80", NULL, 0},
        {"[127.0.0.1]:80", NULL, 0},
        {"[fe80::1%eth0]:80", NULL, 0},
        {"[]:80", NULL, 0},
        {"", NULL, 0},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        struct destination destination;
        bool is_one = destination_parse_rule(cases[i].text, &destination);

        if (is_one != (cases[i].host != NULL))
            fail_msg("%s", cases[i].text);
        if (!is_one)
            continue;
        assert_string_equal(destination.host, cases[i].host);
        assert_int_equal(destination.port, cases[i].port);
        assert_int_equal(destination.is_wildcard, cases[i].text[0] == '*');
    }
}

static bool is_open(const char *const *rules, const char *wanted, const char *at)
{
    struct destination list[RULES];
    struct destinations open = {.list = list};
    struct destination destination;
    struct in6_addr address = address_of(at ? at : "::");

    while (rules[open.count]) {
        assert_true(destination_parse_rule(rules[open.count], &list[open.count]));
        open.count++;
    }
    assert_true(destination_parse(wanted, strlen(wanted), &destination));
    return at ? destination_may_be_at(&open, &destination, &address, false)
              : destination_is_open(&open, &destination);
}

static void test_what_is_named_is_open_and_nothing_near_it(void **state)
{
    static const char *const rules[] = {"packages.example.net:443", "*.example.org:443",
                                        "10.0.0.5:80", "[2001:db8::1]:80", NULL};

    (void)state;
    assert_true(is_open(rules, "packages.example.net:443", NULL));
    assert_true(is_open(rules, "PACKAGES.Example.Net.:443", NULL));
    assert_false(is_open(rules, "packages.example.net:80", NULL));
    assert_false(is_open(rules, "www.packages.example.net:443", NULL));
    assert_false(is_open(rules, "packages.example.net.evil.net:443", NULL));
    assert_false(is_open(rules, "xpackages.example.net:443", NULL));
    assert_true(is_open(rules, "a.example.org:443", NULL));
    assert_true(is_open(rules, "b.a.example.org:443", NULL));
    assert_false(is_open(rules, "example.org:443", NULL));
    assert_false(is_open(rules, "aexample.org:443", NULL));
    assert_true(is_open(rules, "10.0.0.5:80", NULL));
    assert_true(is_open(rules, "[::ffff:10.0.0.5]:80", NULL));
    assert_true(is_open(rules, "[2001:0db8:0::1]:80", NULL));
    assert_false(is_open(rules, "10.0.0.6:80", NULL));
    assert_false(is_open(rules, "151.101.0.223:443", NULL));
}

static void test_a_name_leads_to_the_internet_only(void **state)
{
    static const char *const rules[] = {"db.example.org:80", "localhost:80", "10.0.0.5:80",
                                        "10.0.0.6:81", NULL};
    static const char *const closed[] = {
        "127.0.0.1", "::1",     "10.0.0.4",         "10.0.0.6", "169.254.169.254",
        "fe80::1",   "fd00::5", "::ffff:127.0.0.1", "0.0.0.0",  "::",
    };

    (void)state;
    assert_true(is_open(rules, "db.example.org:80", "93.184.216.34"));
    assert_true(is_open(rules, "db.example.org:80", "2606:2800:220:1::1"));
    assert_true(is_open(rules, "db.example.org:80", "10.0.0.5"));
    for (size_t i = 0; i < ARRAY_SIZE(closed); i++)
        if (is_open(rules, "db.example.org:80", closed[i]))
            fail_msg("%s", closed[i]);
    assert_true(is_open(rules, "localhost:80", "127.0.0.1"));
    assert_true(is_open(rules, "localhost:80", "::1"));
    assert_false(is_open(rules, "localhost:80", "10.0.0.4"));
}

static void test_addresses_that_are_not_of_the_internet_are_known(void **state)
{
    static const char *const closed[] = {
        "0.1.2.3",
        "10.255.255.255",
        "100.64.0.1",
        "100.127.255.255",
        "127.255.0.1",
        "169.254.0.1",
        "172.16.0.1",
        "172.31.255.255",
        "192.0.0.8",
        "192.0.2.1",
        "192.88.99.1",
        "192.168.255.255",
        "198.18.0.1",
        "198.19.255.255",
        "198.51.100.1",
        "203.0.113.255",
        "224.0.0.1",
        "239.255.255.255",
        "240.0.0.1",
        "255.255.255.255",
        "::",
        "::1",
        "::10.0.0.1",
        "64:ff9b::1",
        "100::1",
        "2001::1",
        "2001:db8::1",
        "2002:a00:1::1",
        "3fff::1",
        "4000::1",
        "5f00::1",
        "fc00::1",
        "fdff::1",
        "fe80::1",
        "fec0::1",
        "ff02::1",
        "::ffff:10.0.0.1",
    };
    static const char *const open[] = {
        "1.1.1.1",    "9.255.255.255",  "11.0.0.0",   "100.63.255.255", "100.128.0.0",
        "128.0.0.1",  "172.15.0.1",     "172.32.0.1", "192.0.1.1",      "198.17.255.255",
        "198.20.0.0", "223.255.255.1",  "2a00::1",    "2001:200::1",    "2620:fe::fe",
        "2003::1",    "::ffff:1.1.1.1",
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(closed); i++) {
        struct in6_addr address = address_of(closed[i]);

        if (public_address_is(&address))
            fail_msg("%s", closed[i]);
    }
    for (size_t i = 0; i < ARRAY_SIZE(open); i++) {
        struct in6_addr address = address_of(open[i]);

        if (!public_address_is(&address))
            fail_msg("%s", open[i]);
    }
}

static void test_a_public_address_of_this_machine_is_named_or_closed(void **state)
{
    struct destination list[2];
    const struct destinations named = {list, 2};
    const struct destinations open = {list, 1};
    const struct in6_addr address = address_of("93.184.216.34");
    struct destination wanted;

    (void)state;
    assert_true(destination_parse_rule("db.example.org:80", &list[0]));
    assert_true(destination_parse_rule("93.184.216.34:80", &list[1]));
    assert_true(destination_parse("db.example.org:80", strlen("db.example.org:80"), &wanted));
    assert_true(destination_may_be_at(&open, &wanted, &address, false));
    assert_false(destination_may_be_at(&open, &wanted, &address, true));
    assert_true(destination_may_be_at(&named, &wanted, &address, true));
    list[0].is_anywhere = true;
    assert_true(destination_may_be_at(&open, &wanted, &address, true));
}

static void test_a_name_that_may_lead_anywhere_opens_no_other(void **state)
{
    struct destination list[2];
    const struct destinations open = {list, 2};
    const struct in6_addr address = address_of("10.0.0.5");
    struct destination wanted;

    (void)state;
    assert_true(destination_parse_rule("index.example:443", &list[0]));
    list[0].is_anywhere = true;
    assert_true(destination_parse_rule("other.example:443", &list[1]));
    assert_true(destination_parse("index.example:443", strlen("index.example:443"), &wanted));
    assert_true(destination_may_be_at(&open, &wanted, &address, false));
    assert_true(destination_parse("other.example:443", strlen("other.example:443"), &wanted));
    assert_false(destination_may_be_at(&open, &wanted, &address, false));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_an_operator_names_hosts_and_ports),
        cmocka_unit_test(test_what_is_named_is_open_and_nothing_near_it),
        cmocka_unit_test(test_a_name_leads_to_the_internet_only),
        cmocka_unit_test(test_addresses_that_are_not_of_the_internet_are_known),
        cmocka_unit_test(test_a_public_address_of_this_machine_is_named_or_closed),
        cmocka_unit_test(test_a_name_that_may_lead_anywhere_opens_no_other),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
