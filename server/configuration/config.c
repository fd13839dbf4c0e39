#include "server/configuration/config.h"

#include "base/cleanup.h"
#include "base/fd.h"
#include "base/json.h"
#include "base/log.h"
#include "base/memory.h"
#include "base/schema/schema.h"
#include "base/text.h"
#include "schemas/schemas.h"
#include "server/configuration/config_checks.h"
#include "server/configuration/config_paths.h"
#include "server/configuration/config_values.h"
#include "server/configuration/problem_list.h"
#include "server/configuration/sandbox_checks.h"
#include "server/configuration/yaml_tree.h"

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <pwd.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

struct config {
    char *path; /* owned; NULL: there is no file */
    bool missing;
    bool is_shared; /* others than its owner may read it */
    struct yaml_tree tree;
    struct problem_list problems;
};

/* The nearest place around POINTER that is in the file. */
static const struct yaml_place *find_place(const struct config *config, const char *pointer)
{
    AUTO_FREE char *around = memory_copy_string(pointer);

    for (;;) {
        const struct yaml_place *place = yaml_tree_find(&config->tree, around);
        char *slash = strrchr(around, '/');

        if (place || !slash)
            return place;
        *slash = '\0';
    }
}

static void add_problem_at(struct config *config, enum schema_problem_place where,
                           const char *pointer, const char *message)
{
    const struct yaml_place *place = find_place(config, pointer);
    struct yaml_position position = {0};

    if (place)
        position = where == SCHEMA_AT_KEY ? place->key : place->value;
    problem_list_add(&config->problems, position, pointer, message);
}

void config_complain(struct config *config, const char *message, const char *pointer, ...)
{
    AUTO_FREE char *path = NULL;
    va_list arguments;

    va_start(arguments, pointer);
    path = memory_format_list(pointer, arguments);
    va_end(arguments);
    add_problem_at(config, SCHEMA_AT_VALUE, path, message);
}

static void config_on_yaml_fault(void *data, struct yaml_position position, const char *pointer,
                                 const char *message)
{
    struct config *config = data;

    problem_list_add(&config->problems, position, pointer, message);
}

static void config_on_value_problem(void *data, enum schema_problem_place place,
                                    const char *pointer, const char *message)
{
    add_problem_at(data, place, pointer, message);
}

/* Problems that the schema finds are not told again where the value is known to be wrong. */
struct validation {
    struct config *config;
    size_t known; /* problems found before */
};

static void config_on_schema_problem(void *data, enum schema_problem_place place,
                                     const char *pointer, const char *message)
{
    const struct validation *validation = data;

    if (!problem_list_covers(&validation->config->problems, validation->known, pointer))
        add_problem_at(validation->config, place, pointer, message);
}

/* The program's own schema: that it compiles is tested, so it cannot fail here. */
static json_t *load_schema(struct schema **ret)
{
    json_t *document = json_loads(schemas_find("config"), 0, NULL);
    struct error err = ERROR_INIT;

    *ret = schema_new(document, &err);
    if (!*ret) {
        log_error("schemas/config.json: %s", err.message);
        abort();
    }
    return document;
}

static void check_tree(struct config *config)
{
    struct validation validation = {.config = config, .known = config->problems.count};
    struct schema *schema;
    AUTO_JSON json_t *document = load_schema(&schema);
    AUTO_FREE char *folder = config->path ? config_paths_folder(config->path) : NULL;
    json_t *root = config->tree.root;

    config_values_settle(
        &(struct config_values){document, folder, config_on_schema_problem, &validation}, root);
    sandbox_checks_wrong_places(config, root);
    config_checks_client(config, root);
    config_paths_check_volumes(root, config_on_value_problem, config);
    validation.known = config->problems.count;
    if (schema_validate(schema, root, config_on_schema_problem, &validation) && folder)
        config_paths_settle_volumes(folder, root, config_on_value_problem, config);
    schema_free(schema);
    config_checks_relations(config, &config->tree, root);
}

/* The users who may write the file */

