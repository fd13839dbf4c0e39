#include "environments/process/runner/message.h"

#include "base/descriptors.h"
#include "environments/process/runner/program.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>

/* Receiving */

bool message_receive_head(int fd, struct wire_head *ret, int descriptors[CONTROL_DESCRIPTORS])
{
    char head[WIRE_HEAD_BYTES];
    size_t received;
    ssize_t count;

    for (size_t i = 0; i < CONTROL_DESCRIPTORS; i++)
        descriptors[i] = -1;
    count = descriptors_receive(fd, head, sizeof head, MSG_WAITALL, descriptors,
                                CONTROL_DESCRIPTORS, &received);
    return count == sizeof head && wire_take_head(&control_protocol, head, ret);
}

static bool message_receive(void *data, size_t length)
{
    size_t done = 0;

    while (done < length) {
        ssize_t count = recv(CONTROL_FD, (char *)data + done, length - done, 0);

        if (count < 0 && errno == EINTR)
            continue;
        if (count <= 0)
            return false;
        done += (size_t)count;
    }
    return true;
}

void message_receive_program(struct program *program, size_t length,
                             const int descriptors[CONTROL_DESCRIPTORS])
{
    program->payload = malloc(length);
    if (!program->payload || !message_receive(program->payload, length) ||
        !program_parse(program, program->payload, length, descriptors))
        _exit(1);
}

/* Sending */

void message_greet(int fd)
{
    (void)!send(fd, WIRE_HELLO, WIRE_HELLO_BYTES, MSG_NOSIGNAL);
}

void message_send_to(int fd, enum control_type type, const void *payload, size_t length)
{
    char head[WIRE_HEAD_BYTES];
    struct iovec parts[] = {
        {.iov_base = head, .iov_len = sizeof head},
        {.iov_base = (void *)payload, .iov_len = length},
    };
    struct msghdr message = {.msg_iov = parts, .msg_iovlen = length > 0 ? 2 : 1};

    wire_put_head(head, type, length);
    while (sendmsg(fd, &message, MSG_NOSIGNAL) < 0)
        if (errno != EINTR) {
            /* A server that misses a report would wait, so both sides are shown the end of the
             * channel. */
            shutdown(fd, SHUT_RDWR);
            return;
        }
}

void message_send(enum control_type type, const void *payload, size_t length)
{
    message_send_to(CONTROL_FD, type, payload, length);
}

void message_send_text(enum control_type type, const char *text)
{
    message_send(type, text, strlen(text));
}

void message_send_refusal(enum control_need need, const char *text)
{
    struct {
        struct control_refused head;
        char text[256];
    } message = {.head = {.need = need, .number = errno}};

    snprintf(message.text, sizeof message.text, "%s: %s", text, strerror(errno));
    message_send(CONTROL_REFUSED, &message, sizeof message.head + strlen(message.text));
}

void runner_refuse(enum control_need need, const char *text)
{
    message_send_refusal(need, text);
    _exit(1);
}

void runner_need(enum control_need need, int result, const char *text)
{
    if (result < 0)
        runner_refuse(need, text);
}
