/* An error: a code for machines, errno where there was one, a sentence for people and models.
 *
 * The caller owns the object (`struct error err = ERROR_INIT;`); it never allocates and is never
 * freed, so failing is one line and works out of memory too. Functions that can fail return 0, or
 * -1 with ERR set; on success ERR is untouched. An error that is kept is copied by error_copy():
 * the rest of its message belongs to somebody else. A message has no control characters but
 * newlines and tabs, whatever its origin. */
#pragma once

#include <stdbool.h>

enum error_code {
    ERROR_NONE = 0,

    /* Protocol errors: the request itself is wrong; answered with a JSON-RPC error. */
    ERROR_PARSE,
    ERROR_INVALID_REQUEST,
    ERROR_METHOD_NOT_FOUND,
    ERROR_INVALID_PARAMS,
    ERROR_ENVELOPE,         /* a member that every request must have is missing or wrong */
    ERROR_HEADER_MISMATCH,  /* the HTTP header fields say something else than the message */
    ERROR_UNKNOWN_TOOL,     /* the message is its name */
    ERROR_UNKNOWN_RESOURCE, /* the message is its URI */
    ERROR_MISSING_CAPABILITY,
    ERROR_UNSUPPORTED_VERSION,
    ERROR_INTERNAL,

    /* Execution errors: the request was understood, the work could not be done; answered with a
     * tool result that says so, because the caller can act on it. */
    ERROR_INVALID_ARGUMENTS,
    ERROR_DENIED,
    ERROR_UNAPPROVED, /* a person has to be asked first */
    ERROR_UNAVAILABLE,
    ERROR_BUSY,
    ERROR_LIMIT,
    ERROR_TIMEOUT,
    ERROR_SYSTEM,

    /* Start-up errors: faults of the configuration or the command line. */
    ERROR_USAGE,
    ERROR_CONFIG,
};

enum {
    ERROR_MESSAGE_BYTES = 496,
    ERROR_FULL_BYTES = 2048, /* of a message and its rest */
};

/* Room for the rest of a long message, such as the last lines of an installer. */
struct error_rest {
    char text[ERROR_FULL_BYTES - ERROR_MESSAGE_BYTES];
};

struct error {
    enum error_code code;
    int number;              /* errno, or 0 */
    struct error_rest *rest; /* borrowed; NULL: a message that is too long is cut */
    char message[ERROR_MESSAGE_BYTES];
};

#define ERROR_INIT                                                                                 \
    {                                                                                              \
        .code = ERROR_NONE                                                                         \
    }

/* For code that shows messages in full, or passes them to such code. REST must live as long. */
#define ERROR_INIT_LONG(REST)                                                                      \
    {                                                                                              \
        .code = ERROR_NONE, .rest = (REST)                                                         \
    }

/* Sets ERR, which must not be set yet, and returns -1. The message is a fragment without capital
 * and full stop that names the thing: "cannot bind unix:/run/x". */
int error_set(struct error *err, enum error_code code, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* The same for a failed system call: "FORMAT: strerror(NUMBER)", code ERROR_SYSTEM. */
int error_set_errno(struct error *err, int number, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* Puts "FORMAT: " before the message of ERR, which must be set. Returns -1. */
int error_prefix(struct error *err, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Makes ERR what OTHER is, which is set, with as much of its message as ERR has room for. */
void error_copy(struct error *err, const struct error *other);

/* Makes ERR an error that is not set; it keeps its room. */
void error_clear(struct error *err);

/* The message of ERR, which is set, with its rest. Owned by the caller. */
char *error_text(const struct error *err);

/* True for the family that becomes a JSON-RPC error rather than a tool result. */
bool error_is_protocol(const struct error *err);
