#include "server/commands/doctor_replicas.h"

#include "base/cleanup.h"
#include "base/json.h"
#include "base/memory.h"
#include "server/commands/command.h"
#include "server/commands/doctor_verdict.h"
#include "server/configuration/config.h"
#include "server/replica_table.h"
#include "server/transport/http/replica_question.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SKEW_SECONDS 5. /* of two clocks: noticed long before seals are refused */

/* A fault of one replica. Both texts are owned. */
struct replica_lack {
    char *text; /* NULL: nothing */
    char *remedy;
};

struct doctor_question {
    const struct doctor_replicas *settings;
    struct replica_question question;
};

static void doctor_replicas_on_over(struct replica_question *question)
{
    ev_break(CONTAINER_OF(question, struct doctor_question, question)->settings->loop, EVBREAK_ALL);
}

static struct replica_lack doctor_replicas_judge_failure(const struct doctor_replicas *settings,
                                                         const struct replica *replica,
                                                         const struct error *err)
{
    const json_t *section = json_object_get(config_tree(settings->config), "replicas");

    if (err->code == ERROR_UNAVAILABLE)
        return (struct replica_lack){
            memory_format("replica %s cannot be reached: %s", replica->name, err->message),
            memory_format("curl -v %s", replica->url)};
    return (struct replica_lack){
        memory_format("at %s there is no replica with this key (%s)", replica->url, err->message),
        memory_format("sha256sum %s, here and there", json_object_get_string(section, "key_file"))};
}

/* Clocks come before what the other replica says of our seals, which may be because of them. */
static struct replica_lack doctor_replicas_judge_answer(const struct replica *replica,
                                                        const struct replica_answer *answer)
{
    const double skew = fabs(answer->ahead_seconds) - answer->seconds / 2;

    if (strcmp(answer->name, replica->name) != 0)
        return (struct replica_lack){
            memory_format("at %s there is replica %s, not %s", replica->url, answer->name,
                          replica->name),
            memory_format("the address of %s in replicas.all", replica->name)};
    if (skew > SKEW_SECONDS)
        return (struct replica_lack){
            memory_format("the clock of replica %s is %.0f s %s", replica->name,
                          fabs(answer->ahead_seconds),
                          answer->ahead_seconds > 0 ? "ahead" : "behind"),
            memory_copy_string("timedatectl set-ntp true, here and there")};
    if (answer->problem)
        return (struct replica_lack){memory_format("replica %s does not believe this server: %s",
                                                   replica->name, answer->problem),
                                     memory_copy_string("one `all` for all replicas")};
    if (strcmp(answer->version, PYEXECD_VERSION) != 0)
        return (struct replica_lack){
            memory_format("replica %s is version %s", replica->name, answer->version),
            memory_copy_string("one version for all: " PYEXECD_VERSION " here")};
    return (struct replica_lack){0};
}

static void doctor_replicas_report(const struct doctor_replicas *settings,
                                   const struct replica_question *question)
{
    const struct replica *replica = question->replica;
    struct error err = ERROR_INIT;
    struct replica_answer answer;
    const bool is_answered = replica_question_read(question, &answer, &err) == 0;
    struct replica_lack lack = is_answered ? doctor_replicas_judge_answer(replica, &answer)
                                           : doctor_replicas_judge_failure(settings, replica, &err);
    AUTO_FREE char *text = lack.text;
    AUTO_FREE char *remedy = lack.remedy;
    AUTO_FREE char *found = text ? NULL
                                 : memory_format("%s, in %.1f ms; version %s", replica->url,
                                                 answer.seconds * 1e3, answer.version);

    command_print_line(text ? "no" : "yes", replica->name, text ? text : found);
    if (text)
        doctor_verdict_add_lack(settings->verdict, text, remedy);
}

static void doctor_replicas_ask(const struct doctor_replicas *settings, struct replicas *replicas,
                                struct replica *replica)
{
    struct doctor_question asked = {
        .settings = settings,
        .question = {.replicas = replicas, .replica = replica, .over = doctor_replicas_on_over},
    };

    interruption_start(settings->interruption, settings->loop);
    replica_question_begin(&asked.question);
    ev_run(settings->loop, 0);
    interruption_stop(settings->interruption);
    if (!settings->interruption->signal)
        doctor_replicas_report(settings, &asked.question);
    replica_question_deinit(&asked.question);
}

void doctor_replicas_print(const struct doctor_replicas *settings)
{
    struct replicas *replicas;

    if (replica_table_open(settings->loop, settings->config, &replicas) < 0 || !replicas)
        return;
    printf("replicas\n");
    LIST_FOR_EACH (&replicas->others, link) {
        if (!settings->interruption->signal)
            doctor_replicas_ask(settings, replicas, CONTAINER_OF(link, struct replica, link));
    }
    replicas_free(replicas);
}