/* True when GROUP lists nobody but the user NAME. */
static bool is_listed_alone(const struct group *group, const char *name)
{
    for (char **member = group->gr_mem; *member; member++)
        if (strcmp(*member, name) != 0)
            return false;
    return true;
}

/* True when NUMBER is the primary group of no other user than USER. */
static bool is_nobody_elses(gid_t number, uid_t user)
{
    const struct passwd *each;
    bool is_alone = true;

    setpwent();
    while (is_alone && (each = getpwent()))
        is_alone = each->pw_gid != number || each->pw_uid == user;
    endpwent();
    return is_alone;
}

static bool is_private_group(gid_t number, uid_t user)
{
    const struct passwd *owner = getpwuid(user);
    const struct group *group;

    if (!owner || owner->pw_gid != number)
        return false;
    group = getgrgid(number);
    return group && is_listed_alone(group, owner->pw_name) && is_nobody_elses(number, user);
}

/* -1 with ERROR_CONFIG when others than the owner of PATH, whose STATUS this is, may write it: it
 * names programs. The owner's own group counts as the owner: many systems give each user a group,
 * and with umask 002 that group may write every file (mode 0664). */
static int private_file_check(const struct stat *status, const char *path, struct error *err)
{
    const char *who = NULL;

    if (status->st_mode & S_IWOTH)
        who = "others";
    else if (status->st_mode & S_IWGRP && !is_private_group(status->st_gid, status->st_uid))
        who = "its group";
    if (!who)
        return 0;
    return error_set(err, ERROR_CONFIG,
                     "%s may write it (mode %04o), and it decides what is executed; chmod go-w %s",
                     who, status->st_mode & 07777U, path);
}

/* Reading it */

/* True for /dev/stdin and a shell's /dev/fd/63, which the starter of the server has opened. */
static bool config_is_handed_over(const struct config *config)
{
    return text_starts_with(config->path, "/dev/") || text_starts_with(config->path, "/proc/");
}

/* The descriptor of the file at PATH, or -1 with CONFIG's error. Scripts may be able to put
 * something else into its place that would never end, or never open. */
static int open_file(struct config *config)
{
    const bool is_any = config_is_handed_over(config);
    const int flags = O_RDONLY | O_CLOEXEC | O_NOCTTY | (is_any ? 0 : O_NONBLOCK);
    AUTO_CLOSE int fd = open(config->path, flags);
    struct error err = ERROR_INIT;
    struct stat status = {0};

    if (fd < 0) {
        config->missing = true;
        error_set_errno(&err, errno, "cannot be opened");
    } else if (fstat(fd, &status) < 0) {
        error_set_errno(&err, errno, "cannot be examined");
    } else if (!is_any && !S_ISREG(status.st_mode)) {
        error_set(&err, ERROR_CONFIG, "is not a regular file");
    } else if (S_ISREG(status.st_mode)) {
        (void)private_file_check(&status, config->path, &err);
    }
    config->is_shared = status.st_mode & (S_IRGRP | S_IROTH);
    if (err.code == ERROR_NONE)
        return STEAL_FD(fd);
    problem_list_add(&config->problems, (struct yaml_position){0}, "", err.message);
    return -1;
}

static char *config_read_file(struct config *config, size_t *ret_length)
{
    AUTO_CLOSE int fd = open_file(config);
    struct error err = ERROR_INIT;
    char *text;

    if (fd < 0)
        return NULL;
    text = fd_read_all(fd, YAML_TEXT_BYTES, ret_length, &err);
    if (!text)
        problem_list_add(&config->problems, (struct yaml_position){0}, "", err.message);
    return text;
}

/* The reason why the file cannot be meant as a configuration, or NULL. Some of these would be YAML
 * with strange keys. */
static const char *config_find_mistaken(const char *path, const char *text)
{
    const char *ending = strrchr(path, '.');

    if ((ending && strcmp(ending, ".py") == 0) || text_starts_with(text, "#!"))
        return "is a program, not a configuration: `pyexecd run FILE` runs one of Python, "
               "`pyexecd config init` writes a configuration";
    if (ending && strcmp(ending, ".toml") == 0)
        return "is TOML, and a configuration is YAML: `pyexecd config init` writes one";
    return NULL;
}

