/* A tool of the operator as a script calls it: `github.search_issues(query: str, page: int = 1)`.
 * Of the texts of its server only names and short values come in, and no invisible characters. */
#pragma once

#include <jansson.h>

struct buffer;

/* Appends NAME as an attribute of Python: letters that none may have become "_". */
void tool_signature_append_name(struct buffer *text, const char *name);

/* Appends the signature of TOOL: {server, name, inputSchema, outputSchema}. */
void tool_signature_append(struct buffer *text, const json_t *tool);
