#include "environments/notebook/jupyter/channels.h"

#include "base/cleanup.h"
#include "base/json.h"
#include "base/memory.h"
#include "base/random.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zmq.h>

/* The numbers that stand behind the path of each socket. */
enum { SHELL_PORT = 1, IOPUB_PORT, STDIN_PORT, CONTROL_PORT, HEARTBEAT_PORT };

static const struct {
    int type;
    int port;
} channel_table[JUPYTER_CHANNELS] = {
    [JUPYTER_SHELL] = {ZMQ_DEALER, SHELL_PORT},
    [JUPYTER_CONTROL] = {ZMQ_DEALER, CONTROL_PORT},
    [JUPYTER_IOPUB] = {ZMQ_SUB, IOPUB_PORT},
};

static int channels_write_file(const struct jupyter_channels *channels, const char *name,
                               struct error *err)
{
    AUTO_FREE char *prefix = memory_format("%s/s", channels->directory);
    AUTO_JSON json_t *tree = json_pack(
        "{s:s, s:s, s:i, s:i, s:i, s:i, s:i, s:s, s:s, s:s}", "transport", "ipc", "ip", prefix,
        "shell_port", SHELL_PORT, "iopub_port", IOPUB_PORT, "stdin_port", STDIN_PORT,
        "control_port", CONTROL_PORT, "hb_port", HEARTBEAT_PORT, "signature_scheme", "hmac-sha256",
        "key", channels->key.text, "kernel_name", name);
    AUTO_CLOSE int fd =
        open(channels->connection, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, S_IRUSR | S_IWUSR);
    AUTO_FREE char *text = json_text(tree);

    if (fd < 0 || write(fd, text, strlen(text)) != (ssize_t)strlen(text))
        return error_set_errno(err, errno, "cannot write %s", channels->connection);
    return 0;
}

/* Nothing is dropped for being too much: what is kept is bounded by the limits of the session. */
static void *channel_open(struct jupyter_channels *channels, enum jupyter_channel channel)
{
    AUTO_FREE char *address =
        memory_format("ipc://%s/s-%d", channels->directory, channel_table[channel].port);
    void *socket = zmq_socket(channels->context, channel_table[channel].type);
    const int none = 0;

    if (!socket)
        return NULL;
    zmq_setsockopt(socket, ZMQ_LINGER, &none, sizeof none);
    zmq_setsockopt(socket, ZMQ_RCVHWM, &none, sizeof none);
    if (channel == JUPYTER_IOPUB)
        zmq_setsockopt(socket, ZMQ_SUBSCRIBE, "", 0);
    else
        zmq_setsockopt(socket, ZMQ_ROUTING_ID, channels->session, JUPYTER_ID);
    return zmq_connect(socket, address) == 0 ? socket : NULL;
}

static void channels_make_names(struct jupyter_channels *channels)
{
    AUTO_FREE char *key = random_digits(HMAC_KEY_BYTES);
    AUTO_FREE char *session = random_digits(JUPYTER_ID);

    memcpy(channels->key.text, key, HMAC_KEY_BYTES);
    memcpy(channels->session, session, JUPYTER_ID);
}

int jupyter_channels_open(struct jupyter_channels *channels, const char *parent, const char *name,
                          struct error *err)
{
    *channels = (struct jupyter_channels){.context = zmq_ctx_new()};
    channels_make_names(channels);
    channels->directory = memory_format("%s/pyexecd-jupyter-XXXXXX", parent);
    if (!mkdtemp(channels->directory))
        return error_set_errno(err, errno, "cannot make a directory in %s", parent);
    channels->connection = memory_format("%s/kernel.json", channels->directory);
    if (channels_write_file(channels, name, err) < 0)
        return -1;
    for (enum jupyter_channel i = 0; i < JUPYTER_CHANNELS; i++) {
        channels->sockets[i] = channel_open(channels, i);
        if (!channels->sockets[i])
            return error_set(err, ERROR_SYSTEM, "cannot make a socket of ZeroMQ: %s",
                             zmq_strerror(zmq_errno()));
    }
    return 0;
}

void jupyter_channels_send(struct jupyter_channels *channels, enum jupyter_channel channel,
                           const struct jupyter_request *request)
{
    for (int i = 0; i < JUPYTER_SENT; i++)
        if (zmq_send(channels->sockets[channel], request->texts[i], strlen(request->texts[i]),
                     ZMQ_DONTWAIT | (i + 1 < JUPYTER_SENT ? ZMQ_SNDMORE : 0)) < 0)
            return;
}

/* All parts of one message; what is beyond JUPYTER_MOST_PARTS is dropped. 0: there is none. */
static size_t channel_take(void *socket, zmq_msg_t frames[JUPYTER_MOST_PARTS])
{
    size_t count = 0;
    bool has_more = true;

    while (has_more) {
        zmq_msg_t frame;

        zmq_msg_init(&frame);
        if (zmq_msg_recv(&frame, socket, ZMQ_DONTWAIT) < 0)
            break;
        has_more = zmq_msg_more(&frame);
        if (count < JUPYTER_MOST_PARTS) {
            zmq_msg_init(&frames[count]);
            zmq_msg_move(&frames[count++], &frame);
        }
        zmq_msg_close(&frame);
    }
    return count;
}

enum jupyter_arrival jupyter_channels_receive(struct jupyter_channels *channels,
                                              enum jupyter_channel channel,
                                              struct jupyter_message *message)
{
    zmq_msg_t frames[JUPYTER_MOST_PARTS];
    struct jupyter_part parts[JUPYTER_MOST_PARTS];
    size_t count = channel_take(channels->sockets[channel], frames);
    struct error err = ERROR_INIT;
    bool is_good;

    if (count == 0)
        return JUPYTER_NOTHING;
    for (size_t i = 0; i < count; i++)
        parts[i] = (struct jupyter_part){zmq_msg_data(&frames[i]), zmq_msg_size(&frames[i])};
    is_good = jupyter_message_read(message, &channels->key, parts, count, &err) == 0;
    for (size_t i = 0; i < count; i++)
        zmq_msg_close(&frames[i]);
    if (is_good)
        return JUPYTER_ARRIVED;
    channels->bad++;
    return JUPYTER_DROPPED;
}
