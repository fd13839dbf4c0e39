#include "tests/unit/process/sandbox_scene.h"

#include "base/cleanup.h"
#include "base/list.h"
#include "base/memory.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static void scene_on_output(struct process *process, enum process_stream stream, const char *data,
                            size_t length)
{
    struct scene *scene = CONTAINER_OF(process, struct scene, process);
    size_t room = KEPT_BYTES - scene->length;

    (void)stream;
    memcpy(scene->output + scene->length, data, length < room ? length : room);
    scene->length += length < room ? length : room;
    scene->output[scene->length] = '\0';
}

static void scene_on_ended(struct process *process, const struct process_end *end)
{
    struct scene *scene = CONTAINER_OF(process, struct scene, process);

    scene->receipt = end->receipt;
    scene->missing = json_array_size(end->receipt.missing);
    snprintf(scene->failure, sizeof scene->failure, "%s", end->failure);
    ev_break(scene->loop, EVBREAK_ALL);
}

void scene_make(const struct scene *scene, const char *name, bool is_file)
{
    AUTO_FREE char *path = memory_format("%s/%s", scene->folder, name);
    AUTO_CLOSE int fd = is_file ? open(path, O_CREAT | O_WRONLY, 0644) : -1;

    if (is_file)
        assert_int_equal(write(fd, "secret", 6), 6);
    else
        assert_return_code(mkdir(path, 0755), 0);
}

struct scene *scene_new(unsigned layers)
{
    struct scene *scene = NEW(struct scene);
    struct process_host_settings settings = {.runner_path = getenv("RUNNER"),
                                             .policy = {.wanted = layers}};
    struct error err = ERROR_INIT;
    AUTO_FREE char *link = NULL;

    strcpy(scene->folder, "/tmp/sandbox-XXXXXX");
    assert_non_null(mkdtemp(scene->folder));
    scene_make(scene, "work", false);
    scene_make(scene, "shown", false);
    scene_make(scene, "hidden", false);
    scene_make(scene, "shown/file", true);
    scene_make(scene, "hidden/file", true);
    link = memory_format("%s/link", scene->folder);
    assert_return_code(symlink("hidden", link), 0);
    scene->loop = ev_loop_new(0);
    settings.loop = scene->loop;
    scene->host = process_host_new(&settings, &err);
    if (!scene->host)
        fail_msg("%s", err.message);
    return scene;
}

void scene_free(struct scene *scene)
{
    AUTO_FREE char *command = memory_format("rm -r %s", scene->folder);

    process_host_stop(scene->host);
    while (!process_host_is_idle(scene->host)) {
        ev_run(scene->loop, EVRUN_NOWAIT);
        usleep(1000);
    }
    process_host_free(scene->host);
    ev_loop_destroy(scene->loop);
    assert_int_equal(system(command), 0);
    free(scene);
}

int scene_run(struct scene *scene, const struct process_sandbox *sandbox, const char *code,
              struct error *err)
{
    AUTO_FREE char *work = memory_format("%s/work", scene->folder);
    const char *const arguments[] = {"/usr/bin/python3", "-I", "-S", "-c", code,
                                     scene->folder,      NULL};
    const char *const variables[] = {"PATH=/usr/bin:/bin", NULL};
    const struct process_command command = {
        .arguments = arguments,
        .environment = variables,
        .directory = work,
        .sandbox = sandbox,
        .limits = {.memory = 256 << 20, .processes = 64, .file_size = 1 << 30},
    };

    scene->length = 0;
    scene->process = (struct process){.output = scene_on_output, .ended = scene_on_ended};
    if (process_start(scene->host, &scene->process, &command, err) < 0)
        return -1;
    ev_run(scene->loop, 0);
    return 0;
}

void scene_run_usual(struct scene *scene, bool network, const char *code)
{
    AUTO_FREE char *shown = memory_format("%s/shown", scene->folder);
    AUTO_FREE char *work = memory_format("%s/work", scene->folder);
    const char *const read[] = {shown, NULL};
    const char *const write[] = {work, NULL};
    struct error err = ERROR_INIT;

    if (scene_run(scene,
                  &(struct process_sandbox){.read = read, .write = write, .network = network}, code,
                  &err) < 0)
        fail_msg("%s", err.message);
}
