/* The messages in JSON between a server and a node: requests, ends and facts, as members of C. The
 * other end is ours, but may be of another build: a member that is absent, or of another type, is 0
 * or NULL. */
#pragma once

#include "environments/environment.h"
#include "environments/execution.h"
#include "environments/nodes/node_entry.h"

#include <jansson.h>

/* The strings of a request that came from a server. */
struct node_request {
    json_t *message;                  /* owned */
    char **variables;                 /* owned; or NULL */
    char **arguments;                 /* owned; or NULL */
    char **kept;                      /* owned: entries of its directory, by their names, which
                                         scripts only read; or NULL */
    struct execution_request request; /* borrows from them; without descriptors and code */
    uint32_t environment;
    size_t code_length; /* of its code or program, which follows */
    bool is_program;
    bool has_text;
    bool has_input;
    bool is_recurrent;
    uint64_t inode;        /* of its directory, which is to be this one; 0: whichever is there */
    bool is_copied;        /* its directory comes, and goes back: ... */
    uint64_t growth_limit; /* ... by so many bytes it may grow, ... */
    uint64_t copy_limit;   /* ... and so many bytes of files may go back */
};

/* REQUEST for ENVIRONMENT, which only reads KEPT (see above). IS_TRIED: its directory lies where a
 * node has looked for the server's files already. New reference. */
json_t *node_request_write(const struct execution_request *request, char *const *kept,
                           uint32_t environment, bool is_tried);

/* MESSAGE is taken. False when it is none. */
bool node_request_read(struct node_request *ret, json_t *message);
void node_request_deinit(struct node_request *request);

/* The code or program of REQUEST, *RET_LENGTH bytes; borrowed. NULL: it has none. */
const char *node_request_code(const struct execution_request *request, size_t *ret_length);

/* SKIPS, as NODE_COPIED tells them. New reference. */
json_t *node_skips_write(const struct node_skips *skips);

void node_skips_read(struct node_skips *ret, const json_t *message);

/* END. New reference. */
json_t *node_end_write(const struct process_end *end);

/* *RET borrows from MESSAGE, whose lists are cut and cleaned, and from NODE, a string: the name of
 * the node, for the receipt. */
void node_end_read(struct process_end *ret, json_t *message, const json_t *node);

/* A run of NODE that never was, or of which nothing is known but why. */
void node_end_fail(struct process_end *ret, const char *failure, const json_t *node);

/* The end of a cell. */
json_t *node_usage_write(unsigned char status, const struct process_usage *usage);
unsigned char node_usage_read(struct process_usage *ret, const json_t *message);

/* The facts about a prepared environment on a node. */
struct node_facts {
    bool is_known;     /* it has been prepared on a node */
    char *interpreter; /* owned, as all below; NULL: not known */
    char *version;
    enum script_delivery delivery;
    struct process_receipt receipt; /* of the next run; its lists are references */
};

json_t *node_facts_write(const struct environment *environment);

/* Adds what NODE says to FACTS, which may come from another node already and hold for all nodes: if
 * one of them needs the script in place, all get it there. */
void node_facts_read(struct node_facts *facts, json_t *message, const json_t *node);
void node_facts_deinit(struct node_facts *facts);

/* SETTINGS, as a configuration has them. New reference. */
json_t *node_settings_write(const struct environment_settings *settings);
