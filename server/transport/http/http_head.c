#include "server/transport/http/http_head.h"

#include "base/ascii.h"
#include "base/memory.h"

#include <string.h>
#include <strings.h>

enum {
    STATUS_BAD_REQUEST = 400,
    STATUS_EXPECTATION_FAILED = 417,
    STATUS_TOO_LARGE = 431,
    STATUS_NOT_IMPLEMENTED = 501,
    STATUS_VERSION_NOT_SUPPORTED = 505,

    LENGTH_DIGITS = 18, /* as many fit into 64 bits whatever they are */
};

bool http_is_token(char character)
{
    return (character >= 'a' && character <= 'z') || (character >= 'A' && character <= 'Z') ||
           (character >= '0' && character <= '9') ||
           (character != '\0' && strchr("!#$%&'*+-.^_`|~", character));
}

/* RFC 3986, 3.3 and 3.4; no fragment. */
static bool is_target(char character)
{
    return (character >= 'a' && character <= 'z') || (character >= 'A' && character <= 'Z') ||
           (character >= '0' && character <= '9') ||
           (character != '\0' && strchr("-._~!$&'()*+,;=:@/?%", character));
}

static bool http_head_is_value(char character)
{
    unsigned char byte = (unsigned char)character;

    return (byte >= ' ' && byte != 0x7f) || byte == '\t';
}

static unsigned http_head_refuse(struct http_head *head, unsigned status, const char *problem)
{
    head->problem = problem;
    return status;
}

static unsigned http_head_bad(struct http_head *head, const char *problem)
{
    return http_head_refuse(head, STATUS_BAD_REQUEST, problem);
}

/* Where it ends */

ssize_t http_head_find_end(const char *text, size_t length, size_t *scanned)
{
    size_t i = *scanned;

    if (length > 0 && (text[0] < 'A' || text[0] > 'Z') && (text[0] < 'a' || text[0] > 'z'))
        return -1;
    for (; i < length; i++) {
        if (text[i] == '\0')
            return -1;
        if (text[i] == '\r' && i + 1 < length && text[i + 1] != '\n')
            return -1;
        if (text[i] != '\n')
            continue;
        if (i == 0 || text[i - 1] != '\r')
            return -1;
        if (i >= 3 && text[i - 2] == '\n')
            return (ssize_t)i + 1;
    }
    /* A \r at the end is looked at again when it is known what follows. */
    *scanned = length > 0 && text[length - 1] == '\r' ? length - 1 : length;
    return 0;
}

/* Takes the line off the front of TEXT, LENGTH bytes, and ends it in NUL; NULL: its break is none,
 * or there is no end. */
static char *http_head_take_line(char **text, size_t *length)
{
    char *line = *text;
    char *newline = memchr(line, '\n', *length);

    if (!newline || newline == line || newline[-1] != '\r')
        return NULL;
    newline[-1] = '\0';
    *length -= (size_t)(newline + 1 - line);
    *text = newline + 1;
    return line;
}

/* The request line */

/* All methods but CONNECT, which asks for a tunnel. */
static bool is_known_method(const char *method)
{
    static const char *const known[] = {"POST", "GET", "DELETE", "OPTIONS",
                                        "HEAD", "PUT", "PATCH",  "TRACE"};

    for (size_t i = 0; i < ARRAY_SIZE(known); i++)
        if (strcmp(method, known[i]) == 0)
            return true;
    return false;
}

static unsigned parse_method(char **text, struct http_head *head)
{
    size_t length = 0;

    while (http_is_token((*text)[length]))
        length++;
    if (length == 0 || (*text)[length] != ' ')
        return http_head_bad(head, "the request line has no method");
    head->method = *text;
    (*text)[length] = '\0';
    *text += length + 1;
    if (!is_known_method(head->method))
        return http_head_refuse(head, STATUS_NOT_IMPLEMENTED, "the method is not known here");
    return 0;
}

static unsigned parse_target(char **text, struct http_head *head)
{
    char *question;
    size_t length = 0;

    while (is_target((*text)[length]))
        length++;
    if ((*text)[0] != '/' || (*text)[length] != ' ')
        return http_head_bad(head, "the target must be a path without special characters");
    head->path = *text;
    (*text)[length] = '\0';
    question = strchr(*text, '?');
    *text += length + 1;
    if (question) {
        *question = '\0';
        head->query = question + 1;
    }
    return 0;
}

static unsigned parse_version(const char *text, struct http_head *head)
{
    static const char prefix[] = "HTTP/";
    const char *version = text + strlen(prefix);

    if (strncmp(text, prefix, strlen(prefix)) != 0 || strlen(version) != strlen("1.1") ||
        version[0] < '0' || version[0] > '9' || version[1] != '.' || version[2] < '0' ||
        version[2] > '9')
        return http_head_bad(head, "the request line does not end in a version of HTTP");
    if (version[0] != '1' || version[2] > '1')
        return http_head_refuse(head, STATUS_VERSION_NOT_SUPPORTED, "HTTP/1.1 is spoken here");
    head->minor = (unsigned)(version[2] - '0');
    return 0;
}

static unsigned parse_request_line(char *line, struct http_head *head)
{
    unsigned status = parse_method(&line, head);

    if (status == 0)
        status = parse_target(&line, head);
    if (status == 0)
        status = parse_version(line, head);
    return status;
}

/* The fields */

/* Other programs take no tab behind these, and a proxy must not read another end of the body than
 * we do. */
static bool is_framing(const char *name)
{
    return strcasecmp(name, "Content-Length") == 0 || strcasecmp(name, "Transfer-Encoding") == 0;
}

