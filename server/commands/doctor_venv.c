#include "server/commands/doctor_venv.h"

#include "base/cleanup.h"
#include "base/json.h"
#include "base/list.h"
#include "base/memory.h"
#include "environments/interpreter/interpreter_question.h"
#include "environments/interpreter/python_places.h"
#include "environments/interpreter/search_path.h"
#include "environments/interpreter/tool_sandbox.h"
#include "environments/process/host.h"
#include "server/commands/command.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define SURVEY_SECONDS 10.0

struct survey {
    struct ev_loop *loop; /* borrowed */
    struct process_host *host;
    struct tool_holding holding; /* of the programs that are asked */
    struct ev_timer deadline;    /* of all questions */
    bool is_over;                /* it has passed */
    json_t *seen;                /* owned: programs that were printed, as keys */
};

/* Debian and Ubuntu have it in a package of its own. */
static bool has_ensurepip(const struct interpreter_answer *answer)
{
    static const char *const folders[] = {"lib", "lib64"};
    const char *dot = strchr(answer->version, '.');
    size_t length = dot ? (size_t)(dot - answer->version) + 1 + strcspn(dot + 1, ".") : 0;

    for (size_t i = 0; i < ARRAY_SIZE(folders); i++) {
        AUTO_FREE char *path =
            memory_format("%s/%s/python%.*s/ensurepip/__init__.py", answer->prefix, folders[i],
                          (int)length, answer->version);

        if (access(path, R_OK) == 0)
            return true;
    }
    return false;
}

static void print_python(const struct interpreter_answer *answer, const char *path)
{
    AUTO_FREE char *name = memory_format("Python %s", answer->version);
    AUTO_FREE char *text =
        memory_format("%s%s", path,
                      has_ensurepip(answer) ? ""
                                            : "; no ensurepip, so its venvs get no pip: install "
                                              "python3-venv (Debian, Ubuntu) or uv");

    command_print_line("yes", name, text);
}

/* Several places may lead to one program: shims, links. */
static void doctor_venv_on_answered(void *data, const struct interpreter_answer *answer,
                                    const struct error *err)
{
    struct survey *survey = data;
    AUTO_FREE char *real = answer ? realpath(answer->executable, NULL) : NULL;

    (void)err; /* no Python, or none that works: it is not found either */
    if (real && !json_object_get(survey->seen, real)) {
        json_object_set_new(survey->seen, real, json_true());
        print_python(answer, answer->executable);
    }
    ev_break(survey->loop, EVBREAK_ONE);
}

static void doctor_venv_on_deadline(struct ev_loop *loop, struct ev_timer *timer, int events)
{
    (void)events;
    CONTAINER_OF(timer, struct survey, deadline)->is_over = true;
    ev_break(loop, EVBREAK_ONE);
}

static void doctor_venv_ask(struct survey *survey, const char *path)
{
    const struct interpreter_question_settings settings = {
        .loop = survey->loop,
        .host = survey->host,
        .path = path,
        .holding = &survey->holding,
        .data = survey,
        .answered = doctor_venv_on_answered,
    };
    struct error ignored = ERROR_INIT;
    struct interpreter_question *question = interpreter_ask(&settings, &ignored);

    if (!question)
        return;
    ev_run(survey->loop, 0);
    if (survey->is_over)
        interpreter_question_forget(question);
}

static void ask_all(struct survey *survey, const struct python_places *places)
{
    ev_timer_init(&survey->deadline, doctor_venv_on_deadline, SURVEY_SECONDS, 0.);
    ev_now_update(survey->loop);
    ev_timer_start(survey->loop, &survey->deadline);
    for (size_t i = 0; i < places->count && !survey->is_over; i++)
        doctor_venv_ask(survey, places->paths[i]);
    ev_timer_stop(survey->loop, &survey->deadline);
    if (survey->is_over)
        command_print_line("?", "others", "skipped: the search took too long");
}

/* Not every Python at these places is the operator's. */
static struct tool_holding doctor_venv_holding(struct process_host *host, const char *state)
{
    return (struct tool_holding){
        .is_held = process_host_has_sandbox(host, &(struct process_sandbox){0}),
        .state = state,
    };
}

void doctor_venv_print(struct ev_loop *loop, struct process_host *host, const char *state)
{
    struct survey survey = {.loop = loop,
                            .host = host,
                            .holding = doctor_venv_holding(host, state),
                            .seen = json_object()};
    AUTO_FREE char *uv = search_path_find("uv", 0);
    struct python_places places;

    printf("venv\n");
    command_print_line(uv ? "yes" : "no", "uv", uv ? uv : "packages are installed by pip");
    python_places_find(&places, "3");
    ask_all(&survey, &places);
    python_places_deinit(&places);
    json_decref(survey.seen);
}
