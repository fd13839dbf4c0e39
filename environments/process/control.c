#include "environments/process/control.h"

static const struct wire_rule control_rules[CONTROL_TYPES] = {
    [CONTROL_RUN] = {.least = sizeof(struct control_run), .most = CONTROL_LIMIT_BYTES},
    [CONTROL_CODE] = {.most = 0},
    [CONTROL_TOOLS] = {.most = 0},
    [CONTROL_COPY] = {.most = 0},
    [CONTROL_INTERRUPT] = {.most = 0},
    [CONTROL_STACKS] = {.most = CONTROL_STACKS_BYTES},
    [CONTROL_SUPERVISOR] = {.least = sizeof(struct control_supervisor),
                            .most = sizeof(struct control_supervisor)},
    [CONTROL_READY] = {.most = CONTROL_TEXT_BYTES},
    [CONTROL_REFUSED] = {.least = sizeof(struct control_refused), .most = CONTROL_TEXT_BYTES},
    [CONTROL_FAILED] = {.most = CONTROL_TEXT_BYTES},
    [CONTROL_WAITING] = {.least = sizeof(struct control_waiting),
                         .most = sizeof(struct control_waiting)},
    [CONTROL_STARTED] = {.least = sizeof(struct control_started),
                         .most = sizeof(struct control_started)},
    [CONTROL_LEFT] = {.least = sizeof(uint32_t), .most = CONTROL_TEXT_BYTES},
    [CONTROL_ENDED] = {.least = sizeof(struct control_ended), .most = sizeof(struct control_ended)},
};

const struct wire_protocol control_protocol = {.types = CONTROL_TYPES, .rules = control_rules};
