/* The parameters of a request, whose types nobody has checked yet.
 *
 * The envelope is the request's description of itself in `_meta`. A modern request gives all of it,
 * its protocol version first; an older request gives only the token for progress. */
#pragma once

#include "base/error.h"
#include "server/tools/invocation.h"

#include <jansson.h>
#include <stdbool.h>

struct mcp_request;

#define MCP_META_PREFIX      "io.modelcontextprotocol/"
#define MCP_META_SERVER_INFO MCP_META_PREFIX "serverInfo"

/* Of ours: the form that a request wants its results in, and the structured form of a result; that
 * a request wants output as it comes, and a piece of it. */
#define MCP_META_RESULTS "pyexecd/results"
#define MCP_META_RESULT  "pyexecd/result"
#define MCP_META_FAILURE "pyexecd/failure"
#define MCP_META_OUTPUT  "pyexecd/output"

/* True when PARAMS claim to be a request that stands alone, rightly or not. */
bool envelope_is_claimed(const json_t *params);

/* True when PARAMS really are a request of a stateless revision that is served here. */
bool envelope_is_modern(const json_t *params);

/* Takes version, capabilities and log level of a modern REQUEST from its envelope, or -1 with ERR:
 * the envelope is faulty, or the header fields beside it are. For a version that is not served
 * `error_data` is set too. */
int envelope_read(struct mcp_request *request, struct error *err);

/* The progress token in PARAMS; NULL when there is none or it is no string or integer. Borrowed. */
json_t *envelope_progress_token(const json_t *params);

/* The form of results that PARAMS ask for in `_meta`. ERROR_INVALID_PARAMS for a value that is no
 * form. */
int envelope_result_form(const json_t *params, enum result_form *ret, struct error *err);

/* Whether PARAMS ask in `_meta` for output as it comes. ERROR_INVALID_PARAMS for a value that is no
 * boolean. */
int envelope_wants_output(const json_t *params, bool *ret, struct error *err);

/* Members that several methods have. They are borrowed from PARAMS. ERROR_INVALID_PARAMS for a
 * faulty value. */

/* The string MEMBER of PARAMS, which must be there. A string with a NUL in it is read as "": no
 * registered entry has such a name. */
int params_name(const json_t *params, const char *member, const char **ret, struct error *err);

/* The object `arguments` of PARAMS, or NULL. */
int params_arguments(const json_t *params, json_t **ret, struct error *err);
