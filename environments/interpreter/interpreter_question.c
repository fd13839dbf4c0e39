#include "environments/interpreter/interpreter_question.h"

#include "base/buffer.h"
#include "base/cleanup.h"
#include "base/list.h"
#include "base/memory.h"
#include "base/text.h"
#include "environments/interpreter/python_needs.h"
#include "environments/interpreter/python_version.h"
#include "environments/interpreter/tool_sandbox.h"
#include "environments/process/process.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define ANSWER_SECONDS 15.0 /* a busy machine takes seconds to start a Python */

enum {
    ANSWER_BYTES = 64 * 1024,
    COMPLAINT_BYTES = 4096,
    QUOTED_BYTES = 160, /* of the output of an interpreter that failed */
    VARIABLES = 64,
};

/* NUL separates the parts of the answer. The question is valid in Python 2, too. */
static const char QUESTION[] =
    "import os, sys\n"
    "\n"
    "def prefixes():\n"
    "    for name in ('prefix', 'base_prefix', 'exec_prefix', 'base_exec_prefix'):\n"
    "        yield getattr(sys, name, None)\n"
    "\n"
    "def library():\n"
    "    if sys.base_prefix not in ('/usr', '/usr/local'):\n" /* all of it is in /usr, then */
    "        import sysconfig\n"
    "        for path in sysconfig.get_paths().values():\n"
    "            yield path\n"
    "    for path in sys.path:\n"
    "        yield path\n"
    "\n"
    "def shared_libraries():\n"
    "    if sys.base_prefix not in ('/usr', '/usr/local'):\n"
    "        for module in ('_bz2', '_ctypes', '_lzma', '_sqlite3', '_ssl'):\n"
    "            try:\n"
    "                __import__(module)\n" /* which loads what it is linked with */
    "            except Exception:\n"
    "                pass\n"
    "    for line in open('/proc/self/maps', 'rb'):\n"
    "        path = line.rstrip(b'\\n').split(None, 5)[5:]\n"
    "        if path and path[0].startswith(b'/') and not path[0].endswith(b' (deleted)'):\n"
    "            yield os.path.dirname(os.fsdecode(path[0]))\n"
    "\n"
    "used = []\n"
    "for source in (prefixes, library, shared_libraries):\n"
    "    try:\n"
    "        for path in source():\n"
    "            if path and path not in used:\n"
    "                used.append(path)\n"
    "    except Exception:\n"
    "        pass\n"
    "parts = ['python', sys.executable or '', sys.version.split()[0], sys.prefix] + used + ['']\n"
    "os.write(1, os.fsencode('\\0'.join(parts)))\n";

enum answer_field {
    ANSWER_MARK,
    ANSWER_EXECUTABLE,
    ANSWER_VERSION,
    ANSWER_PREFIX,
    ANSWER_DIRECTORIES, /* from here on */
    ANSWER_FIELDS = ANSWER_DIRECTORIES + PYTHON_DIRECTORIES_MOST,
};

struct interpreter_question {
    struct interpreter_question_settings settings; /* without its path and holding */
    char *path;                                    /* owned */
    unsigned *absent;                              /* borrowed: see struct tool_holding */
    struct process process;
    ev_timer timer;
    bool forgotten; /* nobody is told; its process must end all the same */
    bool timed_out;
    struct buffer answer;
    struct buffer complaint;
};

/* Splits the answer at its NULs; NULL follows the last field. False when it is invalid. */
static bool split_answer(struct buffer *answer, const char *fields[ANSWER_FIELDS + 1])
{
    const char *bytes = buffer_bytes(answer);
    size_t left = buffer_length(answer);
    int count = 0;

    while (left && count < ANSWER_FIELDS) {
        const char *end = memchr(bytes, '\0', left);

        if (!end)
            return false;
        fields[count++] = bytes;
        left -= (size_t)(end + 1 - bytes);
        bytes = end + 1;
    }
    fields[count] = NULL;
    return count >= ANSWER_DIRECTORIES && strcmp(fields[ANSWER_MARK], "python") == 0;
}

/* True when a program that is no Python complains about the question, as /bin/ls does. */
static bool is_about_the_question(struct interpreter_question *question)
{
    static const char BEGIN[] = "import os, sys";
    struct buffer *said = &question->complaint;

    return buffer_length(said) > 0 &&
           memmem(buffer_bytes(said), buffer_length(said), BEGIN, sizeof BEGIN - 1);
}

/* Quotes the first line that was printed instead of an answer. */
static int fail_with_complaint(struct interpreter_question *question, struct error *err)
{
    struct buffer *said = &question->complaint;
    const char *bytes = buffer_bytes(said);
    size_t length = buffer_length(said);
    const char *end = length ? memchr(bytes, '\n', length) : NULL;

    if (is_about_the_question(question))
        return error_set(err, ERROR_UNAVAILABLE, "%s is not a Python interpreter", question->path);
    if (end)
        length = (size_t)(end - bytes);
    if (length > QUOTED_BYTES)
        length = QUOTED_BYTES;
    return error_set(err, ERROR_UNAVAILABLE, "%s is not a working Python 3%s%.*s", question->path,
                     length ? ": " : "", (int)length, length ? bytes : "");
}

