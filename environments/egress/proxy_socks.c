#include "environments/egress/proxy_socks.h"

#include "environments/egress/public_address.h"

#include <string.h>

enum {
    SOCKS_GREETING_BYTES = 2, /* before its methods */
    SOCKS_REQUEST_BYTES = 4,  /* before the address */
    SOCKS_PORT_BYTES = 2,
    SOCKS_NO_LOGIN = 0,
    SOCKS_CONNECT = 1,
    SOCKS_IPV4 = 1,
    SOCKS_NAME = 3,
    SOCKS_IPV6 = 4,
};

ssize_t proxy_socks_parse_greeting(const char *bytes, size_t length)
{
    size_t methods;

    if (length > 0 && bytes[0] != PROXY_SOCKS_VERSION)
        return -1;
    if (length < SOCKS_GREETING_BYTES)
        return 0;
    methods = (unsigned char)bytes[1];
    if (length < SOCKS_GREETING_BYTES + methods)
        return 0;
    if (!memchr(bytes + SOCKS_GREETING_BYTES, SOCKS_NO_LOGIN, methods))
        return -1;
    return (ssize_t)(SOCKS_GREETING_BYTES + methods);
}

/* The length of the address at BYTES, of which there is at least 1; 0: its KIND is not known. */
static size_t proxy_socks_measure(int kind, const char *bytes)
{
    if (kind == SOCKS_IPV4)
        return sizeof(struct in_addr);
    if (kind == SOCKS_IPV6)
        return sizeof(struct in6_addr);
    return kind == SOCKS_NAME ? 1 + (size_t)(unsigned char)bytes[0] : 0;
}

static bool proxy_socks_read_address(int kind, const char *bytes, size_t length, uint16_t port,
                                     struct destination *ret)
{
    struct in6_addr six;
    struct in_addr four;

    if (kind == SOCKS_NAME)
        return destination_set(ret, bytes + 1, length - 1, port);
    if (kind == SOCKS_IPV4) {
        memcpy(&four, bytes, sizeof four);
        six = public_address_map(&four);
    } else {
        memcpy(&six, bytes, sizeof six);
    }
    destination_set_address(ret, &six, port);
    return port > 0;
}

ssize_t proxy_socks_parse_request(const char *bytes, size_t length, struct destination *ret,
                                  enum proxy_socks_reply *ret_reply)
{
    const char *address = bytes + SOCKS_REQUEST_BYTES;
    size_t address_length;
    uint16_t port;

    *ret_reply = PROXY_SOCKS_FAILED;
    if (length > 0 && bytes[0] != PROXY_SOCKS_VERSION)
        return -1;
    if (length < SOCKS_REQUEST_BYTES + 1)
        return 0;
    *ret_reply = PROXY_SOCKS_NO_COMMAND;
    if (bytes[1] != SOCKS_CONNECT)
        return -1;
    *ret_reply = PROXY_SOCKS_NO_ADDRESS;
    address_length = proxy_socks_measure(bytes[3], address);
    if (address_length == 0)
        return -1;
    if (length < SOCKS_REQUEST_BYTES + address_length + SOCKS_PORT_BYTES)
        return 0;
    memcpy(&port, address + address_length, sizeof port);
    if (!proxy_socks_read_address(bytes[3], address, address_length, ntohs(port), ret))
        return -1;
    *ret_reply = PROXY_SOCKS_DONE;
    return (ssize_t)(SOCKS_REQUEST_BYTES + address_length + SOCKS_PORT_BYTES);
}
