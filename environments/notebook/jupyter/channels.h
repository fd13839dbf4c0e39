/* The channels to a kernel: sockets of ZeroMQ in a directory of the file system, so that no network
 * is needed. A process that can open the directory may listen, but only messages signed with the
 * key are obeyed. */
#pragma once

#include "base/error.h"
#include "environments/notebook/jupyter/message.h"

#include <stdbool.h>

enum jupyter_channel {
    JUPYTER_SHELL,   /* requests, and their replies */
    JUPYTER_CONTROL, /* requests and replies while a cell is at work */
    JUPYTER_IOPUB,   /* the kernel's broadcasts */
    JUPYTER_CHANNELS,
};

struct jupyter_channels {
    void *context;
    void *sockets[JUPYTER_CHANNELS];
    struct jupyter_key key;
    char session[JUPYTER_ID + 1];
    char *directory;   /* owned: private */
    char *connection;  /* owned: the path of the file in it that a kernel reads */
    unsigned long bad; /* messages that were dropped as invalid */
};

enum jupyter_arrival {
    JUPYTER_NOTHING, /* no message is there now */
    JUPYTER_DROPPED, /* the message was not a valid message of the kernel */
    JUPYTER_ARRIVED,
};

/* Makes the directory below PARENT, and the file in it for the kernel NAME. -1 with ERR. */
int jupyter_channels_open(struct jupyter_channels *channels, const char *parent, const char *name,
                          struct error *err);

/* Sends REQUEST. A request that cannot be sent is lost and gets no reply. */
void jupyter_channels_send(struct jupyter_channels *channels, enum jupyter_channel channel,
                           const struct jupyter_request *request);

/* Takes one message; MESSAGE is the caller's if it has ARRIVED. Does not wait. */
enum jupyter_arrival jupyter_channels_receive(struct jupyter_channels *channels,
                                              enum jupyter_channel channel,
                                              struct jupyter_message *message);
