#include "environments/interpreter/interpreter.h"

#include "base/cleanup.h"
#include "base/memory.h"
#include "base/state.h"
#include "environments/interpreter/interpreter_question.h"
#include "environments/interpreter/search_path.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#define INTERPRETER_DEFAULT_NAME "python3"

static const struct state interpreter_states[] = {
    [INTERPRETER_UNKNOWN] = {"unknown", 1 << INTERPRETER_ASKING},
    [INTERPRETER_ASKING] = {"asking", 1 << INTERPRETER_ASKING | 1 << INTERPRETER_RESOLVING |
                                          1 << INTERPRETER_KNOWN | 1 << INTERPRETER_UNKNOWN},
    [INTERPRETER_RESOLVING] = {"resolving", 1 << INTERPRETER_KNOWN | 1 << INTERPRETER_UNKNOWN},
    [INTERPRETER_KNOWN] = {"known", 1 << INTERPRETER_UNKNOWN},
};

static void interpreter_forget_answer(struct interpreter *interpreter)
{
    free(interpreter->candidate);
    free(interpreter->executable);
    free(interpreter->version);
    free(interpreter->prefix);
    memory_free_strings(interpreter->directories);
    interpreter->candidate = NULL;
    interpreter->executable = NULL;
    interpreter->version = NULL;
    interpreter->prefix = NULL;
    interpreter->directories = NULL;
}

static void interpreter_set_state(struct interpreter *interpreter, enum interpreter_state state)
{
    state_change(interpreter_states, interpreter->state, state, "interpreter %s",
                 interpreter->name);
    interpreter->state = state;
    if (state == INTERPRETER_UNKNOWN)
        interpreter_forget_answer(interpreter);
}

static char *interpreter_candidate(const struct interpreter *interpreter, size_t position)
{
    if (interpreter->name[0] != '/')
        return search_path_find(interpreter->name, position);
    if (position > 0 || !search_path_is_program(interpreter->name))
        return NULL;
    return memory_copy_string(interpreter->name);
}

/* "; found: /usr/bin/python3, /usr/bin/python3.11", or "". Owned by the caller. */
static char *describe_found(void)
{
    static const char *const names[] = {"python3",    "python",     "python3.14", "python3.13",
                                        "python3.12", "python3.11", "python3.10", "python3.9"};
    char *text = memory_copy_string("");

    for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
        AUTO_FREE char *path = search_path_find(names[i], 0);
        char *longer;

        if (!path)
            continue;
        longer = memory_format("%s%s%s", text, *text ? ", " : "; found: ", path);
        free(text);
        text = longer;
    }
    return text;
}

static int interpreter_fail_not_found(const struct interpreter *interpreter, struct error *err)
{
    AUTO_FREE char *found = describe_found();
    struct stat status;

    if (interpreter->name[0] != '/')
        return error_set(err, ERROR_UNAVAILABLE, "there is no %s on PATH (%s)%s", interpreter->name,
                         search_path(), found);
    if (stat(interpreter->name, &status) < 0)
        return error_set(err, ERROR_UNAVAILABLE, "there is no Python interpreter at %s: %s%s",
                         interpreter->name, strerror(errno), found);
    if (S_ISDIR(status.st_mode))
        return error_set(err, ERROR_UNAVAILABLE, "%s is a directory, not a Python interpreter%s",
                         interpreter->name, found);
    return error_set(err, ERROR_UNAVAILABLE, "%s is not executable%s", interpreter->name, found);
}

bool interpreter_is_resolved(const struct interpreter *interpreter)
{
    return interpreter->state == INTERPRETER_KNOWN &&
           file_identity_holds(&interpreter->candidate_file, interpreter->candidate) &&
           (strcmp(interpreter->candidate, interpreter->executable) == 0 ||
            file_identity_holds(&interpreter->executable_file, interpreter->executable));
}

static void interpreter_forget(struct interpreter *interpreter)
{
    if (interpreter->state != INTERPRETER_UNKNOWN)
        interpreter_set_state(interpreter, INTERPRETER_UNKNOWN);
}

static int ask_next(struct interpreter *interpreter, struct error *err);

/* The one way out of a search that was pending. */
static void interpreter_finish(struct interpreter *interpreter, const struct error *err)
{
    interpreter_set_state(interpreter, err ? INTERPRETER_UNKNOWN : INTERPRETER_KNOWN);
    interpreter->done(interpreter, err);
}

/* Tries the next program on PATH. Reports the failure of the first, which the name means. */
static void try_next(struct interpreter *interpreter, const struct error *failure)
{
    struct error err = ERROR_INIT;

    if (interpreter->position++ == 0)
        error_copy(&interpreter->failure, failure);
    if (ask_next(interpreter, &err) < 0)
        interpreter_finish(interpreter, &err);
}

