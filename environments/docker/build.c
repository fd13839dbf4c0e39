#include "environments/docker/build.h"

#include "base/cleanup.h"
#include "base/json.h"
#include "base/list.h"
#include "base/memory.h"
#include "environments/docker/context.h"
#include "environments/docker/site.h"
#include "environments/engine/discard.h"
#include "environments/instance.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* "Step 2/5 : RUN true" of Docker, "STEP 2/5: RUN true" of Podman. */
static bool read_step(const char *line, unsigned *ret_number, unsigned *ret_count,
                      const char **ret_command)
{
    int length = 0;

    if (strncasecmp(line, "step ", 5) != 0 ||
        sscanf(line + 5, "%u/%u%n", ret_number, ret_count, &length) != 2 || *ret_count == 0)
        return false;
    *ret_command = line + 5 + length + strspn(line + 5 + length, " :");
    return true;
}

/* " ---> 0123456789ab" behind each step is the image that the step has made or, for FROM and for
 * a cached step, has found. */
void docker_build_note(struct docker_build *build, const char *line)
{
    char id[DOCKER_ID_BYTES];
    const char *command;
    unsigned number;
    unsigned count;

    if (read_step(line, &number, &count, &command)) {
        build->is_ours = strncasecmp(command, "FROM ", 5) != 0;
        environment_step(build->site->environment, (number - 1.) / count,
                         "building step %u of %u: %s", number, count, command);
    } else if (strstr(line, "---> Using cache")) {
        build->is_ours = false;
    } else if (build->is_ours && sscanf(line, " ---> %64[0-9a-f]", id) == 1) {
        memcpy(build->made, id, sizeof id);
    }
}

static void image_build_on_said(struct last_lines *lines, const char *line)
{
    docker_build_note(CONTAINER_OF(lines, struct docker_build, said), line);
}

static void image_build_on_line(struct json_lines *lines, const json_t *line)
{
    struct docker_build *build = CONTAINER_OF(lines, struct docker_build, lines);
    const char *text = json_object_get_string(line, "stream");
    const char *problem = json_object_get_string(line, "error");

    if (text)
        last_lines_feed(&build->said, 0, text, strlen(text));
    if (problem && build->error.code == ERROR_NONE)
        error_set(&build->error, ERROR_UNAVAILABLE, "%s", problem);
}

static void image_build_on_data(struct engine_request *request, const char *data, size_t length)
{
    struct docker_build *build = CONTAINER_OF(request, struct docker_build, request);

    if (build->error.code == ERROR_NONE)
        (void)json_lines_feed(&build->lines, data, length, &build->error);
}

static ssize_t image_build_on_send(struct engine_request *request, char *room, size_t size,
                                   struct error *err)
{
    return archive_read(CONTAINER_OF(request, struct docker_build, request)->archive, room, size,
                        err);
}

static void image_build_clear(struct docker_build *build)
{
    json_lines_deinit(&build->lines);
    archive_free(build->archive);
    build->archive = NULL;
}

/* Removes the newest image; with it the engine removes its parent images that nothing else needs.
 */
static void image_build_discard(struct docker_build *build)
{
    AUTO_FREE char *path = memory_format("/images/%s", build->made);

    if (*build->made)
        engine_discard(build->site->engine, path);
}

static void image_build_on_done(struct engine_request *request, const struct engine_answer *answer,
                                const struct error *err)
{
    struct docker_build *build = CONTAINER_OF(request, struct docker_build, request);
    const char *said = last_lines_end(&build->said);
    AUTO_FREE char *why = NULL;
    struct error_rest rest;
    struct error problem = ERROR_INIT_LONG(&rest);

    (void)answer;
    image_build_clear(build);
    if (!err && build->error.code == ERROR_NONE) {
        build->done(build, NULL);
        return;
    }
    image_build_discard(build);
    why = error_text(err ? err : &build->error);
    error_set(&problem, ERROR_UNAVAILABLE, "%s%s%s", why, *said ? "\n" : "", said);
    build->done(build, &problem);
}

/* Owned by the caller. */
static char *escaped_text(const json_t *value)
{
    AUTO_FREE char *text = json_text(value);

    return engine_escape(text);
}

static char *make_path(const struct docker_build *build, const char *name)
{
    const struct docker_definition *definition = &build->site->definition;
    AUTO_JSON json_t *labels =
        json_pack("{s:s}", DOCKER_LABEL_IMAGE, instance_state_name(build->site->instance));
    AUTO_FREE char *arguments = escaped_text(definition->build_args);
    AUTO_FREE char *label_text = escaped_text(labels);
    const struct docker_container container = docker_site_container(build->site, DOCKER_INSTALL);
    AUTO_FREE char *limits = docker_build_limits(&container);

    return memory_format("/build?dockerfile=" DOCKER_CONTEXT_FILE
                         "&t=%s&buildargs=%s&labels=%s&rm=1&forcerm=1%s%s",
                         name, arguments, label_text, limits,
                         strcmp(definition->pull, "always") == 0 ? "&pull=1" : "");
}

int docker_build_start(struct docker_build *build, struct docker_site *site, const char *name,
                       struct error *err)
{
    AUTO_FREE char *path = NULL;

    build->site = site;
    build->archive = docker_context_open(site, err);
    if (!build->archive)
        return -1;
    path = make_path(build, name);
    build->said = (struct last_lines){.said = image_build_on_said};
    build->error = (struct error)ERROR_INIT_LONG(&build->error_rest);
    build->made[0] = '\0';
    build->is_ours = false;
    build->lines.line = image_build_on_line;
    json_lines_init(&build->lines);
    build->request = (struct engine_request){
        .done = image_build_on_done, .data = image_build_on_data, .send = image_build_on_send};
    environment_step(site->environment, -1, "sending what %s needs", site->definition.dockerfile);
    engine_request_start(&build->request, site->engine,
                         &(struct engine_question){.method = "POST", .path = path});
    return 0;
}

void docker_build_cancel(struct docker_build *build)
{
    if (!build->archive)
        return;
    engine_request_cancel(&build->request);
    image_build_clear(build);
    image_build_discard(build);
}
