#include "environments/interpreter.h"

#include "base/cleanup.h"
#include "base/memory.h"
#include "environments/interpreter_question.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define DEFAULT_NAME "python3"
#define DEFAULT_PATH "/usr/local/bin:/usr/bin:/bin"

static const char *search_path(void)
{
    const char *path = getenv("PATH");

    return path && *path ? path : DEFAULT_PATH;
}

static bool is_executable_file(const char *path)
{
    struct stat status;

    return stat(path, &status) == 0 && S_ISREG(status.st_mode) && access(path, X_OK) == 0;
}

/* The file NAME in the POSITION-th of the directories on PATH that have it, or NULL. Owned by the
 * caller. A relative directory on PATH is no place to take an interpreter from. */
static char *find_on_path(const char *name, size_t position)
{
    const char *directory = search_path();

    while (*directory) {
        size_t length = strcspn(directory, ":");
        AUTO_FREE char *path = memory_format("%.*s/%s", (int)length, directory, name);

        if (path[0] == '/' && length > 0 && is_executable_file(path) && position-- == 0)
            return STEAL_PTR(path);
        directory += length + (directory[length] == ':');
    }
    return NULL;
}

static char *candidate(const struct interpreter *interpreter, size_t position)
{
    if (interpreter->name[0] != '/')
        return find_on_path(interpreter->name, position);
    if (position > 0 || !is_executable_file(interpreter->name))
        return NULL;
    return memory_copy_string(interpreter->name);
}

/* "; found: /usr/bin/python3, /usr/bin/python3.11", or "". Owned by the caller. */
static char *describe_found(void)
{
    static const char *const names[] = {"python3",    "python",     "python3.14", "python3.13",
                                        "python3.12", "python3.11", "python3.10", "python3.9"};
    char *text = memory_copy_string("");

    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        AUTO_FREE char *path = find_on_path(names[i], 0);
        char *longer;

        if (!path)
            continue;
        longer = memory_format("%s%s%s", text, *text ? ", " : "; found: ", path);
        free(text);
        text = longer;
    }
    return text;
}

static int fail_not_found(const struct interpreter *interpreter, struct error *err)
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

static int identify(const char *path, struct file_identity *ret)
{
    struct stat status;

    if (stat(path, &status) < 0)
        return -1;
    *ret = (struct file_identity){status.st_dev, status.st_ino, status.st_mtim, status.st_size};
    return 0;
}

static bool is_same_file(const char *path, const struct file_identity *before)
{
    struct file_identity now;

    return identify(path, &now) == 0 && now.device == before->device &&
           now.inode == before->inode && now.size == before->size &&
           now.modified.tv_sec == before->modified.tv_sec &&
           now.modified.tv_nsec == before->modified.tv_nsec;
}

static bool is_still_known(const struct interpreter *interpreter)
{
    return interpreter->executable &&
           is_same_file(interpreter->candidate, &interpreter->candidate_file) &&
           is_same_file(interpreter->executable, &interpreter->executable_file);
}

static void forget_answer(struct interpreter *interpreter)
{
    free(interpreter->candidate);
    free(interpreter->executable);
    free(interpreter->version);
    free(interpreter->prefix);
    interpreter->candidate = NULL;
    interpreter->executable = NULL;
    interpreter->version = NULL;
    interpreter->prefix = NULL;
}

static int ask_next(struct interpreter *interpreter, struct error *err);

/* The one way out of a search that was pending. */
static void finish(struct interpreter *interpreter, const struct error *err)
{
    if (err)
        forget_answer(interpreter);
    interpreter->done(interpreter, err);
}

/* What PATH has first is what was meant, so its failure is the one that is told. */
static void try_next(struct interpreter *interpreter, const struct error *failure)
{
    struct error err = ERROR_INIT;

    if (interpreter->position++ == 0)
        interpreter->failure = *failure;
    if (ask_next(interpreter, &err) < 0)
        finish(interpreter, &err);
}

static void keep_answer(struct interpreter *interpreter, const char *executable,
                        const struct interpreter_answer *answer)
{
    free(interpreter->executable);
    free(interpreter->version);
    free(interpreter->prefix);
    interpreter->executable = memory_copy_string(executable);
    interpreter->version = memory_copy_string(answer->version);
    interpreter->prefix = memory_copy_string(answer->prefix);
    (void)identify(executable, &interpreter->executable_file); /* if it is gone: asked again */
}

/* The real interpreter behind a shim has been run by itself. A wrapper that it cannot do without,
 * because it sets what it needs, stays in use. */
static void on_real_answered(void *data, const struct interpreter_answer *answer,
                             const struct error *err)
{
    struct interpreter *interpreter = data;

    (void)err;
    interpreter->question = NULL;
    if (answer && strcmp(answer->version, interpreter->version) == 0 &&
        strcmp(answer->prefix, interpreter->prefix) == 0)
        keep_answer(interpreter, interpreter->real, answer);
    finish(interpreter, NULL);
}

static int ask(struct interpreter *interpreter, const char *path,
               void (*answered)(void *, const struct interpreter_answer *, const struct error *),
               struct error *err)
{
    const struct interpreter_question_settings settings = {
        .loop = interpreter->loop,
        .host = interpreter->host,
        .path = path,
        .data = interpreter,
        .answered = answered,
    };

    interpreter->question = interpreter_ask(&settings, err);
    return interpreter->question ? 0 : -1;
}

static void on_answered(void *data, const struct interpreter_answer *answer,
                        const struct error *failure)
{
    struct interpreter *interpreter = data;
    struct error ignored = ERROR_INIT;

    interpreter->question = NULL;
    if (!answer) {
        try_next(interpreter, failure);
        return;
    }
    keep_answer(interpreter, interpreter->candidate, answer);
    free(interpreter->real);
    interpreter->real = memory_copy_string(answer->executable);
    if (interpreter->real[0] != '/' || strcmp(interpreter->real, interpreter->candidate) == 0 ||
        ask(interpreter, interpreter->real, on_real_answered, &ignored) < 0)
        finish(interpreter, NULL);
}

static int ask_next(struct interpreter *interpreter, struct error *err)
{
    char *path = candidate(interpreter, interpreter->position);

    if (path) {
        free(interpreter->candidate);
        interpreter->candidate = path;
        (void)identify(path, &interpreter->candidate_file); /* if it is gone: asked again */
        return ask(interpreter, path, on_answered, err);
    }
    if (interpreter->position == 0)
        return fail_not_found(interpreter, err);
    *err = interpreter->failure;
    return -1;
}

void interpreter_init(struct interpreter *interpreter, struct ev_loop *loop,
                      struct process_host *host, const char *name)
{
    *interpreter = (struct interpreter){
        .loop = loop,
        .host = host,
        .name = memory_copy_string(name ? name : DEFAULT_NAME),
    };
}

void interpreter_cancel(struct interpreter *interpreter)
{
    if (interpreter->question)
        interpreter_question_forget(interpreter->question);
    interpreter->question = NULL;
    forget_answer(interpreter);
}

void interpreter_deinit(struct interpreter *interpreter)
{
    interpreter_cancel(interpreter);
    free(interpreter->real);
    interpreter->real = NULL;
    free(interpreter->name);
    interpreter->name = NULL;
}

enum outcome interpreter_find(struct interpreter *interpreter, struct error *err)
{
    if (is_still_known(interpreter))
        return OUTCOME_READY;
    forget_answer(interpreter);
    interpreter->position = 0;
    return ask_next(interpreter, err) < 0 ? OUTCOME_FAILED : OUTCOME_PENDING;
}
