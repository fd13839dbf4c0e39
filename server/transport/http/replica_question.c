#include "server/transport/http/replica_question.h"

#include "base/cleanup.h"
#include "base/json.h"
#include "base/memory.h"
#include "server/transport/identity/replica_seal.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    QUESTION_SECONDS = 10,       /* until it is answered */
    QUESTION_ANSWER_BYTES = 4096 /* of the answer */
};

/* The replica that is asked */

char *replica_question_answer(struct replicas *replicas, const char *question)
{
    struct replica_seal seal;
    struct replica *from;
    AUTO_JSON json_t *answer = NULL;

    if (!replica_seal_open(replicas->question_key, question, &seal))
        return NULL;
    answer = json_pack("{s:s, s:s, s:I, s:s?}", "replica", replicas->self, "version",
                       replicas->version, "now", (json_int_t)replicas_now(), "problem",
                       replicas_judge(replicas, &seal, &from));
    return json_text(answer);
}

/* The replica that asks */

static char *replica_question_seal(const struct replica_question *question)
{
    struct replica_seal seal = {
        .made = question->asked / 1000,
        .epoch = question->asked,
    };

    snprintf(seal.from, sizeof seal.from, "%s", question->replicas->self);
    snprintf(seal.to, sizeof seal.to, "%s", question->replica->name);
    snprintf(seal.principal, sizeof seal.principal, "%s", question->replicas->self);
    return replica_seal_close(question->replicas->question_key, &seal);
}

/* libcurl's callback. A longer body is no answer; its status is still told. */
static size_t replica_question_on_bytes(char *bytes, size_t size, size_t count, void *data)
{
    struct replica_question *question = data;
    struct error err = ERROR_INIT;

    (void)buffer_append(&question->received, bytes, size * count, &err);
    return size * count;
}

static void replica_question_on_over(struct transfer *transfer, CURLcode code)
{
    struct replica_question *question = CONTAINER_OF(transfer, struct replica_question, transfer);

    if (code == CURLE_OK && buffer_length(&question->received) > 0)
        question->answer = json_loadb(buffer_bytes(&question->received),
                                      buffer_length(&question->received), 0, NULL);
    question->code = code;
    question->over(question);
}

static CURL *replica_question_open(struct replica_question *question)
{
    CURL *easy = replicas_connect(question->replica);

    curl_easy_setopt(easy, CURLOPT_TIMEOUT, (long)QUESTION_SECONDS);
    curl_easy_setopt(easy, CURLOPT_HTTPHEADER, question->fields);
    curl_easy_setopt(easy, CURLOPT_WRITEFUNCTION, replica_question_on_bytes);
    curl_easy_setopt(easy, CURLOPT_WRITEDATA, question);
    return easy;
}

void replica_question_begin(struct replica_question *question)
{
    AUTO_FREE char *seal = NULL;
    AUTO_FREE char *field = NULL;

    question->asked = replicas_now();
    seal = replica_question_seal(question);
    field = memory_format(REPLICA_QUESTION_FIELD ": %s", seal);
    question->fields = curl_slist_append(NULL, field);
    buffer_init(&question->received, QUESTION_ANSWER_BYTES);
    question->transfer = (struct transfer){
        .easy = replica_question_open(question),
        .over = replica_question_on_over,
    };
    transfer_start(question->replicas->transfers, &question->transfer);
}

/* Assumes that the other clock was read half way between the question and its answer. */
static double replica_question_measure_ahead(const struct replica_question *question,
                                             double seconds)
{
    const json_int_t now = json_integer_value(json_object_get(question->answer, "now"));

    return ((double)now - (double)question->asked) / 1e3 - seconds / 2;
}

int replica_question_read(const struct replica_question *question, struct replica_answer *ret,
                          struct error *err)
{
    CURL *easy = question->transfer.easy;
    const char *why = question->transfer.failure[0] ? question->transfer.failure
                                                    : curl_easy_strerror(question->code);
    long status = 0;

    if (question->code != CURLE_OK)
        return error_set(err, ERROR_UNAVAILABLE, "%s", why);
    curl_easy_getinfo(easy, CURLINFO_RESPONSE_CODE, &status);
    *ret = (struct replica_answer){
        .name = json_object_get_string(question->answer, "replica"),
        .version = json_object_get_string(question->answer, "version"),
        .problem = json_object_get_string(question->answer, "problem"),
    };
    if (status != 200 || !ret->name || !ret->version)
        return error_set(err, ERROR_DENIED, "status %ld", status);
    curl_easy_getinfo(easy, CURLINFO_TOTAL_TIME, &ret->seconds);
    ret->ahead_seconds = replica_question_measure_ahead(question, ret->seconds);
    return 0;
}

void replica_question_deinit(struct replica_question *question)
{
    transfer_end(&question->transfer);
    curl_slist_free_all(question->fields);
    buffer_deinit(&question->received);
    json_decref(question->answer);
}
