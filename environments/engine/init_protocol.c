#include "environments/engine/init_protocol.h"

static const struct wire_rule init_rules[INIT_FRAMES] = {
    [INIT_OUT] = {.most = INIT_PIECE_BYTES, .is_split = true},
    [INIT_ERRORS] = {.most = INIT_PIECE_BYTES, .is_split = true},
    [INIT_BEGUN] = {.most = 0},
    [INIT_NOT_BEGUN] = {.most = 0},
    [INIT_CELL] = {.least = LAST_WORDS_BYTES, .most = LAST_WORDS_BYTES},
    [INIT_ENDED] = {.least = LAST_WORDS_BYTES, .most = LAST_WORDS_BYTES},
    [INIT_GO] = {.least = GO_BYTES, .most = GO_BYTES},
    [INIT_CODE] = {.most = INIT_PIECE_BYTES, .is_split = true},
    [INIT_CELLS] = {.most = INIT_PIECE_BYTES, .is_split = true},
    [INIT_DISMISSAL] = {.most = 0},
};

const struct wire_protocol init_protocol = {.types = INIT_FRAMES, .rules = init_rules};

const char init_dismissal[WIRE_HEAD_BYTES] = {INIT_DISMISSAL};
