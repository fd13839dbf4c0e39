#include "base/clock.h"
#include "base/json.h"
#include "base/memory.h"
#include "environments/notebook/notebook_private.h"

#include <stdlib.h>
#include <string.h>

struct cell *cell_new(struct notebook *notebook, const struct cell_request *request)
{
    struct cell *cell = NEW(struct cell);

    cell->notebook = notebook;
    cell->request = *request;
    cell->code = memory_new(request->code_length + 1, 1);
    memcpy(cell->code, request->code, request->code_length);
    cell->request.code = cell->code;
    json_incref(request->files);
    cell->error.rest = &cell->error_rest;
    cell->submitted_at = clock_seconds();
    list_init(&cell->link);
    return cell;
}

void cell_free(struct cell *cell)
{
    list_remove(&cell->link);
    json_decref(cell->request.files);
    free(cell->code);
    free(cell);
}
