#include "server/tools/python/environment_text.h"

#include "base/buffer.h"
#include "base/json.h"
#include "base/memory.h"
#include "base/quantity.h"
#include "environments/docker/definition.h"
#include "environments/environment.h"
#include "environments/gpu_files.h"
#include "environments/packages/packages_definition.h"
#include "environments/packages/python_facts.h"
#include "environments/venv/definition.h"
#include "server/tools/code/function_list.h"

#include <stdlib.h>
#include <string.h>

enum {
    LINE_BYTES = 32 * 1024,
    PACKAGES_SHOWN = 12,
    PACKAGES_BYTES = 120, /* the most bytes that the names of found packages take */
    PATHS_SHOWN = 6,      /* of the paths to read, and of the paths to write */
    WORD_BYTES = 100,     /* of a name that somebody else has chosen */
};

static char *environment_text_time(const struct environment *environment)
{
    const struct environment_settings *settings = &environment->settings;

    return memory_format("%g seconds unless `timeout` is given, at most %g", settings->timeout,
                         settings->max_timeout);
}

static char *environment_text_sizes(const struct environment *environment)
{
    const struct environment_settings *settings = &environment->settings;
    AUTO_FREE char *memory = quantity_bytes(settings->limits.memory);
    AUTO_FREE char *disk = quantity_bytes(settings->disk);

    return memory_format("%s of memory, %u processes and threads, %s of new files", memory,
                         settings->limits.processes, disk);
}

char *environment_text_limits(const struct environment *environment)
{
    AUTO_FREE char *time = environment_text_time(environment);
    AUTO_FREE char *sizes = environment_text_sizes(environment);

    return memory_format("%s; %s", time, sizes);
}

/* Says when a person is asked. */
static const char *environment_text_approval(enum approval_policy policy)
{
    static const char *const words[] = {
        [APPROVAL_NEVER] = "",
        [APPROVAL_FIRST] = "; a person is asked before the first call",
        [APPROVAL_ALWAYS] = "; a person is asked before each call",
    };

    return words[policy];
}

static void environment_text_append_image(struct buffer *line, const json_t *definition)
{
    const struct docker_definition docker = docker_definition_read(definition);

    if (docker.dockerfile)
        buffer_print(line, ", image built from %.*s", WORD_BYTES, docker.dockerfile);
    else if (docker.image)
        buffer_print(line, ", image %.*s", WORD_BYTES, docker.image);
}

/* The version from a preparation, a survey or the configuration; nothing before. */
static void append_python(struct buffer *line, const struct environment *environment)
{
    const char *version = environment->ops->python_version(environment);

    if (!version && environment->facts)
        version = environment->facts->version;
    if (!version)
        version = venv_definition_read(environment->definition).python_version;
    if (version)
        buffer_print(line, ", Python %.*s", WORD_BYTES, version);
}

/* By their names alone: "numpy>=1.26" is numpy. */
static void append_listed(struct buffer *line, const json_t *packages)
{
    const json_t *package;
    size_t i;

    json_array_foreach (packages, i, package) {
        const char *text = json_string_value(package);
        size_t length = strcspn(text, " <>=!~;[");

        if (i == PACKAGES_SHOWN) {
            buffer_print(line, " and %zu more", json_array_size(packages) - i);
            return;
        }
        buffer_print(line, "%s%.*s", i == 0 ? ", with " : ", ",
                     (int)(length < WORD_BYTES ? length : WORD_BYTES), text);
    }
}

/* The packages that were found there. */
static void append_found(struct buffer *line, const struct python_facts *facts)
{
    size_t length = 0;

    if (facts->told == 0)
        buffer_print(line, ", no packages");
    for (size_t i = 0; i < facts->told; i++) {
        length += strlen(facts->packages[i]);
        if (i == PACKAGES_SHOWN || length > PACKAGES_BYTES) {
            buffer_print(line, " and %zu more", facts->told - i);
            return;
        }
        buffer_print(line, "%s%s", i == 0 ? ", with " : ", ", facts->packages[i]);
    }
}

/* Packages that the operator has listed go before packages that were found: the operator wants them
 * to be used. */
static void append_packages(struct buffer *line, const struct environment *environment)
{
    const json_t *listed = packages_definition_read(environment->definition).pip_packages;

    if (!environment->facts || json_array_size(listed) > 0)
        append_listed(line, listed);
    else
        append_found(line, environment->facts);
}

