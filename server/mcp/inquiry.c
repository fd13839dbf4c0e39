#include "server/mcp/inquiry.h"

#include "base/cleanup.h"
#include "base/json.h"
#include "base/memory.h"
#include "server/mcp/request.h"

#include <assert.h>
#include <stdlib.h>

int inquiry_send(struct inquiry *inquiry, struct mcp_request *request, json_t *questions,
                 struct error *err)
{
    const char *key;
    json_t *question;
    size_t count = 0;

    assert(inquiry_is_over(inquiry));
    if (json_object_size(questions) > INQUIRY_QUESTIONS)
        return error_set(err, ERROR_LIMIT, "asked for more than %d things at once",
                         INQUIRY_QUESTIONS);
    inquiry->request = request;
    json_object_foreach (questions, key, question) {
        unsigned number = request->ask(request, json_object_get_string(question, "method"),
                                       json_incref(json_object_get(question, "params")));

        if (number == 0) {
            inquiry_withdraw(inquiry);
            return error_set(err, ERROR_UNAVAILABLE, "the client cannot be asked here");
        }
        inquiry->questions[count++] =
            (struct inquiry_question){.key = memory_copy_string(key), .number = number};
    }
    return 0;
}

char *inquiry_take(struct inquiry *inquiry, unsigned number)
{
    for (size_t i = 0; i < INQUIRY_QUESTIONS; i++) {
        if (inquiry->questions[i].key && inquiry->questions[i].number == number)
            return STEAL_PTR(inquiry->questions[i].key);
    }
    return NULL;
}

bool inquiry_is_over(const struct inquiry *inquiry)
{
    for (size_t i = 0; i < INQUIRY_QUESTIONS; i++) {
        if (inquiry->questions[i].key)
            return false;
    }
    return true;
}

void inquiry_withdraw(struct inquiry *inquiry)
{
    for (size_t i = 0; i < INQUIRY_QUESTIONS; i++) {
        if (inquiry->questions[i].key)
            inquiry->request->withdraw(inquiry->request, inquiry->questions[i].number);
    }
    inquiry_deinit(inquiry);
}

void inquiry_deinit(struct inquiry *inquiry)
{
    for (size_t i = 0; i < INQUIRY_QUESTIONS; i++)
        free(inquiry->questions[i].key);
    *inquiry = (struct inquiry){0};
}
