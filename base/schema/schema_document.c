#include "base/schema/schema_document.h"

#include "base/cleanup.h"
#include "base/json.h"
#include "base/memory.h"

#include <stdlib.h>
#include <string.h>

/* The node that NODE refers to, or NULL. Borrowed. */
static const json_t *schema_document_referred(const json_t *document, const json_t *node)
{
    const char *reference = json_object_get_string(node, "$ref");

    if (!reference)
        return NULL;
    for (const char *part = strchr(reference, '/'); part; part = strchr(part, '/')) {
        AUTO_FREE char *key = memory_format("%.*s", (int)strcspn(part + 1, "/"), part + 1);

        document = json_object_get(document, key);
        part++;
    }
    return document;
}

const json_t *schema_document_keyword(const json_t *document, const json_t *node, const char *name)
{
    const json_t *found = NULL;

    for (; node && !found; node = schema_document_referred(document, node))
        found = json_object_get(node, name);
    return found;
}
