/* Reads a schema as a document, for callers that need its texts and no verdict. References are
 * "#/..." without escapes, as embed.py writes them. */
#pragma once

#include <jansson.h>

/* The keyword NAME of NODE in DOCUMENT, or of the node that NODE refers to. Borrowed, or NULL. */
const json_t *schema_document_keyword(const json_t *document, const json_t *node, const char *name);
