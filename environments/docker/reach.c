#include "environments/docker/reach.h"

#include "base/json.h"
#include "base/memory.h"
#include "base/text.h"
#include "environments/docker/definition.h"
#include "environments/docker/volume.h"
#include "environments/reach.h"

#include <string.h>

static void add_image(json_t *lines, const struct docker_definition *definition)
{
    if (definition->dockerfile)
        reach_add(lines, "Image", "built from %s", definition->dockerfile);
    else
        reach_add(lines, "Image", "%s", definition->image);
}

static void add_container(json_t *lines, const struct docker_definition *definition)
{
    const char *runtime = definition->runtime;

    reach_add(lines, "Isolation", "a container%s%s%s", runtime ? " of the runtime " : "",
              text_or_none(runtime),
              definition->keep_container_running ? ", which is kept for later calls" : "");
    if (definition->user)
        reach_add(lines, "User", "%s", definition->user);
}

static void docker_reach_add_files(json_t *lines, const struct docker_definition *definition)
{
    const char *path;
    json_t *value;

    json_object_foreach ((json_t *)definition->volumes, path, value) {
        const struct docker_volume volume = docker_volume_read(path, value);

        reach_add(lines, "Files", "%s as %s, %s", path, volume.target,
                  volume.is_writable ? "which it may change" : "read-only");
    }
    reach_add(lines, "Files", "its working directory, which it may change");
}

static void add_hardware(json_t *lines, const struct docker_definition *definition)
{
    AUTO_FREE char *text = definition->gpus ? json_text(definition->gpus) : NULL;

    if (text)
        reach_add(lines, "GPUs", "%s", text);
}

json_t *docker_reach(const struct docker_definition *definition)
{
    json_t *lines = json_array();

    add_image(lines, definition);
    add_container(lines, definition);
    reach_add(lines, "Network", "%s", definition->network);
    docker_reach_add_files(lines, definition);
    add_hardware(lines, definition);
    reach_add_packages(lines, &definition->packages);
    return lines;
}
