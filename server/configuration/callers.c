#include "server/configuration/callers.h"

#include "server/configuration/config.h"

#include <string.h>

static bool is_stdio_alone(const char *const *addresses)
{
    return addresses[0] && strcmp(addresses[0], "stdio") == 0 && !addresses[1];
}

struct callers callers_read(const struct config *config, const char *const *addresses)
{
    const json_t *callers = json_object_get(config_tree(config), "callers");
    const json_t *may_define = json_object_get(callers, "define_environments");

    return (struct callers){
        .define_environments = may_define ? json_is_true(may_define) : is_stdio_alone(addresses),
        .allowed_images = json_object_get(callers, "allowed_images"),
        .allowed_paths = json_object_get(callers, "allowed_paths"),
    };
}
