#include "tests/unit/transport/exchange_double.h"

#include "base/list.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

static struct exchange_double *double_of(struct http_exchange *exchange)
{
    return CONTAINER_OF(exchange, struct exchange_double, exchange);
}

__attribute__((format(printf, 2, 3))) static void note(struct http_exchange *exchange,
                                                       const char *format, ...)
{
    char *done = double_of(exchange)->done;
    size_t length = strlen(done);
    va_list arguments;

    va_start(arguments, format);
    vsnprintf(done + length, EXCHANGE_DOUBLE_BYTES - length, format, arguments);
    va_end(arguments);
}

void exchange_double_expect(struct exchange_double *exchange, const char *lines)
{
    assert_string_equal(exchange->done, lines);
    exchange->done[0] = '\0';
}

const char *http_exchange_field(const struct http_exchange *exchange, const char *name,
                                unsigned *ret_count)
{
    (void)exchange;
    (void)name;
    if (ret_count)
        *ret_count = 0;
    return NULL;
}

void http_respond(struct http_exchange *exchange, unsigned status, const char *fields,
                  const char *content_type, const char *body, size_t length)
{
    (void)content_type;
    note(exchange, "%u %.*s%.*s\n", status, (int)strcspn(fields, "\r"), fields, (int)length, body);
}

void http_refuse(struct http_exchange *exchange, unsigned status, const char *fields, int code,
                 const char *message)
{
    (void)fields;
    (void)message;
    note(exchange, "refused %u %d\n", status, code);
}

void http_stream_begin(struct http_exchange *exchange, const char *fields)
{
    (void)fields;
    note(exchange, "begin\n");
}

bool http_stream_send(struct http_exchange *exchange, const char *id, const char *event,
                      const char *data, size_t length)
{
    note(exchange, "%s %s %.*s\n", id ? id : "-", event, (int)length, data);
    return !double_of(exchange)->is_congested;
}

bool http_stream_send_retry(struct http_exchange *exchange, const char *id, unsigned milliseconds)
{
    (void)milliseconds;
    note(exchange, "%s retry\n", id);
    return !double_of(exchange)->is_congested;
}

void http_stream_end(struct http_exchange *exchange)
{
    note(exchange, "end\n");
}

void http_exchange_abort(struct http_exchange *exchange)
{
    note(exchange, "abort\n");
}
