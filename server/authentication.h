/* Who may come in over TCP and HTTP, as the configuration says. */
#pragma once

#include "server/token_file.h"

#include <ev.h>

struct authority;
struct config;
struct limits;

/* Reads the `token_file` of CONFIG; without one *RET has no entries. -1 after every fault has been
 * complained about in CONFIG, also environments that CONFIG does not have. */
int authentication_read_tokens(struct config *config, struct token_file *ret);

/* True when CONFIG has something that can be shown. */
bool authentication_is_configured(const struct config *config);

/* Makes the authority for TOKENS, which are borrowed for the call; *RET is NULL where CONFIG has
 * nothing that can be shown. -1 after what is wrong has been complained about in CONFIG. */
int authentication_open(struct ev_loop *loop, struct config *config,
                        const struct token_file *tokens, struct authority **ret);

/* What the principals of TOKENS, and all others that CONFIG lets in by a token, may do, in place of
 * what was set before. Who needs no token may do everything. */
void authentication_set_limits(struct limits *limits, const struct config *config,
                               const struct token_file *tokens);

/* Others instead of the tokens that AUTHORITY has. */
void authentication_set_tokens(struct authority *authority, const struct token_file *tokens);
