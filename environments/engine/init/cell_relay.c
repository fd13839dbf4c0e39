#include "environments/engine/init/cell_relay.h"

#include "base/cleanup.h"
#include "base/memory.h"
#include "environments/engine/init/usage.h"
#include "environments/engine/init/wire_end.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

enum { STATUS_SHIFT = 8 }; /* of an exit status, as wait(2) has it */

static const char cell_relay_interrupted[] = "interrupted\n";

bool cell_relay_open(struct cell_relay *relay, struct wire_end *wire)
{
    int ends[2];

    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) < 0)
        return false;
    *relay = (struct cell_relay){.wire = wire, .channel = ends[0], .theirs = ends[1]};
    return true;
}

bool cell_relay_is_empty(const struct cell_relay *relay)
{
    return relay->begin == relay->end;
}

short cell_relay_events(const struct cell_relay *relay)
{
    return cell_relay_is_empty(relay) ? POLLIN : POLLIN | POLLOUT;
}

static void cell_relay_go_astray(struct cell_relay *relay)
{
    relay->is_astray = true;
    relay->begin = relay->end = 0;
}

static void cell_relay_put(struct cell_relay *relay, const char *data, size_t length)
{
    memcpy(relay->data + relay->end, data, length);
    relay->end += length;
}

static void cell_relay_begin_cell(struct cell_relay *relay)
{
    relay->left = strtoul(relay->head, NULL, 10);
    relay->is_busy = true;
    relay->cpu_before = usage_cpu();
    cell_relay_put(relay, relay->head, relay->head_length);
    relay->head_length = 0;
}

/* True if the head is the line that may come before a cell, or a part of it. */
static bool cell_relay_is_interrupted(const struct cell_relay *relay)
{
    return strncmp(relay->head, cell_relay_interrupted, relay->head_length) == 0;
}

static void cell_relay_pass_line(struct cell_relay *relay)
{
    if (relay->head_length < strlen(cell_relay_interrupted))
        return;
    cell_relay_put(relay, relay->head, relay->head_length);
    relay->head_length = 0;
}

static bool cell_relay_is_digit(char byte)
{
    return byte >= '0' && byte <= '9';
}

static void cell_relay_take_of_head(struct cell_relay *relay, char byte)
{
    relay->head[relay->head_length++] = byte;
    if (cell_relay_is_interrupted(relay))
        cell_relay_pass_line(relay);
    else if (byte == '\n' && cell_relay_is_digit(*relay->head))
        cell_relay_begin_cell(relay);
    else if (!cell_relay_is_digit(*relay->head) || !cell_relay_is_digit(byte) ||
             relay->head_length == sizeof relay->head)
        cell_relay_go_astray(relay);
}

void cell_relay_take(struct cell_relay *relay, const char *data, size_t length)
{
    if (cell_relay_is_empty(relay))
        relay->begin = relay->end = 0;
    while (length > 0 && !relay->is_astray) {
        size_t count = 1;

        if (relay->left > 0) {
            count = size_min(relay->left, length);
            cell_relay_put(relay, data, count);
            relay->left -= count;
        } else if (relay->is_busy) {
            cell_relay_go_astray(relay);
        } else {
            cell_relay_take_of_head(relay, *data);
        }
        data += count;
        length -= count;
    }
}

static void cell_relay_send(struct cell_relay *relay)
{
    ssize_t count = send(relay->channel, relay->data + relay->begin, relay->end - relay->begin,
                         MSG_DONTWAIT | MSG_NOSIGNAL);

    if (count > 0)
        relay->begin += (size_t)count;
    else if (errno != EAGAIN)
        cell_relay_go_astray(relay);
}

static void cell_relay_answer(struct cell_relay *relay, unsigned char status, double deadline)
{
    const struct last_words words = {
        .status = status << STATUS_SHIFT,
        .cpu_seconds = usage_cpu() - relay->cpu_before,
        .peak_bytes = usage_peak(),
    };

    relay->is_busy = false;
    wire_end_say_words(relay->wire, INIT_CELL, &words, deadline);
}

static void cell_relay_receive(struct cell_relay *relay, double deadline)
{
    unsigned char bytes[2];
    ssize_t count = recv(relay->channel, bytes, sizeof bytes, MSG_DONTWAIT);

    if (count < 0 && errno == EAGAIN)
        return;
    if (count == 1 && relay->is_busy && relay->left == 0 && cell_relay_is_empty(relay)) {
        cell_relay_answer(relay, bytes[0], deadline);
        return;
    }
    cell_relay_go_astray(relay);
    if (count <= 0)
        close(STEAL_FD(relay->channel));
}

void cell_relay_serve(struct cell_relay *relay, double deadline)
{
    if (relay->channel >= 0 && !cell_relay_is_empty(relay))
        cell_relay_send(relay);
    if (relay->channel >= 0)
        cell_relay_receive(relay, deadline);
}
