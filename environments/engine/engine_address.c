#include "environments/engine/engine_address.h"

#include "base/cleanup.h"
#include "base/memory.h"
#include "base/text.h"

#include <stdlib.h>
#include <string.h>
#include <sys/un.h>
#include <unistd.h>

#define DEFAULT_ADDRESS "unix:///var/run/docker.sock"

enum {
    PLAIN_PORT = 2375,
    TLS_PORT = 2376,
    PORT_LARGEST = 65535,
    PORT_DIGITS = 5,
};

static char *copy_or_null(const char *text)
{
    return text && text[0] ? memory_copy_string(text) : NULL;
}

static int engine_address_parse_unix(const char *rest, const struct engine_tls *tls,
                                     struct engine_address *ret, struct error *err)
{
    (void)tls;
    if (rest[0] != '/' || rest[1] == '\0')
        return error_set(err, ERROR_CONFIG, "the socket must be an absolute path: unix:///PATH");
    if (strlen(rest) >= sizeof((struct sockaddr_un *)NULL)->sun_path)
        return error_set(err, ERROR_CONFIG, "the socket's path is longer than %zu bytes",
                         sizeof((struct sockaddr_un *)NULL)->sun_path - 1);
    ret->socket_path = memory_copy_string(rest);
    ret->base_url = memory_copy_string("http://localhost");
    return 0;
}

static bool is_port(const char *text)
{
    size_t digits = strspn(text, "0123456789");
    unsigned long port = strtoul(text, NULL, 10);

    return digits > 0 && digits <= PORT_DIGITS && text[digits] == '\0' && port > 0 &&
           port <= PORT_LARGEST;
}

/* Where the port begins in HOST[:PORT], behind its colon; NULL: there is none. */
static const char *find_port(const char *host)
{
    const char *bracket = strrchr(host, ']');
    const char *colon = strrchr(bracket ? bracket : host, ':');

    return colon ? colon + 1 : NULL;
}

/* Names, IPv4, IPv6 in brackets; without characters that have another meaning in a URL. */
static bool is_host(const char *text, size_t length)
{
    if (length > 2 && text[0] == '[')
        return strspn(text + 1, "0123456789abcdefABCDEF:.") == length - 2 &&
               text[length - 1] == ']';
    return length > 0 && strspn(text, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
                                      "0123456789-._") == length;
}

static int parse_network(const char *rest, bool secure, struct engine_address *ret,
                         struct error *err)
{
    AUTO_FREE char *host = memory_copy_string(rest);
    const char *port;
    size_t length;

    length = strlen(host);
    if (length > 0 && host[length - 1] == '/')
        host[length - 1] = '\0';
    port = find_port(host);
    length = port ? (size_t)(port - host - 1) : strlen(host);
    if (!is_host(host, length) || (port && !is_port(port)))
        return error_set(err, ERROR_CONFIG, "what follows tcp:// or https:// is HOST or HOST:PORT");
    ret->base_url = port ? memory_format("%s://%s", secure ? "https" : "http", host)
                         : memory_format("%s://%s:%d", secure ? "https" : "http", host,
                                         secure ? TLS_PORT : PLAIN_PORT);
    return 0;
}

static int engine_address_parse_tcp(const char *rest, const struct engine_tls *tls,
                                    struct engine_address *ret, struct error *err)
{
    bool secure = tls && (tls->ca_file || tls->cert_file || tls->key_file);

    return parse_network(rest, secure, ret, err);
}

static int engine_address_parse_https(const char *rest, const struct engine_tls *tls,
                                      struct engine_address *ret, struct error *err)
{
    (void)tls;
    return parse_network(rest, true, ret, err);
}

static const struct {
    const char *prefix;
    int (*parse)(const char *rest, const struct engine_tls *tls, struct engine_address *ret,
                 struct error *err);
} forms[] = {
    {"unix://", engine_address_parse_unix},
    {"tcp://", engine_address_parse_tcp},
    {"https://", engine_address_parse_https},
};

static int parse_form(const char *text, const struct engine_tls *tls, struct engine_address *ret,
                      struct error *err)
{
    for (size_t i = 0; i < ARRAY_SIZE(forms); i++) {
        size_t length = strlen(forms[i].prefix);

        if (strncmp(text, forms[i].prefix, length) == 0)
            return forms[i].parse(text + length, tls, ret, err);
    }
    return error_set(err, ERROR_CONFIG,
                     "a Docker engine's address is unix:///PATH, tcp://HOST:PORT or "
                     "https://HOST:PORT");
}

int engine_address_parse(const char *text, const struct engine_tls *tls, struct engine_address *ret,
                         struct error *err)
{
    struct engine_address address = {0};

    if (parse_form(text, tls, &address, err) < 0)
        return -1;
    address.text = memory_copy_string(text);
    if (tls) {
        address.ca_file = copy_or_null(tls->ca_file);
        address.cert_file = copy_or_null(tls->cert_file);
        address.key_file = copy_or_null(tls->key_file);
    }
    *ret = address;
    return 0;
}

/* The folder of ca.pem, cert.pem and key.pem; owned by the caller. */
static char *certificate_folder(void)
{
    const char *path = getenv("DOCKER_CERT_PATH");
    const char *home = getenv("HOME");

    return path && path[0] ? memory_copy_string(path)
                           : memory_format("%s/.docker", text_or_none(home));
}

static int parse_with_folder(const char *text, struct engine_address *ret, struct error *err)
{
    AUTO_FREE char *folder = certificate_folder();
    AUTO_FREE char *ca_file = memory_format("%s/ca.pem", folder);
    AUTO_FREE char *cert_file = memory_format("%s/cert.pem", folder);
    AUTO_FREE char *key_file = memory_format("%s/key.pem", folder);
    const struct engine_tls tls = {
        .ca_file = ca_file, .cert_file = cert_file, .key_file = key_file};

    return engine_address_parse(text, &tls, ret, err);
}

int engine_address_default(struct engine_address *ret, struct error *err)
{
    const char *host = getenv("DOCKER_HOST");
    const char *verify = getenv("DOCKER_TLS_VERIFY");
    const char *text = host && host[0] ? host : DEFAULT_ADDRESS;
    bool secure = verify && verify[0] && strncmp(text, "tcp://", strlen("tcp://")) == 0;

    if ((secure ? parse_with_folder(text, ret, err) : engine_address_parse(text, NULL, ret, err)) <
        0)
        return error_prefix(err, host && host[0] ? "DOCKER_HOST is %s" : "%s", text);
    return 0;
}

bool engine_address_is_open(const struct engine_address *address)
{
    return !address->socket_path || access(address->socket_path, W_OK) == 0;
}

void engine_address_deinit(struct engine_address *address)
{
    free(address->text);
    free(address->socket_path);
    free(address->base_url);
    free(address->ca_file);
    free(address->cert_file);
    free(address->key_file);
    *address = (struct engine_address){0};
}
