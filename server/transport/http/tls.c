#include "server/transport/http/tls.h"

#include "base/list.h"
#include "base/memory.h"
#include "server/transport/http/channel.h"

#include <errno.h>
#include <openssl/err.h>
#include <openssl/ssl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

enum { RECORD_BYTES = 16 * 1024 }; /* the most that a record holds */

struct tls {
    SSL_CTX *context; /* owned; channels hold it, too */
};

struct tls_channel {
    struct http_channel channel;
    SSL *ssl;        /* owned */
    bool is_broken;  /* nothing can be sent in it any more */
    bool is_refused; /* the client does not speak TLS, and has been told */
};

/* The certificate */

/* The last of OpenSSL's errors, which are all forgotten. */
static const char *take_reason(void)
{
    unsigned long number = ERR_peek_last_error();
    const char *reason = ERR_reason_error_string(number);

    ERR_clear_error();
    return reason ? reason : "unknown error";
}

static int look_at_file(const char *path, struct stat *ret, struct error *err)
{
    if (stat(path, ret) < 0)
        return error_set_errno(err, errno, "cannot examine %s", path);
    if (!S_ISREG(ret->st_mode))
        return error_set(err, ERROR_CONFIG, "%s is not a regular file", path);
    return 0;
}

static int check_files(const struct tls_files *files, struct error *err)
{
    struct stat status;

    if (look_at_file(files->certificate, &status, err) < 0 ||
        look_at_file(files->key, &status, err) < 0)
        return -1;
    if (status.st_mode & S_IRWXO)
        return error_set(err, ERROR_CONFIG,
                         "others may read %s (mode %04o), which holds a secret; chmod o-rwx %s",
                         files->key, status.st_mode & 07777U, files->key);
    return 0;
}

/* OpenSSL would ask on the terminal. */
static int refuse_passphrase(char *buffer, int size, int writing, void *data)
{
    (void)buffer;
    (void)size;
    (void)writing;
    (void)data;
    return -1;
}

static int load_files(SSL_CTX *context, const struct tls_files *files, struct error *err)
{
    if (check_files(files, err) < 0)
        return -1;
    if (SSL_CTX_use_certificate_chain_file(context, files->certificate) != 1)
        return error_set(err, ERROR_CONFIG, "no certificate can be read from %s: %s",
                         files->certificate, take_reason());
    if (SSL_CTX_use_PrivateKey_file(context, files->key, SSL_FILETYPE_PEM) != 1)
        return error_set(err, ERROR_CONFIG,
                         "no key, without a passphrase, can be read from %s, or it is not that of "
                         "the certificate: %s",
                         files->key, take_reason());
    return 0;
}

/* Chooses HTTP/1.1, the only protocol here, from the client's offer. */
static int choose_protocol(SSL *ssl, const unsigned char **ret, unsigned char *ret_length,
                           const unsigned char *offered, unsigned length, void *data)
{
    static const unsigned char ours[] = "\x08http/1.1";
    int found = SSL_select_next_proto((unsigned char **)ret, ret_length, ours, sizeof ours - 1,
                                      offered, length);

    (void)ssl;
    (void)data;
    return found == OPENSSL_NPN_NEGOTIATED ? SSL_TLSEXT_ERR_OK : SSL_TLSEXT_ERR_NOACK;
}

/* Nothing is remembered of a client: every connection has keys of its own. */
static SSL_CTX *make_context(void)
{
    SSL_CTX *context = SSL_CTX_new(TLS_server_method());

    if (!context)
        abort(); /* only without memory */
    SSL_CTX_set_min_proto_version(context, TLS1_2_VERSION);
    SSL_CTX_set_options(context, SSL_OP_NO_RENEGOTIATION | SSL_OP_NO_COMPRESSION |
                                     SSL_OP_NO_TICKET | SSL_OP_CIPHER_SERVER_PREFERENCE |
                                     SSL_OP_IGNORE_UNEXPECTED_EOF | SSL_OP_CLEANSE_PLAINTEXT);
    SSL_CTX_set_mode(context, SSL_MODE_ENABLE_PARTIAL_WRITE | SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER |
                                  SSL_MODE_RELEASE_BUFFERS);
    SSL_CTX_set_session_cache_mode(context, SSL_SESS_CACHE_OFF);
    SSL_CTX_set_num_tickets(context, 0);
    SSL_CTX_set_alpn_select_cb(context, choose_protocol, NULL);
    SSL_CTX_set_default_passwd_cb(context, refuse_passphrase);
    return context;
}

int tls_reload(struct tls *tls, const struct tls_files *files, struct error *err)
{
    SSL_CTX *context = make_context();

    ERR_clear_error();
    if (load_files(context, files, err) < 0) {
        SSL_CTX_free(context);
        return -1;
    }
    SSL_CTX_free(tls->context);
    tls->context = context;
    return 0;
}

struct tls *tls_new(const struct tls_files *files, struct error *err)
{
    struct tls *tls = NEW(struct tls);

    if (tls_reload(tls, files, err) == 0)
        return tls;
    tls_free(tls);
    return NULL;
}

void tls_free(struct tls *tls)
{
    if (!tls)
        return;
    SSL_CTX_free(tls->context);
    free(tls);
}

/* A channel */

static struct tls_channel *tls_channel_of(struct http_channel *channel)
{
    return CONTAINER_OF(channel, struct tls_channel, channel);
}