static void environment_text_append_network(struct buffer *line,
                                            const struct sandbox_settings *sandbox)
{
    if (sandbox->network)
        return;
    if (!sandbox->hosts) {
        buffer_print(line, "no network, ");
        return;
    }
    buffer_print(line, "of the network only");
    for (size_t i = 0; sandbox->hosts[i]; i++) {
        if (i == PATHS_SHOWN) {
            buffer_print(line, ", ...");
            break;
        }
        buffer_print(line, "%s %.*s", i ? "," : "", WORD_BYTES, sandbox->hosts[i]);
    }
    buffer_print(line, " (by HTTPS_PROXY), ");
}

static void environment_text_append_paths(struct buffer *line, char *const *paths, const char *how)
{
    for (size_t i = 0; paths && paths[i]; i++) {
        if (i == PATHS_SHOWN) {
            buffer_print(line, ", ...");
            return;
        }
        buffer_print(line, ", %.*s%s", WORD_BYTES, paths[i], how);
    }
}

/* The restrictions of a sandbox for scripts there. Owned by the caller. */
static char *environment_text_closed(const struct environment *environment)
{
    const struct sandbox_settings *sandbox = &environment->settings.sandbox;
    struct buffer text;
    char *ret;

    if (environment_isolation(environment) != ISOLATION_SANDBOX)
        return memory_copy_string("");
    buffer_init(&text, LINE_BYTES);
    environment_text_append_network(&text, sandbox);
    buffer_print(&text, "of files only the working directory%s",
                 environment_lacks(environment, LAYER_ROOT) ? "" : ", /tmp");
    environment_text_append_paths(&text, sandbox->write, "");
    environment_text_append_paths(&text, sandbox->read, " (read-only)");
    ret = memory_format("%.*s", (int)buffer_length(&text), buffer_bytes(&text));
    buffer_deinit(&text);
    return ret;
}

/* Said once for all environments where it is the same. */
static void environment_text_append_sandbox(struct buffer *line,
                                            const struct environment *environment,
                                            const struct environment *usual)
{
    const struct sandbox_settings *sandbox = &environment->settings.sandbox;
    AUTO_FREE char *closed = environment_text_closed(environment);
    AUTO_FREE char *usually = environment_text_closed(usual);

    if (!*closed)
        return;
    if (environment != usual && strcmp(closed, usually) == 0)
        buffer_print(line, "; network and files as in %s", usual->name);
    else
        buffer_print(line, "; %s", closed);
    if (sandbox->gpu && gpu_files_are_there())
        buffer_print(line, "; scripts can use the GPU");
}

/* TEXT is of the environment, USUAL of the environment whose text was told already. Both are
 * freed. */
static void environment_text_append_other(struct buffer *line, char *text, char *usual)
{
    if (strcmp(text, usual) != 0)
        buffer_print(line, "; %s", text);
    free(text);
    free(usual);
}

/* SOURCE is the source of the module, or NULL. */
static void environment_text_append_functions(struct buffer *line, const char *source)
{
    AUTO_FREE char *list = source ? function_list(source, strlen(source)) : NULL;
    char *rest = list;
    const char *function;

    if (!list)
        return;
    buffer_print(line, "; `import functions` has");
    while ((function = strsep(&rest, "\n")))
        buffer_print(line, "\n  - %s", function);
}

char *environment_text(const struct environment *environment, const struct environment *usual)
{
    struct buffer line;
    char *ret;

    buffer_init(&line, LINE_BYTES);
    buffer_print(&line, "%s: %s", environment->name, environment->ops->kind->name);
    environment_text_append_image(&line, environment->definition);
    append_python(&line, environment);
    append_packages(&line, environment);
    environment_text_append_sandbox(&line, environment, usual);
    environment_text_append_other(&line, environment_text_time(environment),
                                  environment_text_time(usual));
    environment_text_append_other(&line, environment_text_sizes(environment),
                                  environment_text_sizes(usual));
    buffer_print(&line, "%s", environment_text_approval(environment->settings.approval));
    environment_text_append_functions(&line, environment->settings.functions);
    ret = memory_format("%.*s", (int)buffer_length(&line), buffer_bytes(&line));
    buffer_deinit(&line);
    return ret;
}
