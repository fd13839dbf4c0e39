#include "environments/packages/installer_settings.h"

#include "base/cleanup.h"
#include "base/memory.h"
#include "environments/interpreter/script_places.h"

#include <stddef.h>
#include <stdlib.h>

static const char *const machine_settings[] = {"/etc/pip.conf", "/etc/xdg/pip/pip.conf",
                                               "/etc/uv/uv.toml", "/etc/xdg/uv/uv.toml"};
static const char *const home_settings[] = {".pip/pip.conf", ".config/pip/pip.conf",
                                            ".config/uv/uv.toml", ".netrc"};
static const char *const user_settings[] = {"pip/pip.conf", "uv/uv.toml"}; /* XDG_CONFIG_HOME */

static void installer_settings_each_below(const char *variable, const char *const *names,
                                          size_t count, void *data,
                                          void (*found)(void *data, const char *path))
{
    const char *directory = getenv(variable);

    for (size_t i = 0; directory && *directory == '/' && i < count; i++) {
        AUTO_FREE char *path = memory_format("%s/%s", directory, names[i]);

        found(data, path);
    }
}

void installer_settings_each(void *data, void (*found)(void *data, const char *path))
{
    for (size_t i = 0; i < ARRAY_SIZE(machine_settings); i++)
        found(data, machine_settings[i]);
    installer_settings_each_below("HOME", home_settings, ARRAY_SIZE(home_settings), data, found);
    installer_settings_each_below("XDG_CONFIG_HOME", user_settings, ARRAY_SIZE(user_settings), data,
                                  found);
}

/* Which of the files scripts could have written. */
struct installer_settings_search {
    const struct script_places *places;
    char *written; /* owned, or NULL */
};

static void installer_settings_look(void *data, const char *path)
{
    struct installer_settings_search *search = data;

    if (!search->written && script_places_reach(search->places, path))
        search->written = memory_copy_string(path);
}

char *installer_settings_find_written(const struct script_places *places)
{
    static const char *const variables[] = {"PIP_CONFIG_FILE", "UV_CONFIG_FILE", "NETRC"};
    struct installer_settings_search search = {.places = places};

    installer_settings_each(&search, installer_settings_look);
    for (size_t i = 0; i < ARRAY_SIZE(variables); i++)
        if (getenv(variables[i]))
            installer_settings_look(&search, getenv(variables[i]));
    return search.written;
}
