#include "server/jsonrpc/sink.h"

#include "base/cleanup.h"
#include "base/protocol/message.h"
#include "server/jsonrpc/batch.h"

#include <string.h>

void sink_answer(struct sink *sink, struct batch *batch, const struct sink_response *answer)
{
    if (batch)
        batch_add(batch, answer->id, answer->text);
    else if (sink)
        sink->send(sink, answer->text, strlen(answer->text), true, answer->code);
}

void sink_refuse(struct sink *sink, struct batch *batch, const char *id, const struct error *err)
{
    AUTO_FREE char *text = message_error(id, err, NULL);
    struct sink_response answer = {.id = id, .text = text, .code = err->code};

    sink_answer(sink, batch, &answer);
}

bool sink_send_aside(struct sink *sink, const char *text)
{
    if (!sink || sink->answers_only)
        return false;
    sink->send(sink, text, strlen(text), false, ERROR_NONE);
    return true;
}

bool sink_has_room(const struct sink *sink)
{
    return sink && !sink->answers_only && sink->has_room(sink);
}

void sink_notify(struct sink *sink, const char *method, json_t *params)
{
    AUTO_FREE char *text = message_notification(method, params);

    json_decref(params);
    (void)sink_send_aside(sink, text);
}

void sink_close(struct sink *sink)
{
    if (sink && sink->close)
        sink->close(sink);
}