static void interpreter_keep_answer(struct interpreter *interpreter, const char *executable,
                                    const struct interpreter_answer *answer)
{
    free(interpreter->executable);
    free(interpreter->version);
    free(interpreter->prefix);
    memory_free_strings(interpreter->directories);
    interpreter->executable = memory_copy_string(executable);
    interpreter->version = memory_copy_string(answer->version);
    interpreter->prefix = memory_copy_string(answer->prefix);
    interpreter->directories = memory_copy_strings(answer->directories);
    file_identity_read(&interpreter->executable_file, executable);
}

/* The real interpreter behind a wrapper has been run directly. The wrapper stays in use if the real
 * one needs what it sets, which shows in another version or prefix. */
static void interpreter_on_real_answered(void *data, const struct interpreter_answer *answer,
                                         const struct error *err)
{
    struct interpreter *interpreter = data;

    (void)err;
    interpreter->question = NULL;
    if (answer && strcmp(answer->version, interpreter->version) == 0 &&
        strcmp(answer->prefix, interpreter->prefix) == 0)
        interpreter_keep_answer(interpreter, interpreter->real, answer);
    interpreter_finish(interpreter, NULL);
}

static int interpreter_start_question(struct interpreter *interpreter, const char *path,
                                      void (*answered)(void *, const struct interpreter_answer *,
                                                       const struct error *),
                                      struct error *err)
{
    const struct interpreter_question_settings settings = {
        .loop = interpreter->loop,
        .host = interpreter->host,
        .path = path,
        .holding = &interpreter->holding,
        .data = interpreter,
        .answered = answered,
    };

    interpreter->question = interpreter_ask(&settings, err);
    return interpreter->question ? 0 : -1;
}

/* Asks the program that the candidate says it is, unless that is the candidate itself. False when
 * there is nobody to ask. */
static bool interpreter_ask_real(struct interpreter *interpreter)
{
    struct error ignored = ERROR_INIT; /* the candidate works */

    if (interpreter->real[0] != '/' || strcmp(interpreter->real, interpreter->candidate) == 0 ||
        interpreter_start_question(interpreter, interpreter->real, interpreter_on_real_answered,
                                   &ignored) < 0)
        return false;
    interpreter_set_state(interpreter, INTERPRETER_RESOLVING);
    return true;
}

static void interpreter_on_answered(void *data, const struct interpreter_answer *answer,
                                    const struct error *failure)
{
    struct interpreter *interpreter = data;

    interpreter->question = NULL;
    if (!answer) {
        try_next(interpreter, failure);
        return;
    }
    interpreter_keep_answer(interpreter, interpreter->candidate, answer);
    free(interpreter->real);
    interpreter->real = memory_copy_string(answer->executable);
    if (!interpreter_ask_real(interpreter))
        interpreter_finish(interpreter, NULL);
}

static int ask_next(struct interpreter *interpreter, struct error *err)
{
    char *path = interpreter_candidate(interpreter, interpreter->position);

    if (path) {
        free(interpreter->candidate);
        interpreter->candidate = path;
        file_identity_read(&interpreter->candidate_file, path);
        interpreter_set_state(interpreter, INTERPRETER_ASKING);
        return interpreter_start_question(interpreter, path, interpreter_on_answered, err);
    }
    if (interpreter->position == 0)
        return interpreter_fail_not_found(interpreter, err);
    error_copy(err, &interpreter->failure);
    return -1;
}

void interpreter_init(struct interpreter *interpreter, struct ev_loop *loop,
                      struct process_host *host, const char *name)
{
    *interpreter = (struct interpreter){
        .loop = loop,
        .host = host,
        .name = memory_copy_string(name ? name : INTERPRETER_DEFAULT_NAME),
    };
}

void interpreter_cancel(struct interpreter *interpreter)
{
    if (interpreter->question)
        interpreter_question_forget(interpreter->question);
    interpreter->question = NULL;
    interpreter_forget(interpreter);
}

void interpreter_deinit(struct interpreter *interpreter)
{
    interpreter_cancel(interpreter);
    free(interpreter->real);
    interpreter->real = NULL;
    free(interpreter->name);
    interpreter->name = NULL;
}

char *interpreter_guess(const struct interpreter *interpreter)
{
    if (interpreter_is_resolved(interpreter))
        return memory_copy_string(interpreter->executable);
    return interpreter_candidate(interpreter, 0);
}

enum outcome interpreter_resolve(struct interpreter *interpreter, struct error *err)
{
    if (interpreter_is_resolved(interpreter))
        return OUTCOME_READY;
    interpreter_forget(interpreter);
    interpreter->position = 0;
    if (ask_next(interpreter, err) == 0)
        return OUTCOME_PENDING;
    interpreter_forget(interpreter);
    return OUTCOME_FAILED;
}
