/* Messages of Jupyter's wire protocol (version 5.3), as the parts that ZeroMQ carries. Pure
 * functions. Incoming messages are hostile: cells may have changed the kernel that wrote them.
 *
 *     <topic or identities> "<IDS|MSG>" SIGNATURE HEADER PARENT_HEADER METADATA CONTENT <buffers>
 */
#pragma once

#include "base/error.h"
#include "base/hmac.h"

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

enum {
    JUPYTER_ID = 32,    /* digits of a name that we give */
    JUPYTER_SIGNED = 4, /* header, parent_header, metadata, content */
    JUPYTER_SENT = 6,   /* with the delimiter and the signature */
    JUPYTER_MOST_PARTS = 32,
    JUPYTER_TYPE = 64, /* bytes of a type that is known, with its NUL */
};

/* The key that signs the messages of both sides: 32 characters, used as bytes. */
struct jupyter_key {
    char text[HMAC_KEY_BYTES + 1];
};

struct jupyter_part {
    const char *data; /* borrowed */
    size_t length;
};

/* A message that we send. */
struct jupyter_request {
    char id[JUPYTER_ID + 1];
    char *texts[JUPYTER_SENT]; /* owned: the parts */
};

/* A received message with a valid signature. */
struct jupyter_message {
    char type[JUPYTER_TYPE];
    char parent[JUPYTER_ID + 1]; /* the id of the request; "" or unknown: not of our request */
    json_t *content;             /* owned: an object */
};

/* Makes a request of TYPE with CONTENT (borrowed) in SESSION, a name, with a new id. */
void jupyter_request_init(struct jupyter_request *request, const struct jupyter_key *key,
                          const char *session, const char *type, const json_t *content);
void jupyter_request_deinit(struct jupyter_request *request);

/* Reads COUNT PARTS. -1 with ERR: they are not a message, or not signed with KEY. */
int jupyter_message_read(struct jupyter_message *message, const struct jupyter_key *key,
                         const struct jupyter_part *parts, size_t count, struct error *err);
void jupyter_message_deinit(struct jupyter_message *message);

/* True when MESSAGE belongs to REQUEST. */
bool jupyter_message_answers(const struct jupyter_message *message,
                             const struct jupyter_request *request);
