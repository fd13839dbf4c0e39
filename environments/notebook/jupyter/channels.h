/* The channels to a kernel: sockets of ZeroMQ in a directory of the file system, so that no network
 * is needed. Who can open that directory may listen, but only who has the key is obeyed. */
#pragma once

#include "base/error.h"
#include "environments/notebook/jupyter/message.h"

#include <stdbool.h>

enum jupyter_channel {
    JUPYTER_SHELL,   /* requests, and their replies */
    JUPYTER_CONTROL, /* the same, while a cell is at work */
    JUPYTER_IOPUB,   /* what the kernel tells everybody */
    JUPYTER_CHANNELS,
};

struct jupyter_channels {
    void *context;
    void *sockets[JUPYTER_CHANNELS];
    struct jupyter_key key;
    char session[JUPYTER_ID + 1];
    char *directory;   /* owned: private */
    char *connection;  /* owned: the file in it that a kernel reads */
    unsigned long bad; /* messages that were dropped, since nobody could have meant them */
};

enum jupyter_arrival {
    JUPYTER_NOTHING, /* is there now */
    JUPYTER_DROPPED, /* what came was no message of the kernel */
    JUPYTER_ARRIVED,
};

/* Makes the directory below PARENT, and the file in it for the kernel NAME. -1 with ERR. */
int jupyter_channels_open(struct jupyter_channels *channels, const char *parent, const char *name,
                          struct error *err);

/* Sends REQUEST. What cannot be sent is lost: then nothing answers. */
void jupyter_channels_send(struct jupyter_channels *channels, enum jupyter_channel channel,
                           const struct jupyter_request *request);

/* Takes one message; MESSAGE is the caller's if it has ARRIVED. Does not wait. */
enum jupyter_arrival jupyter_channels_receive(struct jupyter_channels *channels,
                                              enum jupyter_channel channel,
                                              struct jupyter_message *message);
