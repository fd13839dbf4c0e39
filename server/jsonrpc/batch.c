#include "server/jsonrpc/batch.h"

#include "base/cleanup.h"
#include "base/error.h"
#include "base/memory.h"
#include "base/protocol/message.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

enum { ERROR_ANSWER_BYTES = 8 * (MESSAGE_ID_BYTES + ERROR_MESSAGE_BYTES) }; /* escapes included */

struct batch *batch_new(size_t size)
{
    struct batch *batch = NEW(struct batch);

    list_init(&batch->link);
    batch->open = size;
    buffer_init(&batch->text, BATCH_BYTES + BATCH_MESSAGES * ERROR_ANSWER_BYTES);
    return batch;
}

void batch_free(struct batch *batch)
{
    if (!batch)
        return;
    list_remove(&batch->link);
    buffer_deinit(&batch->text);
    free(batch);
}

/* The room for errors that is beyond BATCH_BYTES makes sure that this cannot fail. */
static void batch_append(struct batch *batch, const char *text)
{
    struct error err = ERROR_INIT;
    int failed = buffer_append_string(&batch->text, text, &err);

    assert(failed == 0);
    (void)failed;
}

void batch_add(struct batch *batch, const char *id, const char *answer)
{
    AUTO_FREE char *refusal = NULL;

    if (buffer_length(&batch->text) + strlen(answer) > BATCH_BYTES) {
        struct error err = ERROR_INIT;

        error_set(&err, ERROR_LIMIT, "the answers to this batch are longer than %d bytes",
                  BATCH_BYTES);
        refusal = message_error(id, &err, NULL);
        answer = refusal;
    }
    batch_append(batch, buffer_length(&batch->text) ? "," : "[");
    batch_append(batch, answer);
}

bool batch_close_member(struct batch *batch)
{
    assert(batch->open > 0);
    if (--batch->open > 0)
        return false;
    if (buffer_length(&batch->text))
        batch_append(batch, "]");
    return true;
}
