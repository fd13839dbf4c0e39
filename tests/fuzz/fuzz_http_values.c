/* Input: the value of a field. As Host it is ours only if it is one of the few texts that name us,
 * spelt out; as Origin it may call only if it is listed or names this machine. Whatever it is, the
 * lists of Accept, Content-Type and Connection are read within it. */
#undef NDEBUG
#include "base/cleanup.h"
#include "base/memory.h"
#include "server/transport/http/http_gate.h"
#include "server/transport/http/http_head.h"
#include "server/transport/http/http_origin.h"

#include <assert.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { PORT = 7000 };

static const char *const hosts[] = {"example.com", "proxy.example:8443", NULL};
static const char *const origins[] = {"https://app.example", "http://localhost:3000", NULL};
static const struct http_names names = {hosts, origins};

/* All there are, but for the case and zeros in front of the port. */
static const char *const our_hosts[] = {"localhost:7000", "127.0.0.1:7000",   "[::1]:7000",
                                        "example.com",    "example.com:7000", "proxy.example:8443"};
static const char *const our_origins[] = {
    "https://app.example",    "https://app.example:443", "http://localhost:3000",
    "http://localhost:7000",  "http://127.0.0.1:7000",   "http://[::1]:7000",
    "https://localhost:7000", "https://127.0.0.1:7000",  "https://[::1]:7000"};

static bool is_one_of(const char *text, const char *const *list, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (strcasecmp(text, list[i]) == 0)
            return true;
    return false;
}

static bool lists_close(const char *value)
{
    AUTO_FREE char *copy = memory_copy_string(value);
    char *rest = copy;
    char *token;

    while ((token = strsep(&rest, ", \t")))
        if (strcasecmp(token, "close") == 0)
            return true;
    return false;
}

static void check_connection(const char *value)
{
    AUTO_FREE char *text =
        memory_format("GET / HTTP/1.1\r\nHost: a\r\nConnection: %s\r\n\r\n", value);
    struct http_head head;

    if (!strpbrk(value, "\r\n") && http_head_parse(text, strlen(text), &head) == 0)
        assert(head.keep_alive == !lists_close(value));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    AUTO_FREE char *value = memory_new(size + 1, 1);

    memcpy(value, data, size);
    if (http_names_find_host(&names, value, PORT) == HTTP_HOST_OURS)
        assert(is_one_of(value, our_hosts, ARRAY_SIZE(our_hosts)));
    if (http_names_admit_origin(&names, value, PORT))
        assert(is_one_of(value, our_origins, ARRAY_SIZE(our_origins)));
    if (http_names_list_origin(&names, value))
        assert(http_names_admit_origin(&names, value, PORT));
    if (http_type_is(value, "application/json"))
        assert(strncasecmp(value, "application/json", strlen("application/json")) == 0);
    if (http_accept_lists(value, "text/event-stream"))
        assert(strcasestr(value, "text/event-stream") || strstr(value, "*/*") ||
               strcasestr(value, "text/*"));
    check_connection(value);
    return 0;
}
