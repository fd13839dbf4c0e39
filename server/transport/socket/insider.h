/* Whether a client is a script that this server runs. Such a one is not served: its calls would
 * outlive it, be approved by it, and keep it alive. */
#pragma once

enum insider {
    INSIDER_NO,
    INSIDER_YES,
    INSIDER_UNKNOWN, /* the process has ended or hides, so it is not served either */
};

/* What the connected socket FD leads to. Unix sockets: the kernel names the process that connected.
 * TCP: whoever holds the other end now, if that is on this machine. */
enum insider insider_find(int fd);
