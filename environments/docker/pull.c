#include "environments/docker/pull.h"

#include "base/cleanup.h"
#include "base/json.h"
#include "base/list.h"
#include "base/memory.h"
#include "environments/docker/site.h"

#include <stdlib.h>
#include <string.h>

#define SMALLEST_STEP 0.01

/* For each status of a layer: how much of the layer is done when it begins, and how much it
 * adds. */
static const struct {
    const char *status;
    double from;
    double share;
} stages[] = {
    {"Pulling fs layer", 0, 0},    {"Waiting", 0, 0},
    {"Downloading", 0, 0.8},       {"Verifying", 0.8, 0},
    {"Download complete", 0.8, 0}, {"Extracting", 0.8, 0.2},
    {"Pull complete", 1, 0},       {"Already exists", 1, 0},
};

static double image_pull_part_of(const json_t *line)
{
    const json_t *detail = json_object_get(line, "progressDetail");
    double total = json_number_value(json_object_get(detail, "total"));
    double current = json_number_value(json_object_get(detail, "current"));

    return total > 0 && current <= total ? current / total : 0;
}

void docker_pull_note(json_t *layers, const json_t *line)
{
    const char *id = json_object_get_string(line, "id");
    const char *status = json_object_get_string(line, "status");

    for (size_t i = 0; id && status && i < ARRAY_SIZE(stages); i++) {
        if (strncmp(status, stages[i].status, strlen(stages[i].status)) != 0)
            continue;
        json_object_set_new(layers, id,
                            json_real(stages[i].from + stages[i].share * image_pull_part_of(line)));
        return;
    }
}

size_t docker_pull_complete(const json_t *layers, size_t *ret_count, double *ret_fraction)
{
    size_t complete = 0;
    double sum = 0;
    const char *id;
    json_t *part;

    json_object_foreach ((json_t *)layers, id, part) {
        complete += json_real_value(part) >= 1;
        sum += json_real_value(part);
    }
    *ret_count = json_object_size(layers);
    *ret_fraction = *ret_count > 0 ? sum / (double)*ret_count : 0;
    return complete;
}

static void image_pull_say_step(struct docker_pull *pull)
{
    size_t count;
    double fraction;
    size_t complete = docker_pull_complete(pull->layers, &count, &fraction);
    size_t at = complete < count ? complete + 1 : count;

    if (count == 0 || (at == pull->at && fraction < pull->told + SMALLEST_STEP && fraction < 1))
        return;
    pull->told = fraction;
    pull->at = at;
    environment_step(pull->site->environment, fraction, "pulling layer %zu of %zu", at, count);
}

/* A failure after the first bytes is reported by a line. */
static void image_pull_on_line(struct json_lines *lines, const json_t *line)
{
    struct docker_pull *pull = CONTAINER_OF(lines, struct docker_pull, lines);
    const char *problem = json_object_get_string(line, "error");

    if (problem && pull->error.code == ERROR_NONE)
        error_set(&pull->error, ERROR_UNAVAILABLE, "%s", problem);
    docker_pull_note(pull->layers, line);
    image_pull_say_step(pull);
}

static void image_pull_on_data(struct engine_request *request, const char *data, size_t length)
{
    struct docker_pull *pull = CONTAINER_OF(request, struct docker_pull, request);

    if (pull->error.code == ERROR_NONE)
        (void)json_lines_feed(&pull->lines, data, length, &pull->error);
}

static void image_pull_clear(struct docker_pull *pull)
{
    json_lines_deinit(&pull->lines);
    json_decref(pull->layers);
    pull->layers = NULL;
}

static void image_pull_on_done(struct engine_request *request, const struct engine_answer *answer,
                               const struct error *err)
{
    struct docker_pull *pull = CONTAINER_OF(request, struct docker_pull, request);

    (void)answer;
    image_pull_clear(pull);
    if (!err && pull->error.code != ERROR_NONE)
        err = &pull->error;
    pull->done(pull, err);
}

/* Without a tag an engine would pull all tags. */
static bool has_tag(const char *name)
{
    const char *last = strrchr(name, '/');

    return strchr(last ? last : name, ':') != NULL;
}

void docker_pull_start(struct docker_pull *pull, struct docker_site *site, const char *name)
{
    AUTO_FREE char *escaped = engine_escape(name);
    AUTO_FREE char *path =
        memory_format("/images/create?fromImage=%s%s", escaped, has_tag(name) ? "" : "&tag=latest");

    pull->site = site;
    pull->layers = json_object();
    pull->told = 0;
    pull->at = 0;
    pull->error = (struct error)ERROR_INIT_LONG(&pull->error_rest);
    pull->lines.line = image_pull_on_line;
    json_lines_init(&pull->lines);
    pull->request = (struct engine_request){.done = image_pull_on_done, .data = image_pull_on_data};
    environment_step(site->environment, -1, "pulling %s", name);
    engine_request_start(&pull->request, site->engine,
                         &(struct engine_question){.method = "POST", .path = path});
}

void docker_pull_cancel(struct docker_pull *pull)
{
    if (!pull->layers)
        return;
    engine_request_cancel(&pull->request);
    image_pull_clear(pull);
}
