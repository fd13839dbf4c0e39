#include "environments/packages/python_question.h"

#include "base/cleanup.h"
#include "base/error.h"
#include "base/json.h"
#include "base/list.h"
#include "base/memory.h"
#include "environments/interpreter/tool_sandbox.h"
#include "environments/process/subprocess.h"

#include <stdbool.h>
#include <stdlib.h>

#define PYTHON_ANSWER_SECONDS 10.0

/* For every Python that has importlib.metadata: 3.8 and later. */
static const char PYTHON_QUESTION[] =
    "import json, re, sys\n"
    "from importlib.metadata import distributions\n"
    "\n"
    "def fold(name):\n"
    "    return re.sub('[-_.]+', '-', name).lower()\n"
    "\n"
    "names, needed = set(), set()\n"
    "for found in distributions():\n"
    "    try:\n"
    "        name, requires = found.metadata['Name'], found.requires or []\n"
    "        if len(name) <= 80 and len(names) < 1000:\n"
    "            names.add(fold(name))\n"
    "        for line in requires:\n"
    "            if 'extra ==' not in line:\n"
    "                needed.add(fold(re.match(r'[-\\w.]*', line).group()))\n"
    "    except Exception:\n"
    "        pass\n"
    "json.dump({'version': sys.version.split()[0],\n"
    "           'packages': {name: name in needed for name in sorted(names)}}, sys.stdout)\n";

struct python_question {
    struct python_question_settings settings; /* without what is borrowed for the start */
    struct subprocess *tool;                  /* borrowed: frees itself at its end */
    ev_timer timer;
    bool forgotten; /* nobody is told; its process must end all the same */
};

static void python_question_on_timer(struct ev_loop *loop, ev_timer *timer, int events)
{
    (void)loop;
    (void)events;
    subprocess_kill(CONTAINER_OF(timer, struct python_question, timer)->tool);
}

static void python_question_tell(const struct python_question *question, const char *output,
                                 const struct error *failure)
{
    AUTO_JSON json_t *answer = failure ? NULL : json_loads(output, 0, NULL);
    struct error err = ERROR_INIT;

    if (failure)
        error_copy(&err, failure);
    else if (!answer)
        error_set(&err, ERROR_UNAVAILABLE, "no valid answer");
    question->settings.answered(question->settings.data, answer, answer ? NULL : &err);
}

static void python_question_on_ended(void *data, const char *output, const struct error *err)
{
    struct python_question *question = data;

    ev_timer_stop(question->settings.loop, &question->timer);
    if (!question->forgotten)
        python_question_tell(question, output, err);
    free(question);
}

/* The paths that it needs are known from the last preparation, or guessed. */
static const struct process_sandbox *
python_question_confine(struct tool_sandbox *tool, const struct python_question_settings *settings)
{
    tool_sandbox_init(tool, settings->holding);
    if (!settings->holding->is_held)
        return NULL;
    tool_sandbox_show_candidate(tool, settings->python);
    for (const char *const *path = settings->needs; path && *path; path++)
        tool_sandbox_show(tool, *path);
    return tool_sandbox_of(tool);
}

static struct subprocess *python_question_run(const struct python_question_settings *asked,
                                              struct python_question *question, struct error *err)
{
    const char *const python = asked->python;
    const char *const arguments[] = {python, "-Ic", PYTHON_QUESTION, NULL};
    const char *const variables[] = {"LANG=C.UTF-8", "PATH=/usr/local/bin:/usr/bin:/bin",
                                     "PYTHONDONTWRITEBYTECODE=1", NULL};
    AUTO(tool_sandbox_deinit) struct tool_sandbox tool;
    const struct subprocess_settings settings = {
        .host = asked->host,
        .name = python,
        .arguments = arguments,
        .variables = variables,
        .directory = "/",
        .sandbox = python_question_confine(&tool, asked),
        .data = question,
        .ended = python_question_on_ended,
    };

    return subprocess_start(&settings, err);
}

struct python_question *python_question_start(const struct python_question_settings *settings,
                                              struct error *err)
{
    struct python_question *question = NEW(struct python_question);

    question->settings = *settings;
    question->settings.python = NULL;
    question->settings.holding = NULL;
    question->settings.needs = NULL;
    question->tool = python_question_run(settings, question, err);
    if (!question->tool) {
        free(question);
        return NULL;
    }
    ev_timer_init(&question->timer, python_question_on_timer, PYTHON_ANSWER_SECONDS, 0.);
    ev_now_update(settings->loop);
    ev_timer_start(settings->loop, &question->timer);
    return question;
}

void python_question_forget(struct python_question *question)
{
    question->forgotten = true;
    subprocess_kill(question->tool);
}
