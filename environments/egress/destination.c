#include "environments/egress/destination.h"

#include "environments/egress/public_address.h"

#include <arpa/inet.h>
#include <stdio.h>
#include <string.h>

enum { PORT_DIGITS = 5, LAST_PORT = 65535, LABEL_BYTES = 63 };

static bool destination_is_digit(char character)
{
    return character >= '0' && character <= '9';
}

static bool destination_is_letter(char character)
{
    return destination_is_digit(character) || (character >= 'a' && character <= 'z') ||
           character == '-' || character == '_';
}

/* Labels of letters, digits, - and _. The last label begins with no digit: some programs take
 * 127.1, 0x7f000001 and the like for addresses. */
static bool destination_is_name(const char *host)
{
    const char *label = host;

    for (const char *i = host;; i++) {
        if (destination_is_letter(*i))
            continue;
        if ((*i != '.' && *i) || i == label || i - label > LABEL_BYTES)
            return false;
        if (!*i)
            return !destination_is_digit(*label);
        label = i + 1;
    }
}

static bool destination_read_address(struct destination *destination)
{
    struct in_addr four;

    if (inet_pton(AF_INET, destination->host, &four) == 1)
        destination->address = public_address_map(&four);
    else if (inet_pton(AF_INET6, destination->host, &destination->address) != 1)
        return false;
    destination->is_address = true;
    return true;
}

bool destination_set(struct destination *destination, const char *host, size_t length,
                     unsigned port)
{
    *destination = (struct destination){.port = (uint16_t)port};
    if (length > 1 && host[length - 1] == '.')
        length--;
    if (length == 0 || length >= sizeof destination->host || port == 0 || port > LAST_PORT ||
        memchr(host, '\0', length))
        return false;
    for (size_t i = 0; i < length; i++)
        destination->host[i] =
            (char)(host[i] >= 'A' && host[i] <= 'Z' ? host[i] - 'A' + 'a' : host[i]);
    return destination_read_address(destination) || destination_is_name(destination->host);
}

void destination_set_address(struct destination *destination, const struct in6_addr *address,
                             uint16_t port)
{
    *destination = (struct destination){.is_address = true, .address = *address, .port = port};
    if (IN6_IS_ADDR_V4MAPPED(address))
        inet_ntop(AF_INET, &address->s6_addr[12], destination->host, sizeof destination->host);
    else
        inet_ntop(AF_INET6, address, destination->host, sizeof destination->host);
}

/* 0 when LENGTH bytes of TEXT are no port. */
static unsigned destination_read_port(const char *text, size_t length)
{
    unsigned port = 0;

    if (length == 0 || length > PORT_DIGITS || text[0] == '0')
        return 0;
    for (size_t i = 0; i < length; i++) {
        if (!destination_is_digit(text[i]))
            return 0;
        port = port * 10 + (unsigned)(text[i] - '0');
    }
    return port <= LAST_PORT ? port : 0;
}

bool destination_parse(const char *text, size_t length, struct destination *ret)
{
    const char *colon = memrchr(text, ':', length);
    size_t host = colon ? (size_t)(colon - text) : 0;
    unsigned port = colon ? destination_read_port(colon + 1, length - host - 1) : 0;
    const bool has_brackets = host > 2 && text[0] == '[' && text[host - 1] == ']';

    if (host == 0 || port == 0)
        return false;
    if (has_brackets)
        return destination_set(ret, text + 1, host - 2, port) && ret->is_address &&
               memchr(text, ':', host);
    return !memchr(text, ':', host) && destination_set(ret, text, host, port);
}

bool destination_parse_rule(const char *text, struct destination *ret)
{
    static const char wildcard[] = "*.";
    const bool is_wildcard = strncmp(text, wildcard, strlen(wildcard)) == 0;

    if (is_wildcard)
        text += strlen(wildcard);
    if (!destination_parse(text, strlen(text), ret) || (is_wildcard && ret->is_address))
        return false;
    ret->is_wildcard = is_wildcard;
    return true;
}

void destination_print(const struct destination *destination, char *text, size_t size)
{
    const bool is_six = strchr(destination->host, ':');

    snprintf(text, size, "%s%s%s:%u", is_six ? "[" : "", destination->host, is_six ? "]" : "",
             destination->port);
}

static bool destination_is_address_of(const struct destination *rule,
                                      const struct in6_addr *address)
{
    return rule->is_address && IN6_ARE_ADDR_EQUAL(&rule->address, address);
}

/* True if HOST ends in the dot and name of RULE, and has a part before them. */
static bool destination_is_below(const struct destination *rule, const char *host)
{
    const size_t length = strlen(host);
    const size_t end = strlen(rule->host) + 1;

    return rule->is_wildcard && length > end && host[length - end] == '.' &&
           strcmp(host + length - end + 1, rule->host) == 0;
}

static bool destination_is_match(const struct destination *rule, const struct destination *wanted)
{
    if (rule->port != wanted->port)
        return false;
    if (wanted->is_address)
        return destination_is_address_of(rule, &wanted->address);
    return destination_is_below(rule, wanted->host) ||
           (!rule->is_wildcard && strcmp(rule->host, wanted->host) == 0);
}

bool destination_is_open(const struct destinations *open, const struct destination *wanted)
{
    for (size_t i = 0; i < open->count; i++)
        if (destination_is_match(&open->list[i], wanted))
            return true;
    return false;
}

bool destination_may_be_at(const struct destinations *open, const struct destination *wanted,
                           const struct in6_addr *address, bool is_own)
{
    if (public_address_is(address) && !is_own)
        return true;
    if (strcmp(wanted->host, "localhost") == 0 && public_address_is_loopback(address))
        return true;
    for (size_t i = 0; i < open->count; i++) {
        const struct destination *rule = &open->list[i];

        if (rule->is_anywhere && destination_is_match(rule, wanted))
            return true;
        if (rule->port == wanted->port && destination_is_address_of(rule, address))
            return true;
    }
    return false;
}