static int interpreter_question_judge(struct interpreter_question *question,
                                      const struct process_end *end,
                                      const char *fields[ANSWER_FIELDS + 1], struct error *err)
{
    if (question->timed_out)
        return error_set(err, ERROR_UNAVAILABLE, "%s did not answer within %g seconds",
                         question->path, ANSWER_SECONDS);
    if (end->failure[0])
        return error_set(err, ERROR_UNAVAILABLE, "%s", end->failure);
    if (end->returncode != 0 || !split_answer(&question->answer, fields) ||
        !python_version_is_plain(fields[ANSWER_VERSION]))
        return fail_with_complaint(question, err);
    if (strtol(fields[ANSWER_VERSION], NULL, 10) < 3)
        return error_set(err, ERROR_UNAVAILABLE, "%s is Python %s, Python 3 is needed",
                         question->path, fields[ANSWER_VERSION]);
    return 0;
}

static void interpreter_question_free(struct interpreter_question *question)
{
    ev_timer_stop(question->settings.loop, &question->timer);
    buffer_deinit(&question->answer);
    buffer_deinit(&question->complaint);
    free(question->path);
    free(question);
}

static void interpreter_question_on_output(struct process *process, enum process_stream stream,
                                           const char *data, size_t length)
{
    struct interpreter_question *question =
        CONTAINER_OF(process, struct interpreter_question, process);
    struct error ignored = ERROR_INIT; /* more than fits is no answer */

    (void)buffer_append(stream == PROCESS_STDOUT ? &question->answer : &question->complaint, data,
                        length, &ignored);
}

static void interpreter_question_on_timer(struct ev_loop *loop, ev_timer *timer, int events)
{
    struct interpreter_question *question = CONTAINER_OF(timer, struct interpreter_question, timer);

    (void)loop;
    (void)events;
    question->timed_out = true;
    process_kill(&question->process);
}

/* Only the variables that version managers read are passed on. */
static bool interpreter_question_is_handed_on(const char *variable)
{
    static const char *const prefixes[] = {"PATH=", "HOME=", "PYENV_", "ASDF_", "MISE_", "XDG_"};

    for (size_t i = 0; i < ARRAY_SIZE(prefixes); i++)
        if (text_starts_with(variable, prefixes[i]))
            return true;
    return false;
}

static void interpreter_question_choose_variables(const char *variables[VARIABLES + 1])
{
    size_t count = 0;

    for (char **variable = environ; *variable && count < VARIABLES; variable++)
        if (interpreter_question_is_handed_on(*variable))
            variables[count++] = *variable;
    variables[count] = NULL;
}

static int interpreter_question_start_process(struct interpreter_question *question,
                                              const struct process_sandbox *sandbox,
                                              struct error *err)
{
    const char *const arguments[] = {question->path, "-BISc", QUESTION, NULL};
    const char *variables[VARIABLES + 1];
    struct process_command command = {
        .arguments = arguments,
        .environment = variables,
        .directory = "/",
        .sandbox = sandbox,
        .limits = {.memory = 1 << 30, .processes = 512, .file_size = 64 << 20},
    };

    interpreter_question_choose_variables(variables);
    return process_start(question->settings.host, &question->process, &command, err);
}

/* Nobody knows yet what it uses. */
static int interpreter_question_begin(struct interpreter_question *question,
                                      const struct tool_holding *holding, struct error *err)
{
    AUTO(tool_sandbox_deinit) struct tool_sandbox tool;

    tool_sandbox_init(&tool, holding);
    if (holding->is_held)
        tool_sandbox_show_candidate(&tool, question->path);
    return interpreter_question_start_process(question, tool_sandbox_of(&tool), err);
}

static void interpreter_question_tell(struct interpreter_question *question,
                                      const struct process_end *end)
{
    const char *fields[ANSWER_FIELDS + 1];
    struct error err = ERROR_INIT;

    if (interpreter_question_judge(question, end, fields, &err) < 0) {
        question->settings.answered(question->settings.data, NULL, &err);
        return;
    }
    question->settings.answered(question->settings.data,
                                &(struct interpreter_answer){
                                    .executable = fields[ANSWER_EXECUTABLE],
                                    .version = fields[ANSWER_VERSION],
                                    .prefix = fields[ANSWER_PREFIX],
                                    .directories = &fields[ANSWER_DIRECTORIES],
                                },
                                NULL);
}

static void interpreter_question_on_ended(struct process *process, const struct process_end *end)
{
    struct interpreter_question *question =
        CONTAINER_OF(process, struct interpreter_question, process);

    if (!question->forgotten && question->absent)
        *question->absent |= process_receipt_absent(&end->receipt);
    if (!question->forgotten)
        interpreter_question_tell(question, end);
    interpreter_question_free(question);
}

struct interpreter_question *interpreter_ask(const struct interpreter_question_settings *settings,
                                             struct error *err)
{
    struct interpreter_question *question = NEW(struct interpreter_question);

    question->settings = *settings;
    question->settings.path = NULL;
    question->settings.holding = NULL;
    question->path = memory_copy_string(settings->path);
    question->absent = settings->holding->absent;
    question->process.output = interpreter_question_on_output;
    question->process.ended = interpreter_question_on_ended;
    buffer_init(&question->answer, ANSWER_BYTES);
    buffer_init(&question->complaint, COMPLAINT_BYTES);
    ev_timer_init(&question->timer, interpreter_question_on_timer, ANSWER_SECONDS, 0.);
    if (interpreter_question_begin(question, settings->holding, err) < 0) {
        interpreter_question_free(question);
        return NULL;
    }
    ev_now_update(settings->loop);
    ev_timer_start(settings->loop, &question->timer);
    return question;
}

void interpreter_question_forget(struct interpreter_question *question)
{
    question->forgotten = true;
    process_kill(&question->process);
}
