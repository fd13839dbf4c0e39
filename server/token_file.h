/* The operator's file of tokens, which others may not read. It holds either one token, as it is,
 * and nothing else; or a line for each,
 *
 * # comments and empty lines are passed over     NAME sha256:HEX [calls_per_minute=N]
 * [concurrent_runs=N] [environments=A,B] [tools=A,B]
 *
 * as `pyexecd token NAME` prints it. A name with several lines has several tokens, so that a token
 * can be replaced while clients still use the old one; limits stand on the first line. */
#pragma once

#include "base/error.h"
#include "server/transport/identity/authority.h"

#include <stdbool.h>
#include <stddef.h>

#define TOKEN_FILE_NAME_OF_BARE "token" /* the principal where the file is one token */

enum {
    TOKEN_FILE_MOST_BYTES = 256 * 1024,
    TOKEN_FILE_MOST_ENTRIES = 1024,
    TOKEN_FILE_MOST_NAMES = 64,      /* in a list of one entry */
    TOKEN_FILE_MOST_CALLS = 1000000, /* a minute */
    TOKEN_FILE_MOST_RUNS = 256,
};

struct token_file_entry {
    char *name; /* owned */
    struct token token;
    unsigned line;
    bool is_bare;              /* the file is this token, and nothing else */
    unsigned calls_per_minute; /* 0: the server's default */
    unsigned concurrent_runs;  /* 0: the server's default */
    char **environments;       /* owned, NULL-terminated; NULL: all */
    char **tools;              /* likewise: the servers of tools */
};

struct token_file {
    struct token_file_entry *entries; /* owned */
    size_t count;
};

/* Called for each fault: "PATH:LINE: what is wrong", or for the whole file "cannot open PATH: ...".
 * No secret is in it. */
typedef void (*token_file_fault_fn)(void *data, const char *message);

/* Reads PATH. -1 when there was a fault, and then *RET is as it was. */
int token_file_read(const char *path, struct token_file *ret, token_file_fault_fn fault,
                    void *data);

/* The same from TEXT of LENGTH bytes, which is wiped. PATH stands in faults. */
int token_file_parse(const char *path, char *text, size_t length, struct token_file *ret,
                     token_file_fault_fn fault, void *data);

/* Adds LINE, which has no newline, to the file at PATH, which is made if it is not there. Returns
 * how many tokens the name of LINE has then; -1 with ERR, and nothing is added, if the file has
 * faults or would then have some. */
int token_file_add(const char *path, const char *line, struct error *err);

#define TOKEN_FILE_NAME_RULE                                                                       \
    "the name must be 1 to 64 letters, digits, dots, - and _, and not tcp, http, uid-... or "      \
    "oauth-..."

/* True for 1 to 64 letters, digits, dots, - and _ that are not reserved for users ("uid-"), other
 * authorities ("oauth-") or clients without a token ("tcp", "http"). */
bool token_file_is_name(const char *name);

/* Releases its entries. May be called twice. */
void token_file_deinit(struct token_file *file);
