#include "environments/egress/proxy_head.h"

#include "base/memory.h"

#include <string.h>
#include <strings.h>

enum { HTTP_PORT = 80 };

static const char head_end[] = "\r\n\r\n";

static bool proxy_head_is_token(char character)
{
    return (character >= 'a' && character <= 'z') || (character >= 'A' && character <= 'Z') ||
           (character >= '0' && character <= '9') ||
           (character && strchr("!#$%&'*+-.^_`|~", character));
}

static bool proxy_part_is(const struct proxy_part *part, const char *text)
{
    return part->length == strlen(text) && strncasecmp(part->bytes, text, part->length) == 0;
}

/* Takes the part before END off the front of REST, and removes END. */
static bool proxy_part_take(struct proxy_part *rest, const char *end, struct proxy_part *ret)
{
    const char *found = memmem(rest->bytes, rest->length, end, strlen(end));

    if (!found)
        return false;
    *ret = (struct proxy_part){rest->bytes, (size_t)(found - rest->bytes)};
    rest->bytes = found + strlen(end);
    rest->length -= ret->length + strlen(end);
    return true;
}

static bool proxy_head_is_printed(const struct proxy_part *part)
{
    for (size_t i = 0; i < part->length; i++)
        if (part->bytes[i] <= ' ' || part->bytes[i] > '~')
            return false;
    return true;
}

/* "host", "host:port" */
static bool proxy_head_read_authority(struct proxy_head *head)
{
    const struct proxy_part *authority = &head->authority;
    const char *last = memrchr(authority->bytes, ']', authority->length);
    const char *from = last ? last : authority->bytes;

    if (memchr(from, ':', (size_t)(authority->bytes + authority->length - from)))
        return destination_parse(authority->bytes, authority->length, &head->destination);
    if (!last)
        return destination_set(&head->destination, authority->bytes, authority->length, HTTP_PORT);
    return authority->bytes[0] == '[' && last == authority->bytes + authority->length - 1 &&
           destination_set(&head->destination, authority->bytes + 1, authority->length - 2,
                           HTTP_PORT) &&
           head->destination.is_address;
}

/* "http://host:port/path" */
static bool proxy_head_read_url(struct proxy_head *head, const struct proxy_part *url)
{
    static const char scheme[] = "http://";
    size_t length = strlen(scheme);

    if (url->length <= length || strncasecmp(url->bytes, scheme, length) != 0)
        return false;
    head->authority.bytes = url->bytes + length;
    while (length < url->length && !strchr("/?#", url->bytes[length]))
        length++;
    head->authority.length = (size_t)(url->bytes + length - head->authority.bytes);
    head->path = (struct proxy_part){url->bytes + length, url->length - length};
    return !memchr(head->path.bytes, '#', head->path.length) && proxy_head_read_authority(head);
}

static bool proxy_head_read_line(struct proxy_head *head, struct proxy_part line)
{
    struct proxy_part target;

    if (!proxy_part_take(&line, " ", &head->method) || !proxy_part_take(&line, " ", &target))
        return false;
    for (size_t i = 0; i < head->method.length; i++)
        if (!proxy_head_is_token(head->method.bytes[i]))
            return false;
    head->version = line;
    if (head->method.length == 0 || !proxy_head_is_printed(&target) ||
        (!proxy_part_is(&line, "HTTP/1.1") && !proxy_part_is(&line, "HTTP/1.0")))
        return false;
    head->is_tunnel = proxy_part_is(&head->method, "CONNECT");
    if (head->is_tunnel)
        return destination_parse(target.bytes, target.length, &head->destination);
    return proxy_head_read_url(head, &target);
}

