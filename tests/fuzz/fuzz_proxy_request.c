/* Input: what a program sends first to the proxy of its run. Whether it is a request does not
 * depend on what follows it; until it is whole, more is needed; what is passed on is a request to
 * the same destination. */
#undef NDEBUG
#include "environments/egress/proxy_head.h"
#include "environments/egress/proxy_socks.h"

#include <assert.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_destination(const struct destination *destination)
{
    assert(destination->port > 0 && !destination->is_wildcard && *destination->host);
    assert(strspn(destination->host, "abcdefghijklmnopqrstuvwxyz0123456789-_.:") ==
           strlen(destination->host));
}

static void check_passed_on(const struct proxy_head *head)
{
    struct error err = ERROR_INIT;
    struct buffer buffer;
    const char *bytes;

    buffer_init(&buffer, 3 * PROXY_HEAD_BYTES);
    assert(proxy_head_pass_on(head, NULL, &buffer, &err) == 0);
    bytes = buffer_bytes(&buffer);
    assert(memcmp(bytes + buffer_length(&buffer) - 4, "\r\n\r\n", 4) == 0);
    assert(memmem(bytes, buffer_length(&buffer), "\r\n\r\n", 4) ==
           bytes + buffer_length(&buffer) - 4);
    buffer_deinit(&buffer);
}

static void check_head(const char *bytes, size_t size)
{
    struct proxy_head head;
    struct proxy_head again;
    ssize_t length = proxy_head_parse(bytes, size, &head);

    if (length <= 0)
        return;
    assert((size_t)length <= size && length <= PROXY_HEAD_BYTES);
    assert(proxy_head_parse(bytes, (size_t)length, &again) == length);
    assert(proxy_head_parse(bytes, (size_t)length - 1, &again) == 0);
    check_destination(&head.destination);
    if (!head.is_tunnel)
        check_passed_on(&head);
}

static void check_socks(const char *bytes, size_t size)
{
    ssize_t greeting = proxy_socks_parse_greeting(bytes, size);
    enum proxy_socks_reply reply;
    struct destination destination;
    ssize_t length;

    if (greeting <= 0)
        return;
    assert((size_t)greeting <= size);
    bytes += greeting;
    size -= (size_t)greeting;
    length = proxy_socks_parse_request(bytes, size, &destination, &reply);
    if (length <= 0)
        return;
    assert((size_t)length <= size && reply == PROXY_SOCKS_DONE);
    assert(proxy_socks_parse_request(bytes, (size_t)length - 1, &destination, &reply) == 0);
    assert(proxy_socks_parse_request(bytes, (size_t)length, &destination, &reply) == length);
    check_destination(&destination);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char *copy = malloc(size); /* of exactly that size, so that reading beyond it is seen */

    assert(copy || size == 0);
    if (size > 0)
        memcpy(copy, data, size);
    check_head(copy, size);
    check_socks(copy, size);
    free(copy);
    return 0;
}
