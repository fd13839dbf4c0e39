#include "server/commands/doctor_docker.h"

#include "base/cleanup.h"
#include "base/json.h"
#include "base/memory.h"
#include "base/text.h"
#include "environments/docker/definition.h"
#include "environments/docker/docker.h"
#include "environments/engine/engine_address.h"
#include "environments/kinds/kinds.h"
#include "server/commands/command.h"
#include "server/commands/engine_survey.h"

#include <ctype.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* TEXT, which is freed, and MORE behind a comma. Owned by the caller. */
static char *doctor_docker_join(char *text, const char *more)
{
    char *longer = *text ? memory_format("%s, %s", text, more) : memory_copy_string(more);

    free(text);
    return longer;
}

static const char *string_or(const json_t *object, const char *key, const char *otherwise)
{
    const char *text = json_object_get_string(object, key);

    return text ? text : otherwise;
}

/* How it limits */

static void print_cgroups(const json_t *info)
{
    AUTO_FREE char *text = memory_format(
        "version %s, by %s%s%s", string_or(info, "CgroupVersion", "1"),
        string_or(info, "CgroupDriver", "cgroupfs"),
        json_is_false(json_object_get(info, "MemoryLimit")) ? "; memory cannot be limited" : "",
        json_is_false(json_object_get(info, "PidsLimit")) ? "; processes cannot be limited" : "");

    command_print_line("", "its cgroups", text);
}

/* How it contains */

/* "name=seccomp,profile=default" is "seccomp (default)". Owned by the caller. */
static char *describe_option(const char *option)
{
    const char *name = strncmp(option, "name=", 5) == 0 ? option + 5 : option;
    const char *comma = strchr(name, ',');
    const char *profile = comma ? strchr(comma, '=') : NULL;

    if (!profile)
        return memory_copy_string(name);
    return memory_format("%.*s (%s)", (int)(comma - name), name, profile + 1);
}

static void print_security(const json_t *info)
{
    char *text = memory_copy_string("");
    bool is_rootless = false;
    const json_t *option;
    size_t i;

    json_array_foreach (json_object_get(info, "SecurityOptions"), i, option) {
        AUTO_FREE char *described =
            describe_option(json_is_string(option) ? json_string_value(option) : "");

        is_rootless = is_rootless || strcmp(described, "rootless") == 0;
        text = doctor_docker_join(text, described);
    }
    command_print_line("", "its security", *text ? text : "no seccomp, AppArmor or SELinux");
    command_print_line("", "rootless",
                       is_rootless ? "yes" : "no: every user of its socket can become root");
    free(text);
}

/* containerd's names for the same programs are left out. */
static void print_runtimes(const json_t *info)
{
    const char *standard = string_or(info, "DefaultRuntime", "");
    json_t *runtimes = json_object_get(info, "Runtimes");
    char *text = memory_copy_string("");
    const char *name;
    json_t *runtime;

    json_object_foreach (runtimes, name, runtime) {
        AUTO_FREE char *described =
            memory_format("%s%s", name, strcmp(name, standard) == 0 ? " (default)" : "");

        if (strncmp(name, "io.containerd.", strlen("io.containerd.")) != 0)
            text = doctor_docker_join(text, described);
    }
    command_print_line("", "its runtimes", text);
    free(text);
}

/* Its versions */

static const json_t *find_component(const json_t *version, const char *name)
{
    const json_t *components = json_object_get(version, "Components");
    const json_t *component;
    size_t i;

    json_array_foreach (components, i, component)
        if (strstr(string_or(component, "Name", ""), name))
            return component;
    return NULL;
}

/* Docker says "1.1.5+ds1", Podman gives the output of `runc --version`. */
static void print_runc(const json_t *version)
{
    const json_t *component = find_component(version, "runc");
    const json_t *details = json_object_get(component, "Details");
    const char *said = string_or(component, "Version", "");
    const char *build = string_or(details, "GitCommit", string_or(details, "Package", ""));
    AUTO_FREE char *release = memory_copy_string(said + strcspn(said, "0123456789"));
    AUTO_FREE char *text = NULL;

    if (!*release)
        return;
    release[strcspn(release, " \n")] = '\0';
    text = memory_format("%s%s%s%s", release, *build ? " (" : "", build, *build ? ")" : "");
    command_print_line("", "runc", text);
}

static void print_answers(const struct engine_survey *survey, const char *name)
{
    bool is_podman = find_component(survey->version, "Podman") != NULL;
    AUTO_FREE char *text = memory_format("%s: %s %s, API %s", name, is_podman ? "Podman" : "Docker",
                                         string_or(survey->version, "Version", "(unknown)"),
                                         string_or(survey->version, "ApiVersion", "(unknown)"));

    command_print_line("yes", "engine", text);
    print_cgroups(survey->info);
    print_security(survey->info);
    print_runtimes(survey->info);
    print_runc(survey->version);
}

/* A guess why no engine answers at the socket PATH. */
static const char *explain_absence(const char *path)
{
    static const char *const engines[] = {"/usr/bin/dockerd", "/usr/sbin/dockerd",
                                          "/usr/local/bin/dockerd", "/usr/bin/podman"};

    if (!path || access(path, F_OK) == 0)
        return "";
    for (size_t i = 0; i < ARRAY_SIZE(engines); i++)
        if (access(engines[i], X_OK) == 0)
            return "; an engine is installed, but not running there";
    return "; no engine seems to be installed";
}

enum need { ENGINE_IS_NEEDED, ENGINE_IS_A_CHANCE };

/* The engine that DEFINITION names, or the default one. */
static void print_engine(const struct docker_definition *definition, enum need need)
{
    struct engine_address address = {0};
    struct engine_survey survey = {0};
    AUTO_FREE char *name = NULL;
    AUTO_FREE char *text = NULL;
    const char *absence = "";

    if (docker_definition_find_engine(definition, &address, &survey.err) == 0) {
        name = memory_copy_string(address.text);
        absence = explain_absence(address.socket_path);
        engine_survey_make(&survey, &address);
    }
    text = memory_format("%s%s", survey.err.message, absence);
    if (survey.err.code == ERROR_NONE || need == ENGINE_IS_NEEDED)
        printf("docker\n");
    if (survey.err.code == ERROR_NONE)
        print_answers(&survey, name);
    else if (need == ENGINE_IS_NEEDED)
        command_print_line("no", "engine", text);
    engine_survey_deinit(&survey);
    engine_address_deinit(&address);
}

static bool is_docker(const json_t *definition)
{
    return environment_kinds_find(definition) == &docker_kind;
}

/* Whether an environment before the one called NAME has the same engine. */
static bool doctor_docker_is_known(const json_t *definitions, const char *name)
{
    const struct docker_definition own = docker_definition_read(json_object_get(definitions, name));
    const char *other;
    json_t *definition;

    json_object_foreach ((json_t *)definitions, other, definition) {
        if (strcmp(other, name) == 0)
            return false;
        if (is_docker(definition) && strcmp(text_or_none(docker_definition_read(definition).host),
                                            text_or_none(own.host)) == 0)
            return true;
    }
    return false;
}

void doctor_docker_print(const json_t *definitions)
{
    const char *name;
    json_t *definition;
    size_t count = 0;

    json_object_foreach ((json_t *)definitions, name, definition) {
        const struct docker_definition docker = docker_definition_read(definition);

        if (!is_docker(definition) || doctor_docker_is_known(definitions, name))
            continue;
        print_engine(&docker, ENGINE_IS_NEEDED);
        count++;
    }
    if (count == 0)
        print_engine(&(struct docker_definition){0}, ENGINE_IS_A_CHANCE);
}
