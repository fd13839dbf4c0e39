/* JSON-RPC 2.0: reads and classifies messages, and writes answers.
 *
 * An id is kept as the JSON text that is echoed, so that it comes back as it was sent, whatever its
 * type and size. */
#pragma once

#include "base/error.h"
#include "base/protocol/scan.h"

#include <jansson.h>
#include <stddef.h>

enum {
    MESSAGE_ID_BYTES = 1024,          /* longest id, as JSON text */
    MESSAGE_REST_BYTES = 1024 * 1024, /* of a message, besides its long strings (scan.h) */
};

enum message_kind {
    MESSAGE_REQUEST,
    MESSAGE_NOTIFICATION,
    MESSAGE_RESPONSE,
};

struct message {
    enum message_kind kind;
    char *id;           /* JSON text; owned; NULL: there is no id, or it cannot be echoed */
    const char *method; /* borrowed; NULL for a name that no method can have, and in responses */
    json_t *params;     /* borrowed; NULL when absent */
};

/* Parses LENGTH bytes of TEXT, which is changed in place; any JSON value. SCAN, zeroed, receives
 * the numbers and strings that the parser cannot see. New reference, or NULL with ERR (ERROR_PARSE,
 * ERROR_INVALID_REQUEST). */
json_t *message_parse(char *text, size_t length, struct scan *scan, struct error *err);

/* Classifies VALUE, message ELEMENT of its batch. After a failure `id` is the id for the error
 * response. MESSAGE borrows from VALUE. */
int message_read(struct message *message, json_t *value, const struct scan *scan, size_t element,
                 struct error *err);
void message_deinit(struct message *message);

/* The JSON text of an id, or NULL when VALUE cannot be one. DIGITS stand for an integer that the
 * parser could not take, or are NULL. Owned by the caller. */
char *message_id_text(const json_t *value, const char *digits);

/* Messages as compact JSON text without line breaks; owned by the caller. ID is JSON text, NULL
 * for null. DATA may be NULL. A result may be JSON text already. */
char *message_result(const char *id, const json_t *result);
char *message_result_text(const char *id, const char *result);
char *message_error(const char *id, const struct error *err, json_t *data);
char *message_request(unsigned id, const char *method, json_t *params);
char *message_notification(const char *method, json_t *params);
