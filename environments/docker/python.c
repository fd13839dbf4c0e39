#include "environments/docker/python.h"

#include "base/buffer.h"
#include "base/cleanup.h"
#include "base/digest.h"
#include "base/fd.h"
#include "base/json.h"
#include "base/list.h"
#include "base/log.h"
#include "base/memory.h"
#include "base/untrusted.h"
#include "environments/docker/end.h"
#include "environments/docker/image.h"
#include "environments/docker/site.h"
#include "environments/interpreter/python_version.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>

#define ASK_SECONDS 30.

enum {
    ANSWER_BYTES = 4096,
    QUOTED_BYTES = 160, /* of the output of an interpreter that failed */
};

static const char *const candidates[] = {"python3", "python"};

/* Python 2 understands it, too. */
static const char QUESTION[] = "import os, sys\n"
                               "os.write(1, ('{\"version\": \"%s\", \"uid\": %d, \"gid\": %d}' % ("
                               "sys.version.split()[0], os.getuid(), os.getgid())).encode())\n";

void docker_python_facts_deinit(struct docker_python_facts *facts)
{
    free(facts->program);
    free(facts->version);
    *facts = (struct docker_python_facts){0};
}

static const char *image_python_candidate(const struct docker_python *python)
{
    return candidates[python->candidate];
}

/* The answers that are kept */

static int image_python_read_facts(struct docker_python_facts *facts, const char *text,
                                   size_t length, const char *program)
{
    AUTO_JSON json_t *answer = json_loadb(text, length, 0, NULL);
    const char *kept = json_object_get_string(answer, "program");
    const char *version = json_object_get_string(answer, "version");

    if (kept)
        program = kept;
    if (!version || !python_version_is_plain(version) || !program)
        return -1;
    docker_python_facts_deinit(facts);
    *facts = (struct docker_python_facts){
        .program = memory_copy_string(program),
        .version = memory_copy_string(version),
        .uid = (uid_t)json_integer_value(json_object_get(answer, "uid")),
        .gid = (gid_t)json_integer_value(json_object_get(answer, "gid")),
    };
    return 0;
}

/* One image has one answer for each user. */
static char *answer_path(const struct docker_site *site, const struct docker_facts *image,
                         const char *user)
{
    char name[DIGEST_TEXT_BYTES];
    struct digest digest;

    digest_init(&digest);
    digest_add_string(&digest, image->id);
    digest_add_string(&digest, user);
    digest_finish(&digest, name);
    return memory_format("%s/docker/python/%s", site->state, name);
}

static bool image_python_recall(struct docker_python *python)
{
    struct error ignored = ERROR_INIT;
    size_t length;
    AUTO_FREE char *text = untrusted_read(AT_FDCWD, python->path, ANSWER_BYTES, &length, &ignored);

    return text && image_python_read_facts(&python->facts, text, length, NULL) == 0;
}

static int write_answer(const char *path, const char *text, struct error *err)
{
    AUTO_FREE char *folder = memory_format("%.*s", (int)(strrchr(path, '/') - path), path);

    if (fd_make_directories(folder, S_IRWXU, err) < 0)
        return -1;
    return fd_replace_file(path, S_IRUSR | S_IWUSR, text, strlen(text), err);
}

/* When this fails, the next preparation asks again. */
static void image_python_remember(const struct docker_python *python)
{
    const struct docker_python_facts *facts = &python->facts;
    AUTO_JSON json_t *answer =
        json_pack("{s:s, s:s, s:I, s:I}", "program", facts->program, "version", facts->version,
                  "uid", (json_int_t)facts->uid, "gid", (json_int_t)facts->gid);
    AUTO_FREE char *text = json_text(answer);
    struct error err = ERROR_INIT;

    if (write_answer(python->path, text, &err) < 0)
        log_warning("%s", err.message);
}

/* The question */

static void image_python_on_printed(struct execution_listener *listener, enum process_stream stream,
                                    const char *data, size_t length)
{
    struct docker_python *python = CONTAINER_OF(listener, struct docker_python, listener);
    struct error ignored = ERROR_INIT;

    (void)buffer_append(stream == PROCESS_STDERR ? &python->complaint : &python->answer, data,
                        length, &ignored);
}

static void image_python_on_output(struct container *container, enum frame_stream stream,
                                   const char *data, size_t length)
{
    docker_output_feed(&CONTAINER_OF(container, struct docker_python, container)->output, stream,
                       data, length);
}

