#include "environments/docker/reach.h"

#include "base/json.h"
#include "base/memory.h"
#include "base/text.h"
#include "environments/docker/volume.h"
#include "environments/packages/packages_definition.h"
#include "environments/reach.h"

#include <string.h>

static void add_image(json_t *lines, const json_t *definition)
{
    const char *dockerfile = json_object_get_string(definition, "dockerfile");

    if (dockerfile)
        reach_add(lines, "Image", "built from %s", dockerfile);
    else
        reach_add(lines, "Image", "%s", json_object_get_string(definition, "image"));
}

static void add_container(json_t *lines, const json_t *definition)
{
    const char *runtime = json_object_get_string(definition, "runtime");
    const char *user = json_object_get_string(definition, "user");
    bool stays = json_is_true(json_object_get(definition, "keep_container_running"));

    reach_add(lines, "Isolation", "a container%s%s%s", runtime ? " of the runtime " : "",
              text_or_none(runtime), stays ? ", which is kept for later calls" : "");
    if (user)
        reach_add(lines, "User", "%s", user);
}

/* A volume is a place in the container, or an object with the place and a mode. */
static void docker_reach_add_volume(json_t *lines, const char *path, const json_t *volume)
{
    const char *target =
        json_is_string(volume) ? json_string_value(volume) : json_object_get_string(volume, "path");

    reach_add(lines, "Files", "%s as %s, %s", path, target,
              docker_volume_is_writable(volume) ? "which it may change" : "read-only");
}

static void docker_reach_add_files(json_t *lines, const json_t *definition)
{
    const char *path;
    json_t *volume;

    json_object_foreach (json_object_get(definition, "volumes"), path, volume)
        docker_reach_add_volume(lines, path, volume);
    reach_add(lines, "Files", "its working directory, which it may change");
}

static void add_hardware(json_t *lines, const json_t *definition)
{
    const json_t *gpus = json_object_get(definition, "gpus");
    AUTO_FREE char *text = gpus ? json_text(gpus) : NULL;

    if (text)
        reach_add(lines, "GPUs", "%s", text);
}

json_t *docker_reach(const json_t *definition)
{
    const struct packages_definition packages = packages_definition_read(definition);
    const char *network = json_object_get_string(definition, "network");
    json_t *lines = json_array();

    add_image(lines, definition);
    add_container(lines, definition);
    reach_add(lines, "Network", "%s", network ? network : "none");
    docker_reach_add_files(lines, definition);
    add_hardware(lines, definition);
    reach_add_packages(lines, &packages);
    return lines;
}
