/* Lists the files in the working directories that a caller has used, the directory used last first.
 * One directory is looked at after the other, a little in each turn of the loop, until there are
 * as many files as were asked for. */
#pragma once

#include "base/error.h"
#include "base/outcome.h"

struct invocation;

/* As the start and the cancel of a lister (resource.h). */
enum outcome file_list_start(struct invocation *invocation, struct error *err);
void file_list_cancel(struct invocation *invocation);
