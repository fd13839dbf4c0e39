/* The messages between this process and the server, over a control channel. */
#pragma once

#include "environments/process/control.h"

#include <stdbool.h>
#include <stddef.h>

struct program;

/* Says hello over the control channel FD, before any message. */
void message_greet(int fd);

/* Receives the head of the next message over the control channel FD. DESCRIPTORS came with it, or
 * are -1. False at the end of the lifeline, or when it is no head. */
bool message_receive_head(int fd, struct wire_head *ret, int descriptors[CONTROL_DESCRIPTORS]);

/* Receives the LENGTH bytes that follow on the head of a CONTROL_RUN. Does not return when they are
 * malformed. */
void message_receive_program(struct program *program, size_t length,
                             const int descriptors[CONTROL_DESCRIPTORS]);

/* Sends a message to the server; the second one over the control channel FD of a copy. */
void message_send(enum control_type type, const void *payload, size_t length);
void message_send_to(int fd, enum control_type type, const void *payload, size_t length);
void message_send_text(enum control_type type, const char *text);

/* Reports that NEED cannot be had, with "TEXT: strerror(errno)", and ends. */
_Noreturn void runner_refuse(enum control_need need, const char *text);

/* Reports the same, without ending. */
void message_send_refusal(enum control_need need, const char *text);

/* Calls runner_refuse when RESULT, of a system call, is negative. */
void runner_need(enum control_need need, int result, const char *text);
