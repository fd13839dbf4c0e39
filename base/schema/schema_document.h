/* Reading a schema as a document, for who wants its words rather than a verdict. References are
 * "#/..." without escapes, as embed.py writes them. */
#pragma once

#include <jansson.h>

/* The keyword NAME of NODE in DOCUMENT, or of the node that NODE refers to. Borrowed, or NULL. */
const json_t *schema_document_keyword(const json_t *document, const json_t *node, const char *name);
