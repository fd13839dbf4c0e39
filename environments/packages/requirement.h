/* One package that is asked for, as pip writes it: a name, extras, version clauses, a marker and
 * hashes (PEP 508 without URLs).
 *
 *     numpy[tests]>=1.26,<3; python_version >= "3.9" --hash=sha256:...
 *
 * Other forms that an installer would accept are refused: options, URLs, paths and variables make
 * it read files, run code or ask servers that nobody has named. An error never quotes the refused
 * text: it goes to the caller, and the text may come from a file with other contents than
 * requirements. */
#pragma once

#include "base/error.h"

#include <stddef.h>

struct requirement {
    char *text;         /* owned; as an installer gets it: without spaces but around "and", "or" */
    size_t name_length; /* it begins with the name */
    char *hashes;       /* owned; " --hash=sha256:..." for each, or "" */
};

/* Reads LENGTH bytes. -1 with ERROR_CONFIG, a fragment such as "URLs are not taken". */
int requirement_parse(struct requirement *ret, const char *text, size_t length, struct error *err);
void requirement_deinit(struct requirement *requirement);

/* The name that TEXT begins with, as package indexes compare names: in small letters, with "-" for
 * any run of "-", "_" and ".". Owned by the caller. */
char *requirement_name(const char *text);
