/* Access rules for TCP and HTTP, from the configuration. */
#pragma once

#include "server/token_file.h"

#include <ev.h>

struct authority;
struct config;
struct limits;

/* Reads the `token_file` of CONFIG; without one *RET has no entries. -1 after every fault has been
 * complained about in CONFIG, also environments that CONFIG does not have. */
int authentication_read_tokens(struct config *config, struct token_file *ret);

/* True when CONFIG has tokens of either kind. */
bool authentication_is_configured(const struct config *config);

/* Makes the authority for TOKENS, which are borrowed for the call; *RET is NULL if CONFIG has no
 * tokens of either kind. -1 after complaints in CONFIG. */
int authentication_open(struct ev_loop *loop, struct config *config,
                        const struct token_file *tokens, struct authority **ret);

/* Replaces the limits of all principals that come in by a token, of TOKENS or of OAuth. Clients
 * that need no token have no limits. */
void authentication_set_limits(struct limits *limits, const struct config *config,
                               const struct token_file *tokens);

/* Replaces the tokens of AUTHORITY. */
void authentication_set_tokens(struct authority *authority, const struct token_file *tokens);
