/* `pyexecd install` and `uninstall`: the server in the settings of clients. */
#include "base/cleanup.h"
#include "base/json.h"
#include "base/memory.h"
#include "base/text.h"
#include "base/utf8.h"
#include "server/clients/client.h"
#include "server/clients/client_server.h"
#include "server/clients/entry_trial.h"
#include "server/clients/program_path.h"
#include "server/commands/command.h"
#include "server/commands/options.h"
#include "server/configuration/config.h"
#include "server/service.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sysexits.h>

enum { MARGIN_SECONDS = 30 }; /* for the time of a call outside of its run */

/* Words for the change of a file, in both tenses. */
static const struct {
    const char *did;
    const char *would;
} put_words[] =
    {
        [SETTINGS_SAME] = {"nothing to change in", "nothing to change in"},
        [SETTINGS_CHANGED] = {"wrote", "would write"},
},
  take_words[] = {
      [SETTINGS_SAME] = {"nothing to remove in", "nothing to remove in"},
      [SETTINGS_CHANGED] = {"wrote", "would write"},
      [SETTINGS_GONE] = {"removed", "would remove"},
};

/* Prints what happened to the file of EDIT, or would happen. */
static void command_install_tell(const struct settings_edit *edit, int outcome)
{
    const bool is_put = edit->change == SETTINGS_PUT;
    const char *did = is_put ? put_words[outcome].did : take_words[outcome].did;
    const char *would = is_put ? put_words[outcome].would : take_words[outcome].would;

    printf("%s %s\n", edit->is_trial ? would : did, edit->path);
    if (is_put && outcome == SETTINGS_CHANGED && edit->is_trial) {
        AUTO_FREE char *value = json_dumps(edit->entry.value, JSON_INDENT(2) | JSON_ENCODE_ANY);

        for (const char *const *name = edit->entry.path; *name; name++)
            printf("%s > ", *name);
        printf("%s%s\n", edit->entry.name ? edit->entry.name : "", edit->entry.name ? ": " : "");
        puts(value);
    }
}

static int command_install_apply(struct settings_edit edit, const struct options *options,
                                 struct error *err)
{
    int outcome;

    edit.is_trial = options->dry_run;
    outcome = settings_file_edit(&edit, err);
    if (outcome < 0)
        return -1;
    command_install_tell(&edit, outcome);
    return 0;
}

/* Changes the permission of CLIENT, if it has one and the user wants it or takes everything out. */
static int change_permission(const struct client *client, enum settings_change change,
                             const struct options *options, struct error *err)
{
    AUTO_FREE char *path = NULL;
    AUTO_JSON json_t *value = NULL;
    struct settings_edit edit;

    if (!client->permissions.file || (change == SETTINGS_PUT && !options->allow))
        return 0;
    path = client_place_path(&client->permissions, err);
    if (!path)
        return -1;
    edit = client_edit_permission(path, &value);
    edit.change = change;
    if (change == SETTINGS_TAKE && !settings_file_has(path, edit.format, &edit.entry))
        return 0;
    return command_install_apply(edit, options, err);
}

/* Prints the next steps in CLIENT. */
static void command_install_advise(const struct client *client)
{
    puts(client->advice);
    puts("Then ask it, for example: Run Python: print(6 * 7)");
    if (client->memory)
        printf(
            "If it uses its own shell for Python instead, write in %s: \"Run Python with the tool "
            "run_python of pyexecd.\"\n",
            client->memory);
}

static int command_install_flush(struct error *err)
{
    return fflush(stdout) == 0 ? 0 : error_set_errno(err, errno, "standard output");
}

/* Starts what the entry starts, which logs errors only. A server with a URL is somebody else's. */
static int command_install_try(const struct client_server *server, struct error *err)
{
    AUTO_JSON json_t *quiet = json_pack("[s, s]", "--log-level", "error");
    AUTO_JSON json_t *command = json_copy((json_t *)server->command);

    if (!command)
        return 0;
    json_array_extend(command, quiet);
    if (entry_trial_run(command, err) < 0)
        return -1;
    puts("what the entry starts answers");
    return 0;
}

/* Whether the settings of CLIENT have the entry that would be written. */
static int command_install_check(const struct client *client, const struct client_server *server,
                                 struct error *err)
{
    AUTO_FREE char *path = client_place_path(&client->place, err);
    AUTO_JSON json_t *value = NULL;
    struct settings_edit edit;
    int outcome;

    if (!path)
        return -1;
    edit = client_edit(client, path, server, &value);
    edit.is_trial = true;
    outcome = settings_file_edit(&edit, err);
    if (outcome == SETTINGS_CHANGED)
        return error_set(err, ERROR_CONFIG,
                         "%s does not have this entry; to write it: pyexecd "
                         "install %s",
                         path, client->name);
    if (outcome < 0 || command_install_try(server, err) < 0)
        return -1;
    printf("%s has the entry\n", path);
    return command_install_flush(err);
}

/* SERVER is NULL to take it out. */
static int change_client(const struct client *client, const struct client_server *server,
                         const struct options *options, struct error *err)
{
    AUTO_FREE char *path = client_place_path(&client->place, err);
    AUTO_JSON json_t *value = NULL;

    if (!path ||
        command_install_apply(client_edit(client, path, server, &value), options, err) < 0 ||
        change_permission(client, server ? SETTINGS_PUT : SETTINGS_TAKE, options, err) < 0)
        return -1;
    if (server && !options->dry_run && command_install_try(server, err) < 0)
        return -1;
    if (server)
        command_install_advise(client);
    return command_install_flush(err);
}

