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

/* For every Python 3. What importlib.metadata tells of every distribution, read by hand: to import
 * that module takes seven times as long as all of this. */
static const char PYTHON_QUESTION[] =
    "import os, sys\n"
    "\n"
    "KINDS = {'.dist-info': 'METADATA', '.egg-info': 'PKG-INFO', 'EGG-INFO': 'PKG-INFO'}\n"
    "LETTERS = 'abcdefghijklmnopqrstuvwxyz0123456789-_.'\n"
    "\n"
    "def fold(name):\n"
    "    name = name.strip().lower()\n"
    "    name = name[:len(name) - len(name.lstrip(LETTERS))]\n"
    "    return '-'.join(filter(None, name.replace('_', '-').replace('.', '-').split('-')))\n"
    "\n"
    "def is_name(text):\n"
    "    return len(text) <= 80 and not text.lower().lstrip(LETTERS)\n"
    "\n"
    "def entries(folder):\n"
    "    try:\n"
    "        return os.listdir(folder)\n"
    "    except OSError:\n"
    "        return []\n"
    "\n"
    "def lines(*path):\n"
    "    try:\n"
    "        with open(os.path.join(*path), encoding='utf-8', errors='replace') as file:\n"
    "            for line in file:\n"
    "                yield line.rstrip('\\n')\n"
    "    except OSError:\n"
    "        pass\n"
    "\n"
    "def header(*path):\n"
    "    for line in lines(*path):\n"
    "        if not line:\n"
    "            break\n"
    "        yield line.partition(':')[::2]\n"
    "\n"
    "def older_requirements(path):\n"
    "    is_for_all = True\n"
    "    for line in lines(path, 'requires.txt'):\n"
    "        if line.startswith('['):\n"
    "            is_for_all = line.startswith('[:')\n"
    "        elif is_for_all:\n"
    "            yield line\n"
    "\n"
    "names, needed = set(), set()\n"
    "for place in sys.path:\n"
    "    for entry in entries(place):\n"
    "        about = KINDS.get(os.path.splitext(entry)[1] or entry)\n"
    "        if not about:\n"
    "            continue\n"
    "        path = os.path.join(place, entry)\n"
    "        is_file = about == 'PKG-INFO' and os.path.isfile(path)\n"
    "        needed.update(map(fold, older_requirements(path)))\n"
    "        for key, value in header(path) if is_file else header(path, about):\n"
    "            if key == 'Name' and is_name(value.strip()) and len(names) < 1000:\n"
    "                names.add(fold(value))\n"
    "            if key == 'Requires-Dist' and 'extra ==' not in value:\n"
    "                needed.add(fold(value))\n"
    "names.discard('')\n"
    "told = ', '.join('\"%s\": %s' % (name, str(name in needed).lower()) for name in "
    "sorted(names))\n"
    "print('{\"version\": \"%s\", \"packages\": {%s}}' % (sys.version.split()[0], told))\n";

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
