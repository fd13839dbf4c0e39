#include "environments/packages/installer_settings.h"

#include "base/cleanup.h"
#include "base/memory.h"
#include "environments/interpreter/script_places.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

static const char *const machine_settings[] = {"/etc/pip.conf", "/etc/xdg/pip/pip.conf",
                                               "/etc/uv/uv.toml", "/etc/xdg/uv/uv.toml"};
static const char *const home_settings[] = {".pip/pip.conf", ".config/pip/pip.conf",
                                            ".config/uv/uv.toml", ".netrc"};
static const char *const xdg_settings[] = {"pip/pip.conf", "uv/uv.toml"};

struct installer_settings_visit {
    void *data;
    void (*found)(void *data, const char *path);
};

/* DIRECTORY, of LENGTH bytes, is nothing where it is relative. */
static void installer_settings_each_below(const struct installer_settings_visit *visit,
                                          const char *directory, size_t length,
                                          const char *const *names, size_t count)
{
    for (size_t i = 0; *directory == '/' && i < count; i++) {
        AUTO_FREE char *path = memory_format("%.*s/%s", (int)length, directory, names[i]);

        visit->found(visit->data, path);
    }
}

void installer_settings_each(void *data, void (*found)(void *data, const char *path))
{
    const struct installer_settings_visit visit = {data, found};
    const char *home = getenv("HOME");
    const char *user = getenv("XDG_CONFIG_HOME");
    const char *rest = getenv("XDG_CONFIG_DIRS");

    for (size_t i = 0; i < ARRAY_SIZE(machine_settings); i++)
        found(data, machine_settings[i]);
    if (home)
        installer_settings_each_below(&visit, home, strlen(home), home_settings,
                                      ARRAY_SIZE(home_settings));
    if (user)
        installer_settings_each_below(&visit, user, strlen(user), xdg_settings,
                                      ARRAY_SIZE(xdg_settings));
    while (rest && *rest) {
        const size_t length = strcspn(rest, ":");

        installer_settings_each_below(&visit, rest, length, xdg_settings, ARRAY_SIZE(xdg_settings));
        rest += length + (rest[length] == ':');
    }
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