/* Without a client: a line for each, and whether it has the server. NEXT is what to type then. */
static int list_clients(const char *next)
{
    size_t count;
    const struct client *clients = client_list(&count);

    for (size_t i = 0; i < count; i++) {
        struct error ignored = ERROR_INIT;
        AUTO_FREE char *path = client_place_path(&clients[i].place, &ignored);
        AUTO_JSON json_t *value = NULL;
        const struct settings_edit edit = client_edit(&clients[i], path, NULL, &value);

        if (path && settings_file_has(path, edit.format, &edit.entry))
            command_print_line("yes", clients[i].name, path);
        else if (client_is_there(&clients[i]))
            command_print_line("no", clients[i].name, "found; pyexecd is not in its settings");
        else
            command_print_line("", clients[i].name, "not found");
    }
    printf("\n%s\n", next);
    return command_end_output();
}

/* Adds OPTION and the real path of VALUE, unless that is NULL. */
static int add_path(json_t *command, const char *option, const char *value, struct error *err)
{
    AUTO_FREE char *path = value ? realpath(value, NULL) : NULL;

    if (!value)
        return 0;
    if (!path)
        return error_set_errno(err, errno, "%s %s", option, value);
    json_array_append_new(command, json_string(option));
    if (json_array_append_new(command, json_string(path)) < 0)
        return error_set(err, ERROR_USAGE, "%s %s: is no UTF-8", option, value);
    return 0;
}

/* A configuration for other clients may name other addresses. */
static void add_address_of_client(json_t *command, const struct options *options,
                                  const struct config *config)
{
    const char *addresses[OPTIONS_ADDRESSES + 1] = {0};

    command_list_addresses(options, config, addresses);
    if (command_is_private(addresses))
        return;
    json_array_append_new(command, json_string("--listen"));
    json_array_append_new(command, json_string("stdio"));
}

/* The command that the client is to start. New reference; NULL with ERR. */
static json_t *command_install_command(const struct options *options, const struct config *config,
                                       struct error *err)
{
    AUTO_JSON json_t *command = NULL;
    AUTO_FREE char *start = options->project ? service_find_start(options->project, NULL) : NULL;

    if (options->project && !start) {
        error_set(err, ERROR_USAGE, "--project %s: scripts cannot be given this folder",
                  options->project);
        return NULL;
    }
    command = program_path_command(options->program, err);
    if (!command || add_path(command, "--config", options->config_path, err) < 0 ||
        add_path(command, "--project", options->project, err) < 0)
        return NULL;
    add_address_of_client(command, options, config);
    return STEAL_PTR(command);
}

static int check_install(const struct client *client, const struct options *options,
                         struct error *err)
{
    const char *url = options->url;

    if (options->allow && !client->permissions.file)
        return error_set(err, ERROR_USAGE, "--allow: only claude-code has this permission");
    if (url && options->project)
        return error_set(err, ERROR_USAGE, "--project: a server with a URL has its own folders");
    if (url && !text_starts_with(url, "http://") && !text_starts_with(url, "https://"))
        return error_set(err, ERROR_USAGE, "--http %s: must begin with http:// or https://", url);
    if (url && !utf8_is_valid(url, strlen(url)))
        return error_set(err, ERROR_USAGE, "--http: is no UTF-8");
    return 0;
}

/* Seconds that a script may run in any environment. */
static double longest_call(const json_t *tree)
{
    double longest = json_object_get_number(tree, "max_timeout", 0);
    const char *name;
    json_t *environment;

    json_object_foreach (json_object_get(tree, "environments"), name, environment)
        longest = fmax(longest, json_object_get_number(environment, "max_timeout", 0));
    return longest;
}

static int command_install_with(const struct options *options, const struct config *config)
{
    struct error err = ERROR_INIT;
    const struct client *client = client_find(options->client, &err);
    AUTO_JSON json_t *command = NULL;
    struct client_server server = {
        .url = options->url,
        .seconds = longest_call(config_tree(config)) + MARGIN_SECONDS,
    };

    if (!client || check_install(client, options, &err) < 0)
        return command_fail(&err);
    if (!options->url) {
        server.command = command = command_install_command(options, config, &err);
        if (!command)
            return command_fail(&err);
    }
    if ((options->check ? command_install_check(client, &server, &err)
                        : change_client(client, &server, options, &err)) < 0)
        return command_fail(&err);
    return EX_OK;
}

int command_install(const struct options *options)
{
    struct config *config;
    int status;

    if (!options->client)
        return list_clients("To add pyexecd: pyexecd install CLIENT");
    config = command_load_config(options, &status);
    if (!config)
        return status;
    status = command_install_with(options, config);
    config_free(config);
    return status;
}

int command_uninstall(const struct options *options)
{
    struct error err = ERROR_INIT;
    const struct client *client;

    if (!options->client)
        return list_clients("To take pyexecd out: pyexecd uninstall CLIENT");
    client = client_find(options->client, &err);
    if (!client || change_client(client, NULL, options, &err) < 0)
        return command_fail(&err);
    return EX_OK;
}
