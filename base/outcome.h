/* The answer of every `start` whose work takes time.
 *
 * READY: finished already, the result is in the `ret` parameter and `done` is not called. PENDING:
 * `done` is called exactly once, later, never from inside `start`. FAILED: ERR says why and `done`
 * is not called. After `cancel` returns, `done` does not come. */
#pragma once

enum outcome {
    OUTCOME_FAILED = -1,
    OUTCOME_READY,
    OUTCOME_PENDING,
};