static unsigned parse_field(char *line, struct http_head *head)
{
    char *end = line + strlen(line);
    char *colon = line;
    char *value;

    while (http_is_token(*colon))
        colon++;
    if (colon == line || *colon != ':')
        return http_head_bad(
            head, "a field has no name, a blank in or behind it, or goes over two lines");
    if (head->field_count == HTTP_HEAD_FIELDS)
        return http_head_refuse(head, STATUS_TOO_LARGE, "there are too many fields");
    *colon = '\0';
    for (value = colon + 1; ascii_is_blank(*value); value++)
        ;
    for (const char *i = value; i < end; i++)
        if (!http_head_is_value(*i))
            return http_head_bad(head, "a field has a control character in its value");
    while (end > value && ascii_is_blank(end[-1]))
        end--;
    if (strchr(end, '\t') && is_framing(line))
        return http_head_bad(head, "the length of the body is followed by a tab");
    *end = '\0';
    head->fields[head->field_count++] = (struct http_field){line, value};
    return 0;
}

unsigned http_head_parse_fields(char *text, size_t length, struct http_head *head)
{
    if (length > 0 && memchr(text, '\0', length))
        return http_head_bad(head, "there is a zero byte");
    while (length > 0) {
        char *line = http_head_take_line(&text, &length);
        unsigned status =
            line ? parse_field(line, head) : http_head_bad(head, "a line break is none");

        if (status)
            return status;
    }
    return 0;
}

const char *http_head_find(const struct http_head *head, const char *name, unsigned *ret_count)
{
    const char *value = NULL;
    unsigned count = 0;

    for (unsigned i = 0; i < head->field_count; i++) {
        if (strcasecmp(head->fields[i].name, name) != 0)
            continue;
        if (count++ == 0)
            value = head->fields[i].value;
    }
    if (ret_count)
        *ret_count = count;
    return value;
}

/* The meaning of the fields */

static unsigned http_head_read_host(struct http_head *head)
{
    unsigned count;

    http_head_find(head, "Host", &count);
    if (count > 1 || (count == 0 && head->minor > 0))
        return http_head_bad(head, "there must be one Host");
    return 0;
}

static unsigned read_content_length(const char *text, struct http_head *head)
{
    size_t digits = strspn(text, "0123456789");

    if (digits == 0 || text[digits] != '\0' || digits > LENGTH_DIGITS)
        return http_head_bad(head, "Content-Length is not a number");
    for (const char *digit = text; *digit; digit++)
        head->content_length = head->content_length * 10 + (uint64_t)(*digit - '0');
    return 0;
}

/* RFC 9112, 6.3. Where two things could be meant, nothing is. */
static unsigned read_framing(struct http_head *head)
{
    unsigned lengths;
    unsigned encodings;
    const char *length = http_head_find(head, "Content-Length", &lengths);
    const char *encoding = http_head_find(head, "Transfer-Encoding", &encodings);

    if (lengths + encodings > 1)
        return http_head_bad(head, "the length of the body is said twice");
    if (length)
        return read_content_length(length, head);
    if (!encoding)
        return 0;
    if (head->minor == 0 || strcasecmp(encoding, "chunked") != 0)
        return http_head_bad(head, "Transfer-Encoding can only be chunked, in HTTP/1.1");
    head->is_chunked = true;
    return 0;
}

/* True when LIST, comma-separated, has TOKEN in any case. */
static bool has_token(const char *list, const char *token)
{
    size_t wanted = strlen(token);

    while (*list) {
        size_t length;

        list += strspn(list, ", \t");
        length = strcspn(list, ", \t");
        if (length == wanted && strncasecmp(list, token, wanted) == 0)
            return true;
        list += length;
    }
    return false;
}

static void read_connection(struct http_head *head)
{
    head->keep_alive = head->minor > 0;
    for (unsigned i = 0; i < head->field_count; i++)
        if (strcasecmp(head->fields[i].name, "Connection") == 0 &&
            has_token(head->fields[i].value, "close"))
            head->keep_alive = false;
}

static unsigned read_expectation(struct http_head *head)
{
    unsigned count;
    const char *expectation = http_head_find(head, "Expect", &count);

    if (!expectation || head->minor == 0)
        return 0;
    if (count > 1 || strcasecmp(expectation, "100-continue") != 0)
        return http_head_refuse(head, STATUS_EXPECTATION_FAILED,
                                "nothing but 100-continue can be expected");
    head->expects_continue = true;
    return 0;
}

void http_head_clear(struct http_head *head)
{
    head->method = "";
    head->path = "";
    head->query = NULL;
    head->field_count = 0;
    head->content_length = 0;
    head->is_chunked = false;
    head->keep_alive = false;
    head->expects_continue = false;
    head->problem = NULL;
}

unsigned http_head_parse(char *text, size_t length, struct http_head *ret)
{
    static unsigned (*const readers[])(struct http_head * head) = {http_head_read_host,
                                                                   read_framing, read_expectation};
    char *line;
    unsigned status;

    http_head_clear(ret);
    if (length > HTTP_HEAD_BYTES)
        return http_head_refuse(ret, STATUS_TOO_LARGE, "the head is too long");
    if (length < 2 || memcmp(text + length - 2, "\r\n", 2) != 0 || memchr(text, '\0', length))
        return http_head_bad(ret, "the head has a zero byte or does not end in a blank line");
    length -= 2;
    line = http_head_take_line(&text, &length);
    if (!line)
        return http_head_bad(ret, "there is no request line");
    status = parse_request_line(line, ret);
    if (status == 0)
        status = http_head_parse_fields(text, length, ret);
    read_connection(ret);
    for (size_t i = 0; status == 0 && i < ARRAY_SIZE(readers); i++)
        status = readers[i](ret);
    return status;
}
