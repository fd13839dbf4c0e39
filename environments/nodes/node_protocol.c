#include "environments/nodes/node_protocol.h"

#include "environments/nodes/node_entry.h"

#define NODE_RULE(LEAST, MOST)                                                                     \
    {                                                                                              \
        .least = NODE_CHANNEL_BYTES + (LEAST), .most = NODE_CHANNEL_BYTES + (MOST)                 \
    }

enum {
    NODE_WORD_BYTES = 4,
    NODE_NOTE_BYTES = 16 << 10,
    NODE_RESULT_BYTES = 128 << 10, /* more than stacks and names of files take */
    NODE_TEXT_BYTES = 1 << 20,
    NODE_REQUEST_BYTES = 64 << 20, /* arguments and variables of a call */
};

static const struct wire_rule node_rules[NODE_FRAMES] = {
    [NODE_HELLO] = NODE_RULE(0, NODE_NOTE_BYTES),
    [NODE_READY] = NODE_RULE(0, NODE_NOTE_BYTES),
    [NODE_PING] = NODE_RULE(0, 0),
    [NODE_CREDIT] = NODE_RULE(NODE_WORD_BYTES, NODE_WORD_BYTES),
    [NODE_ENVIRONMENT] = NODE_RULE(0, NODE_TEXT_BYTES),
    [NODE_PREPARE] = NODE_RULE(0, NODE_NOTE_BYTES),
    [NODE_START] = NODE_RULE(0, NODE_REQUEST_BYTES),
    [NODE_CODE] = NODE_RULE(0, NODE_PIECE_BYTES),
    [NODE_CELLS] = NODE_RULE(0, NODE_PIECE_BYTES),
    [NODE_INTERRUPT] = NODE_RULE(0, 0),
    [NODE_KILL] = NODE_RULE(0, 0),
    [NODE_STEP] = NODE_RULE(0, NODE_NOTE_BYTES),
    [NODE_PREPARED] = NODE_RULE(0, NODE_RESULT_BYTES),
    [NODE_BEGUN] = NODE_RULE(0, 0),
    [NODE_OUT] = NODE_RULE(0, NODE_PIECE_BYTES),
    [NODE_ERRORS] = NODE_RULE(0, NODE_PIECE_BYTES),
    [NODE_CELL] = NODE_RULE(0, NODE_NOTE_BYTES),
    [NODE_ENDED] = NODE_RULE(0, NODE_RESULT_BYTES),
    [NODE_ECHO] = NODE_RULE(0, NODE_PIECE_BYTES),
    [NODE_ENTRY] = NODE_RULE(NODE_ENTRY_HEAD_BYTES + 2, NODE_ENTRY_BYTES),
    [NODE_CONTENT] = NODE_RULE(0, NODE_PIECE_BYTES),
    [NODE_GONE] = NODE_RULE(1, NODE_ENTRY_PATH_BYTES),
    [NODE_COPIED] = NODE_RULE(0, NODE_NOTE_BYTES),
    [NODE_RETURN] = NODE_RULE(0, 0),
};

const struct wire_protocol node_protocol = {.types = NODE_FRAMES, .rules = node_rules};
