/* The frames between a server and a node (`pyexecd node`), over the standard input and output of a
 * launcher (base/wire.h). docs/internals/nodes.md has the order in which they come.
 *
 * Each frame begins with the number of a channel: the conversation about one preparation or one
 * execution. Channel 0 is the wire itself. Bytes or JSON follow. The output of a script, its
 * input and its files need credit: a sender has NODE_WINDOW_BYTES in each direction of a channel,
 * and gets them back when the other end has passed them on. So a flood on one channel holds up its
 * own script, and no frame of another one. */
#pragma once

#include "base/wire.h"

enum {
    NODE_PROTOCOL = 3, /* changes with each change of the frames and their JSON */
    NODE_CHANNEL_BYTES = 4,
    NODE_PIECE_BYTES = 32 << 10, /* of one frame of code, output, cells or files, at most */
    NODE_WINDOW_BYTES = 256 << 10,
    NODE_CODE_BYTES = 64 << 20, /* of the code of one execution, at most */
};

enum node_frame {
    NODE_HELLO = 1,   /* both, JSON: the protocol and their names; the node's comes first */
    NODE_READY,       /* from the node, JSON: what it has found of the server's files */
    NODE_PING,        /* both: an end that has nothing to say lives */
    NODE_CREDIT,      /* both: so many bytes (4) have been passed on */
    NODE_ENVIRONMENT, /* to the node, JSON: an environment, by its number from now on */
    NODE_PREPARE,     /* the same: prepare it */
    NODE_START,       /* the same: execute the code that follows in it */
    NODE_CODE,        /* to the node, bytes */
    NODE_CELLS,       /* the same, for the input of the program; need credit */
    NODE_INTERRUPT,   /* to the node */
    NODE_KILL,        /* the same: everything of this channel, now */
    NODE_STEP,        /* from the node, JSON: the present step of a preparation */
    NODE_PREPARED,    /* the same: what is known of the environment that is prepared */
    NODE_BEGUN,       /* from the node: the time of the code begins */
    NODE_OUT,         /* from the node, bytes: what it has printed; need credit */
    NODE_ERRORS,      /* the same to stderr */
    NODE_CELL,        /* from the node, JSON: the end of a cell, behind its output */
    NODE_ENDED,       /* the same: the end of the channel, behind everything else */
    NODE_ECHO,        /* to the node, bytes, and the same from it: how long that takes */
    NODE_ENTRY,       /* both: an entry of the directory (node_entry.h), or ... */
    NODE_CONTENT,     /* ... bytes of the file; it needs credit, as NODE_GONE does */
    NODE_GONE,        /* both: the path of a file that is not there any more */
    NODE_COPIED,      /* both, JSON: the other end has all; what was left out */
    NODE_RETURN,      /* from the node: the time of the code is over, and its files come */
    NODE_FRAMES,
};

extern const struct wire_protocol node_protocol;