/* "Name: value", without a break in it. */
static bool proxy_head_read_field(const struct proxy_part *field, struct proxy_part *ret_name)
{
    struct proxy_part value = *field;

    if (!proxy_part_take(&value, ":", ret_name) || ret_name->length == 0)
        return false;
    for (size_t i = 0; i < ret_name->length; i++)
        if (!proxy_head_is_token(ret_name->bytes[i]))
            return false;
    for (size_t i = 0; i < value.length; i++)
        if ((unsigned char)value.bytes[i] < ' ' && value.bytes[i] != '\t')
            return false;
    return true;
}

static bool proxy_head_has_fields(struct proxy_part fields)
{
    struct proxy_part field;
    struct proxy_part name;

    while (proxy_part_take(&fields, "\r\n", &field))
        if (!proxy_head_read_field(&field, &name))
            return false;
    return fields.length == 0;
}

ssize_t proxy_head_parse(const char *bytes, size_t length, struct proxy_head *ret)
{
    const char *end = memmem(bytes, length, head_end, strlen(head_end));
    struct proxy_part rest;
    struct proxy_part line;

    *ret = (struct proxy_head){0};
    if (length > 0 && !proxy_head_is_token(bytes[0]))
        return -1;
    if (!end)
        return length < PROXY_HEAD_BYTES ? 0 : -1;
    length = (size_t)(end - bytes) + strlen(head_end);
    rest = (struct proxy_part){bytes, length - strlen("\r\n")};
    if (length > PROXY_HEAD_BYTES || !proxy_part_take(&rest, "\r\n", &line) ||
        !proxy_head_read_line(ret, line) || !proxy_head_has_fields(rest))
        return -1;
    ret->fields = rest;
    return (ssize_t)length;
}

/* False for fields between the program and us only, and for fields that we write ourselves. */
static bool proxy_head_is_kept(const struct proxy_part *name)
{
    static const char *const dropped[] = {"Host", "Connection", "Keep-Alive"};
    static const char ours[] = "Proxy-";

    for (size_t i = 0; i < ARRAY_SIZE(dropped); i++)
        if (proxy_part_is(name, dropped[i]))
            return false;
    return name->length < strlen(ours) || strncasecmp(name->bytes, ours, strlen(ours)) != 0;
}

bool proxy_head_has_no_body(const struct proxy_head *head)
{
    return proxy_part_is(&head->method, "GET") || proxy_part_is(&head->method, "HEAD");
}

static int proxy_head_pass_line(const struct proxy_head *head, const struct upstream *upstream,
                                struct buffer *buffer, struct error *err)
{
    const bool has_slash = head->path.length > 0 && head->path.bytes[0] == '/';

    if (buffer_append_format(
            buffer, err, "%.*s %s%.*s%s%.*s %.*s\r\nHost: %.*s\r\nConnection: close\r\n",
            (int)head->method.length, head->method.bytes, upstream ? "http://" : "",
            upstream ? (int)head->authority.length : 0, head->authority.bytes, has_slash ? "" : "/",
            (int)head->path.length, head->path.bytes, (int)head->version.length,
            head->version.bytes, (int)head->authority.length, head->authority.bytes) < 0)
        return -1;
    if (!upstream || !*upstream->login)
        return 0;
    return buffer_append_format(buffer, err, "Proxy-Authorization: Basic %s\r\n", upstream->login);
}

int proxy_head_pass_on(const struct proxy_head *head, const struct upstream *upstream,
                       struct buffer *buffer, struct error *err)
{
    struct proxy_part fields = head->fields;
    struct proxy_part field;
    struct proxy_part name;

    if (proxy_head_pass_line(head, upstream, buffer, err) < 0)
        return -1;
    while (proxy_part_take(&fields, "\r\n", &field))
        if (proxy_head_read_field(&field, &name) && proxy_head_is_kept(&name) &&
            (buffer_append(buffer, field.bytes, field.length, err) < 0 ||
             buffer_append(buffer, "\r\n", strlen("\r\n"), err) < 0))
            return -1;
    return buffer_append(buffer, "\r\n", strlen("\r\n"), err);
}