static void image_python_clear(struct docker_python *python)
{
    buffer_deinit(&python->answer);
    buffer_deinit(&python->complaint);
}

/* Makes an error of the first line that the interpreter printed to stderr. */
static int image_python_complain(struct docker_python *python, struct error *err)
{
    const char *bytes = buffer_bytes(&python->complaint);
    size_t length = buffer_length(&python->complaint);
    const char *end = length ? memchr(bytes, '\n', length) : NULL;

    if (end)
        length = (size_t)(end - bytes);
    if (length > QUOTED_BYTES)
        length = QUOTED_BYTES;
    return error_set(err, ERROR_UNAVAILABLE, "%s in the image is not a working Python 3%s%.*s",
                     image_python_candidate(python), length ? ": " : "", (int)length,
                     length ? bytes : "");
}

static int image_python_judge(struct docker_python *python, const struct process_end *end,
                              struct error *err)
{
    if (end->failure[0])
        return error_set(err, ERROR_UNAVAILABLE, "%s", end->failure);
    if (end->returncode != 0 ||
        image_python_read_facts(&python->facts, buffer_bytes(&python->answer),
                                buffer_length(&python->answer), image_python_candidate(python)) < 0)
        return image_python_complain(python, err);
    if (strtol(python->facts.version, NULL, 10) < 3)
        return error_set(err, ERROR_UNAVAILABLE, "the image has Python %s, Python 3 is needed",
                         python->facts.version);
    return 0;
}

static void image_python_ask(struct docker_python *python);

static void image_python_on_ended(struct container *container, const struct container_end *seen)
{
    struct docker_python *python = CONTAINER_OF(container, struct docker_python, container);
    struct error err = ERROR_INIT;
    const struct last_words *words = docker_output_end(&python->output);
    struct process_end end = docker_end(
        &(struct docker_observation){.exit_code = seen->exit_code, .failure = seen->failure}, words,
        image_python_candidate(python));
    int result = image_python_judge(python, &end, &err);

    image_python_clear(python);
    if (words && words->failure == ENOENT) {
        if (++python->candidate < ARRAY_SIZE(candidates)) {
            image_python_ask(python);
            return;
        }
        err = (struct error)ERROR_INIT;
        error_set(&err, ERROR_UNAVAILABLE, "the image has neither python3 nor python on its PATH");
    }
    if (result == 0)
        image_python_remember(python);
    python->done(python, result == 0 ? NULL : &err);
}

static void image_python_ask(struct docker_python *python)
{
    AUTO_FREE char *user = docker_site_user(python->site);
    AUTO_FREE char *name = docker_site_name(python->site);
    AUTO_JSON json_t *labels = docker_site_labels(python->site, ASK_SECONDS);
    AUTO_JSON json_t *definition = NULL;
    const char *const program[] = {image_python_candidate(python), "-ISc", QUESTION, NULL};
    struct docker_container container = docker_site_container(python->site, DOCKER_ASK);

    container.image = python->image->id;
    container.volumes = python->image->volumes;
    container.user = user;
    container.seconds = ASK_SECONDS;
    container.program = program;
    container.labels = labels;
    definition = docker_container_describe(&container);
    buffer_init(&python->answer, ANSWER_BYTES);
    buffer_init(&python->complaint, ANSWER_BYTES);
    python->listener.output = image_python_on_printed;
    docker_output_init(&python->output, &python->listener);
    python->container =
        (struct container){.output = image_python_on_output, .ended = image_python_on_ended};
    container_start(&python->container, python->site->engine,
                    &(struct container_plan){
                        .name = name,
                        .definition = definition,
                        .start_timeout = python->site->definition.container_startup_timeout,
                    });
}

enum outcome docker_python_start(struct docker_python *python, struct docker_site *site,
                                 const struct docker_facts *image)
{
    AUTO_FREE char *user = docker_site_user(site);

    python->site = site;
    python->image = image;
    python->candidate = 0;
    free(python->path);
    python->path = answer_path(site, image, user);
    if (image_python_recall(python))
        return OUTCOME_READY;
    environment_step(site->environment, -1, "asking the Python of the image");
    image_python_ask(python);
    return OUTCOME_PENDING;
}

void docker_python_cancel(struct docker_python *python)
{
    container_cancel(&python->container);
    image_python_clear(python);
}

void docker_python_deinit(struct docker_python *python)
{
    docker_python_cancel(python);
    docker_python_facts_deinit(&python->facts);
    free(python->path);
    python->path = NULL;
}