static ssize_t tls_fail(int number)
{
    errno = number;
    return -1;
}

static void refuse_clear_text(struct tls_channel *tls)
{
    static const char answer[] = "HTTP/1.1 400 Bad Request\r\n"
                                 "Content-Type: text/plain\r\n"
                                 "Connection: close\r\n"
                                 "\r\n"
                                 "This port speaks HTTPS: the URL begins with https://\n";

    (void)send(tls->channel.fd, answer, sizeof answer - 1, MSG_DONTWAIT | MSG_NOSIGNAL);
    (void)shutdown(tls->channel.fd, SHUT_WR);
    tls->is_refused = true;
}

/* Further input of a refused client is dropped: closing with unread input would take the answer
 * away from it. */
static ssize_t read_refused(struct tls_channel *tls, void *data, size_t size)
{
    ssize_t length = recv(tls->channel.fd, data, size, MSG_DONTWAIT);

    return length > 0 ? tls_fail(EAGAIN) : length;
}

static ssize_t break_off(struct tls_channel *tls, int error)
{
    int reason = ERR_GET_REASON(ERR_peek_last_error());
    bool is_clear_text = error == SSL_ERROR_SSL &&
                         (reason == SSL_R_HTTP_REQUEST || reason == SSL_R_HTTPS_PROXY_REQUEST);

    ERR_clear_error();
    tls->is_broken = true;
    if (!is_clear_text)
        return tls_fail(EPROTO);
    refuse_clear_text(tls);
    return tls_fail(EAGAIN);
}

/* The return value and errno for OpenSSL's RESULT, which is not above 0. */
static ssize_t tls_settle(struct tls_channel *tls, int result)
{
    int error = SSL_get_error(tls->ssl, result);

    tls->channel.has_pending = false;
    tls->channel.reads_on_write = false;
    switch (error) {
    case SSL_ERROR_WANT_READ:
        return tls_fail(EAGAIN);
    case SSL_ERROR_WANT_WRITE:
        tls->channel.reads_on_write = true;
        return tls_fail(EAGAIN);
    case SSL_ERROR_ZERO_RETURN:
        return 0;
    default:
        return break_off(tls, error);
    }
}

static ssize_t tls_read(struct http_channel *channel, void *data, size_t size)
{
    struct tls_channel *tls = tls_channel_of(channel);
    int length;

    if (tls->is_refused)
        return read_refused(tls, data, size);
    if (tls->is_broken)
        return tls_fail(EPROTO);
    ERR_clear_error();
    length = SSL_read(tls->ssl, data, (int)size);
    if (length <= 0)
        return tls_settle(tls, length);
    channel->has_pending = SSL_has_pending(tls->ssl);
    channel->reads_on_write = false;
    return length;
}

/* The beginning of PARTS, as much as one record holds. */
static size_t tls_gather(char record[RECORD_BYTES], const struct iovec *parts, int count)
{
    size_t used = 0;

    for (int i = 0; i < count && used < RECORD_BYTES; i++) {
        size_t room = RECORD_BYTES - used;
        size_t length = parts[i].iov_len < room ? parts[i].iov_len : room;

        memcpy(record + used, parts[i].iov_base, length);
        used += length;
    }
    return used;
}

/* One record at a time: the socket is writable again at once if it takes more. The caller writes
 * bytes that were not taken again, with or without more behind them, as OpenSSL wants it. */
static ssize_t tls_write(struct http_channel *channel, const struct iovec *parts, int count)
{
    struct tls_channel *tls = tls_channel_of(channel);
    char record[RECORD_BYTES];
    size_t length = tls_gather(record, parts, count);
    int written;
    int error;

    if (tls->is_broken)
        return tls_fail(EPIPE);
    ERR_clear_error();
    written = SSL_write(tls->ssl, record, (int)length);
    if (written > 0)
        return written;
    error = SSL_get_error(tls->ssl, written);
    if (error == SSL_ERROR_WANT_WRITE || error == SSL_ERROR_WANT_READ)
        return tls_fail(EAGAIN);
    ERR_clear_error();
    tls->is_broken = true;
    return tls_fail(EPIPE);
}

static void tls_shutdown(struct http_channel *channel)
{
    struct tls_channel *tls = tls_channel_of(channel);

    ERR_clear_error();
    if (!tls->is_broken && SSL_is_init_finished(tls->ssl))
        (void)SSL_shutdown(tls->ssl);
    (void)shutdown(channel->fd, SHUT_WR);
}

static void tls_channel_free(struct http_channel *channel)
{
    struct tls_channel *tls = tls_channel_of(channel);

    SSL_free(tls->ssl);
    ERR_clear_error();
    close(channel->fd);
    free(tls);
}

static const struct channel_ops encrypted = {
    .read = tls_read,
    .write = tls_write,
    .shutdown = tls_shutdown,
    .free = tls_channel_free,
};

struct http_channel *tls_accept(struct tls *tls, int fd)
{
    struct tls_channel *channel = NEW(struct tls_channel);

    channel->channel.ops = &encrypted;
    channel->channel.fd = fd;
    channel->ssl = SSL_new(tls->context);
    if (!channel->ssl || SSL_set_fd(channel->ssl, fd) != 1)
        abort(); /* only without memory */
    SSL_set_accept_state(channel->ssl);
    return &channel->channel;
}
