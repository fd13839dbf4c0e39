#include "toolbox/link.h"

void link_explain_answer(const struct error *fault, struct error *err)
{
    if (fault->code == ERROR_PARSE)
        error_set(err, ERROR_UNAVAILABLE, "its answer is no JSON: %s", fault->message);
    else
        error_set(err, ERROR_LIMIT, "its answer is too large: %s", fault->message);
}