static void config_parse_text(struct config *config, const char *text, size_t length)
{
    yaml_tree_init(&config->tree, text, length, config_on_yaml_fault, config);
    if (config->tree.root)
        check_tree(config);
}

struct config *config_parse(const char *name, const char *text, size_t length)
{
    struct config *config = NEW(struct config);

    config->path = memory_copy_string(name);
    config_parse_text(config, text, length);
    return config;
}

struct config *config_load(const char *path)
{
    struct config *config = NEW(struct config);
    AUTO_FREE char *text = NULL;
    const char *mistaken;
    size_t length;

    if (!path) {
        config->tree.root = json_object();
        check_tree(config);
        return config;
    }
    config->path = memory_copy_string(path);
    text = config_read_file(config, &length);
    mistaken = text ? config_find_mistaken(path, text) : NULL;
    if (mistaken)
        problem_list_add(&config->problems, (struct yaml_position){0}, "", mistaken);
    else if (text)
        config_parse_text(config, text, length);
    return config;
}

void config_free(struct config *config)
{
    if (!config)
        return;
    problem_list_deinit(&config->problems);
    yaml_tree_deinit(&config->tree);
    free(config->path);
    free(config);
}

bool config_is_missing(const struct config *config)
{
    return config->missing;
}

bool config_is_shared(const struct config *config)
{
    return config->is_shared;
}

const json_t *config_tree(const struct config *config)
{
    return config->tree.root;
}

static bool is_stdio_alone(const char *const *addresses)
{
    return addresses[0] && strcmp(addresses[0], "stdio") == 0 && !addresses[1];
}

struct config_callers config_callers(const struct config *config, const char *const *addresses)
{
    const json_t *callers = json_object_get(config->tree.root, "callers");
    const json_t *may_define = json_object_get(callers, "define_environments");

    return (struct config_callers){
        .define_environments = may_define ? json_is_true(may_define) : is_stdio_alone(addresses),
        .allowed_images = json_object_get(callers, "allowed_images"),
        .allowed_paths = json_object_get(callers, "allowed_paths"),
    };
}

bool config_has_errors(const struct config *config)
{
    return config->problems.count > 0;
}

const char *config_path(const struct config *config)
{
    return config->path;
}

char *config_error_text(const struct config *config)
{
    return problem_list_text(&config->problems, config->path);
}

static char *config_existing(char *path)
{
    if (access(path, F_OK) == 0)
        return path;
    free(path);
    return NULL;
}

char *config_home_path(void)
{
    const char *directory = getenv("XDG_CONFIG_HOME");
    const char *home = getenv("HOME");

    /* A relative path there is to be ignored (XDG Base Directory Specification). */
    if (directory && *directory == '/')
        return memory_format("%s/pyexecd/config.yaml", directory);
    if (home && *home == '/')
        return memory_format("%s/.config/pyexecd/config.yaml", home);
    return NULL;
}

static char *find_in_home(void)
{
    char *path = config_home_path();

    return path ? config_existing(path) : NULL;
}

void config_use_tokens(struct config *config, const char *tokens)
{
    json_object_set_new(config->tree.root, "token_file", json_string(tokens));
}

bool config_use_addresses(struct config *config, const char *const *addresses)
{
    json_t *listen = json_array();

    for (; *addresses; addresses++)
        json_array_append_new(listen, json_string(*addresses));
    json_object_set_new(config->tree.root, "listen", listen);
    return yaml_tree_find(&config->tree, "/listen") != NULL;
}

char *config_find(void)
{
    const char *named = getenv("PYEXECD_CONFIG");
    char *path;

    if (named && *named)
        return memory_copy_string(named);
    path = find_in_home();
    return path ? path : config_existing(memory_copy_string("/etc/pyexecd/config.yaml"));
}
