/* One package that is asked for, as pip writes it: a name, extras, version clauses, a marker and
 * hashes (PEP 508 without URLs).
 *
 *     numpy[tests]>=1.26,<3; python_version >= "3.9" --hash=sha256:...
 *
 * Whatever else an installer would take at this place is refused: options, URLs, paths and
 * variables make it read files, run code or ask servers that nobody has named. What is refused is
 * never quoted, since an error goes to whoever asked, and the text may come from a file that is
 * none of requirements. */
#pragma once

#include "base/error.h"

#include <stddef.h>

struct requirement {
    char *text; /* owned; as it is told to an installer: without spaces but around "and", "or" */
    size_t name_length; /* it begins with the name */
    char *hashes;       /* owned; " --hash=sha256:..." for each, or "" */
};

/* Reads LENGTH bytes. -1 with ERROR_CONFIG, a fragment such as "URLs are not taken". */
int requirement_parse(struct requirement *ret, const char *text, size_t length, struct error *err);
void requirement_deinit(struct requirement *requirement);
