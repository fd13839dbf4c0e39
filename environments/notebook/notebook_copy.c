/* A session that begins as a copy of another one. */
#include "base/cleanup.h"
#include "environments/notebook/notebook_private.h"

#include <unistd.h>

/* Tells the Python of ORIGIN to make a copy, which has THEIRS for its cells. */
static int notebook_order_copy(struct notebook *notebook, struct notebook *origin, int theirs,
                               struct error *err)
{
    struct process_copy_ends ends;
    int ret;

    notebook->turn.execution =
        origin->turn.execution->copy(origin->turn.execution, &notebook->turn.listener, &ends, err);
    if (!notebook->turn.execution)
        return -1;
    ret = notebook_link_order(
        origin,
        (int[]){theirs, ends.streams[PROCESS_STDOUT], ends.streams[PROCESS_STDERR], ends.gate},
        err);
    process_copy_ends_close(&ends);
    return ret;
}

/* True if a cell's code is not sent yet: an order to copy would overtake it. */
static bool notebook_has_unsent(const struct notebook *origin)
{
    return origin->turn.state < TURN_WORKING && !list_is_empty(&origin->cells);
}

int notebook_begin_as_copy(struct notebook *notebook, struct notebook *origin, struct error *err)
{
    AUTO_CLOSE int theirs = -1;

    if (origin->is_over || !origin->turn.execution || origin->channel.fd < 0)
        return error_set(err, ERROR_UNAVAILABLE,
                         "the session cannot be copied: it has no Python now");
    if (notebook_has_unsent(origin))
        return error_set(err, ERROR_BUSY,
                         "the session cannot be copied: a cell is about to begin; try again");
    if (environment_kernel(origin->environment))
        return error_set(err, ERROR_UNAVAILABLE,
                         "the session cannot be copied: it is in a Jupyter kernel");
    if (!origin->turn.execution->copy)
        return error_set(err, ERROR_UNAVAILABLE,
                         "the session cannot be copied: it is in a container");
    if (working_directory_is_busy(notebook->directory, true))
        return error_set(err, ERROR_BUSY, "another run has the working directory to itself");
    if (directory_claim_open(&notebook->claim, notebook->directory, SCRIPT_LAID_OVER, err) < 0 ||
        notebook_link_open(notebook, &theirs, err) < 0)
        return -1;
    if (notebook_order_copy(notebook, origin, theirs, err) < 0)
        return error_prefix(err, "the session cannot be copied");
    notebook->is_copy = true;
    lineage_join(&notebook->lineage, &origin->lineage);
    (void)directory_watch_begin(&notebook->turn.growth, &notebook->claim);
    return 0;
}
