#include "server/commands/options.h"

#include "base/cleanup.h"
#include "base/memory.h"
#include "base/spelling.h"

#include <assert.h>
#include <getopt.h>
#include <math.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* The commands that accept an option, as a set of bits. */
#define FOR(COMMAND) (1u << (COMMAND))
#define FOR_ALL      (~0u)

#define FOR_SCRIPTS (FOR(COMMAND_RUN) | FOR(COMMAND_MAP))

#define OPTIONS_HTTP_PORT "8808"

enum {
    LONG_OPTION_BASE = 256, /* above every letter that getopt may return */
    MOST_PARALLEL_RUNS = 256,
};

static const struct command_name {
    const char *name;
    enum command command;
    const char *operand; /* the operand that must follow, or NULL */
} command_names[] = {
    {"serve", COMMAND_SERVE, NULL},
    {"run", COMMAND_RUN, "FILE (- is standard input) or -c CODE"},
    {"map", COMMAND_MAP, "FILE"},
    {"call", COMMAND_CALL, NULL},
    {"prepare", COMMAND_PREPARE, NULL},
    {"doctor", COMMAND_DOCTOR, NULL},
    {"schema", COMMAND_SCHEMA, NULL},
    {"token", COMMAND_TOKEN, "NAME"},
    {"install", COMMAND_INSTALL, NULL},
    {"uninstall", COMMAND_UNINSTALL, NULL},
    {"config", COMMAND_CONFIG, "init"},
    {"tools", COMMAND_TOOLS, NULL},
    {"completions", COMMAND_COMPLETIONS, "SHELL (bash, zsh or fish)"},
    {"node", COMMAND_NODE, NULL},
    {"help", COMMAND_HELP, NULL},
    {"version", COMMAND_VERSION, NULL},
};

/* The words of a command line that are no options, and all words behind "--". */
struct operands {
    char *names[OPTIONS_OPERANDS + 1];
    size_t count;
};

static int set_check_config(struct options *options, const char *value, struct error *err)
{
    (void)value;
    (void)err;
    if (!options->command_name)
        options->command = COMMAND_CHECK_CONFIG;
    return 0;
}

static int set_help(struct options *options, const char *value, struct error *err)
{
    (void)value;
    (void)err;
    options->wants_help = true;
    return 0;
}

static int set_version(struct options *options, const char *value, struct error *err)
{
    (void)value;
    (void)err;
    options->wants_version = true;
    return 0;
}

static int set_config(struct options *options, const char *value, struct error *err)
{
    (void)err;
    options->config_path = value;
    return 0;
}

static int set_code(struct options *options, const char *value, struct error *err)
{
    (void)err;
    options->code = value;
    return 0;
}

static int set_working_directory(struct options *options, const char *value, struct error *err)
{
    (void)err;
    options->working_directory = value;
    return 0;
}

static int set_environment(struct options *options, const char *value, struct error *err)
{
    (void)err;
    options->environment = value;
    return 0;
}

static int add_package(struct options *options, const char *value, struct error *err)
{
    size_t count = 0;

    while (options->packages[count])
        count++;
    if (count == OPTIONS_PACKAGES)
        return error_set(err, ERROR_USAGE, "--with is given more than %d times", OPTIONS_PACKAGES);
    options->packages[count] = value;
    return 0;
}

static int set_python(struct options *options, const char *value, struct error *err)
{
    (void)err;
    options->python = value;
    return 0;
}

static int set_require(struct options *options, const char *value, struct error *err)
{
    if (strcmp(value, "sandbox") != 0)
        return error_set(err, ERROR_USAGE, "--require %s: must be sandbox", value);
    options->require_sandbox = true;
    return 0;
}

static int set_provider(struct options *options, const char *value, struct error *err)
{
    (void)err;
    options->provider = value;
    return 0;
}

static int set_json(struct options *options, const char *value, struct error *err)
{
    (void)value;
    (void)err;
    options->json = true;
    return 0;
}

static int set_client(struct options *options, const char *value, struct error *err)
{
    (void)err;
    options->client = value;
    return 0;
}

static int set_token_file(struct options *options, const char *value, struct error *err)
{
    (void)err;
    options->token_file = value;
    return 0;
}

static int set_project(struct options *options, const char *value, struct error *err)
{
    (void)err;
    options->project = value;
    return 0;
}

static int set_dry_run(struct options *options, const char *value, struct error *err)
{
    (void)value;
    (void)err;
    options->dry_run = true;
    return 0;
}

static int set_allow(struct options *options, const char *value, struct error *err)
{
    (void)value;
    (void)err;
    options->allow = true;
    return 0;
}

static int set_check(struct options *options, const char *value, struct error *err)
{
    (void)value;
    (void)err;
    options->check = true;
    return 0;
}

static int add_address(struct options *options, const char *value, struct error *err)
{
    size_t count = 0;

    while (options->addresses[count])
        count++;
    if (count == OPTIONS_ADDRESSES)
        return error_set(err, ERROR_USAGE, "--listen is given more than %d times",
                         OPTIONS_ADDRESSES);
    options->addresses[count] = value;
    return 0;
}

/* PORT of this machine's loopback. */
static int options_listen_on_port(struct options *options, const char *port, struct error *err)
{
    char *end;
    const unsigned long number = strtoul(port, &end, 10);

    if (*end || number < 1 || number > UINT16_MAX)
        return error_set(err, ERROR_USAGE, "--http %s: must be a port, such as 8808", port);
    snprintf(options->http_address, sizeof options->http_address, "http://127.0.0.1:%lu/mcp",
             number);
    return add_address(options, options->http_address, err);
}

/* The address of a server for a client, or the port of a server. */
static int set_http(struct options *options, const char *value, struct error *err)
{
    if (options->command != COMMAND_INSTALL)
        return options_listen_on_port(options, value ? value : OPTIONS_HTTP_PORT, err);
    if (!value)
        return error_set(err, ERROR_USAGE, "--http needs an argument");
    options->url = value;
    return 0;
}

static int set_log_level(struct options *options, const char *value, struct error *err)
{
    static const char *const names[] = {
        [LOG_LEVEL_ERROR] = "error",
        [LOG_LEVEL_WARNING] = "warning",
        [LOG_LEVEL_INFO] = "info",
        [LOG_LEVEL_DEBUG] = "debug",
    };

    for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
        if (strcmp(names[i], value) != 0)
            continue;
        options->log_level = (enum log_level)i;
        return 0;
    }
    return error_set(err, ERROR_USAGE, "--log-level %s: must be error, warning, info or debug",
                     value);
}

static int set_results(struct options *options, const char *value, struct error *err)
{
    options->results = result_form_find(value);
    if (options->results == RESULT_FORM_UNSAID)
        return error_set(err, ERROR_USAGE, "--results %s: must be text or structured", value);
    return 0;
}

static int set_timeout(struct options *options, const char *value, struct error *err)
{
    char *end;

    options->timeout = strtod(value, &end);
    if (end == value || *end || !isfinite(options->timeout) || options->timeout <= 0)
        return error_set(err, ERROR_USAGE, "--timeout %s: must be a number of seconds above 0",
                         value);
    return 0;
}

static int set_parallel(struct options *options, const char *value, struct error *err)
{
    char *end;
    const unsigned long number = strtoul(value, &end, 10);

    if (*end || number < 1 || number > MOST_PARALLEL_RUNS)
        return error_set(err, ERROR_USAGE, "--parallel %s: must be a number from 1 to %d", value,
                         MOST_PARALLEL_RUNS);
    options->parallel = (unsigned)number;
    return 0;
}

/* A letter may stand for different options of different commands; the narrower one comes first. */
static const struct choice {
    const char *name;
    char letter; /* or 0 */
    int has_argument;
    unsigned commands;
    int (*set)(struct options *options, const char *value, struct error *err);
} choices[] = {
    {"add", 0, required_argument, FOR(COMMAND_TOKEN), set_token_file},
    {"allow", 0, no_argument, FOR(COMMAND_INSTALL), set_allow},
    {"check", 0, no_argument, FOR(COMMAND_INSTALL), set_check},
    {"check-config", 0, no_argument, FOR(COMMAND_CHECK_CONFIG), set_check_config},
    {"client", 0, required_argument, FOR(COMMAND_INSTALL) | FOR(COMMAND_UNINSTALL), set_client},
    {"code", 'c', required_argument, FOR(COMMAND_RUN), set_code},
    {"config", 'c', required_argument, FOR_ALL, set_config},
    {"dry-run", 0, no_argument, FOR(COMMAND_INSTALL) | FOR(COMMAND_UNINSTALL), set_dry_run},
    {"env", 'e', required_argument, FOR_SCRIPTS, set_environment},
    {"for", 0, required_argument, FOR(COMMAND_SCHEMA), set_provider},
    {"help", 'h', no_argument, FOR_ALL, set_help},
    {"http", 0, optional_argument, FOR(COMMAND_SERVE) | FOR(COMMAND_INSTALL), set_http},
    {"json", 'j', no_argument,
     FOR(COMMAND_RUN) | FOR(COMMAND_PREPARE) | FOR(COMMAND_TOKEN) | FOR(COMMAND_TOOLS), set_json},
    {"listen", 'l', required_argument, FOR(COMMAND_SERVE), add_address},
    {"log-level", 0, required_argument, FOR_ALL, set_log_level},
    {"parallel", 'j', required_argument, FOR(COMMAND_MAP), set_parallel},
    {"project", 0, required_argument, FOR(COMMAND_SERVE) | FOR(COMMAND_INSTALL), set_project},
    {"provider", 'p', required_argument, FOR(COMMAND_CALL) | FOR(COMMAND_SCHEMA), set_provider},
    {"python", 0, required_argument, FOR_SCRIPTS, set_python},
    {"require", 0, required_argument, FOR_SCRIPTS, set_require},
    {"results", 0, required_argument, FOR(COMMAND_SERVE) | FOR(COMMAND_SCHEMA), set_results},
    {"timeout", 't', required_argument, FOR_SCRIPTS, set_timeout},
    {"token-file", 0, required_argument, FOR(COMMAND_SERVE), set_token_file},
    {"version", 'V', no_argument, FOR_ALL, set_version},
    {"with", 0, required_argument, FOR_SCRIPTS, add_package},
    {"working-directory", 'w', required_argument, FOR_SCRIPTS | FOR(COMMAND_CALL),
     set_working_directory},
};

enum { CHOICES = ARRAY_SIZE(choices) };

/* FOUND by getopt: an index of CHOICES, or -1. */
static int find_choice(const struct options *options, int found)
{
    int other = -1;

    if (found >= LONG_OPTION_BASE)
        return found - LONG_OPTION_BASE;
    for (int i = 0; i < CHOICES; i++) {
        if (choices[i].letter != found)
            continue;
        if (choices[i].commands & FOR(options->command))
            return i;
        other = other < 0 ? i : other;
    }
    return other;
}

/* The tables that getopt wants for the command of OPTIONS, from ours. LONG_OPTIONS has CHOICES + 1
 * zeroed entries, LETTERS room for two characters, two more per choice and a NUL. */
static void describe_choices(const struct options *options, struct option *long_options,
                             char *letters)
{
    *letters++ = '+'; /* getopt stops at each operand, because the first one is the command */
    *letters++ = ':'; /* and distinguishes a missing argument from an unknown option */
    for (int i = 0; i < CHOICES; i++) {
        long_options[i].name = choices[i].name;
        long_options[i].has_arg = choices[i].has_argument;
        long_options[i].val = LONG_OPTION_BASE + i;
        if (!choices[i].letter || find_choice(options, choices[i].letter) != i)
            continue;
        *letters++ = choices[i].letter;
        if (choices[i].has_argument == required_argument)
            *letters++ = ':';
    }
    *letters = '\0';
}

static int options_find_command(struct options *options, const char *word, struct error *err)
{
    struct spelling spelling = SPELLING_INIT(word);

    for (size_t i = 0; i < ARRAY_SIZE(command_names); i++) {
        spelling_try(&spelling, command_names[i].name);
        if (strcmp(command_names[i].name, word) != 0)
            continue;
        options->command = command_names[i].command;
        options->command_name = command_names[i].name;
        return 0;
    }
    if (spelling.nearest)
        return error_set(err, ERROR_USAGE, "unknown command %s, did you mean %s?", word,
                         spelling.nearest);
    return error_set(err, ERROR_USAGE, "unknown command %s", word);
}

static int take_operand(struct options *options, struct operands *operands, char *word,
                        struct error *err)
{
    if (!options->command_name && options->command != COMMAND_CHECK_CONFIG)
        return options_find_command(options, word, err);
    if (operands->count == OPTIONS_OPERANDS)
        return error_set(err, ERROR_USAGE, "there are more than %d arguments", OPTIONS_OPERANDS);
    operands->names[operands->count++] = word;
    return 0;
}

/* FOUND is what getopt says of the option before optind; sets its bit in *RET_USED. */
/* WORD is an option of no command. */
static int options_refuse_unknown(const struct options *options, const char *word,
                                  struct error *err)
{
    AUTO_FREE char *name = memory_format("%.*s", (int)strcspn(word, "="), word);
    struct spelling spelling = SPELLING_INIT(name + strspn(name, "-"));

    for (int i = 0; name[1] == '-' && i < CHOICES; i++)
        if (choices[i].commands & FOR(options->command))
            spelling_try(&spelling, choices[i].name);
    if (spelling.nearest)
        return error_set(err, ERROR_USAGE, "unknown option %s, did you mean --%s?", name,
                         spelling.nearest);
    return error_set(err, ERROR_USAGE, "unknown option %s", name);
}

static int take_choice(struct options *options, int found, char **argv, unsigned *ret_used,
                       struct error *err)
{
    int choice = find_choice(options, found);

    if (found == ':')
        return error_set(err, ERROR_USAGE, "%s needs an argument", argv[optind - 1]);
    if (choice < 0)
        return options_refuse_unknown(options, argv[optind - 1], err);
    if (choices[choice].has_argument == optional_argument && !optarg && argv[optind] &&
        *argv[optind] != '-')
        optarg = argv[optind++]; /* getopt takes it only behind "=" */
    *ret_used |= 1u << choice;
    return choices[choice].set(options, optarg, err);
}

/* WORDS follow the script of `run`, and are its arguments, as with python3. A
 * "--" may stand between them. */
static void options_take_arguments(struct options *options, char **words)
{
    if (*words)
        options->arguments = strcmp(*words, "--") == 0 ? words + 1 : words;
}

/* The word at INDEX of ARGV is no option. */
static void options_take_word(struct options *options, struct operands *operands, char **argv,
                              int index, struct error *err)
{
    if (options->command == COMMAND_RUN && options->code) {
        options->arguments = argv + index;
        return;
    }
    (void)take_operand(options, operands, argv[index], err);
    if (options->command == COMMAND_RUN && operands->count > 0)
        options_take_arguments(options, argv + index + 1);
}

/* Goes on after the first mistake, so that the command is known in any case. */
static int parse_words(struct options *options, struct operands *operands, int argc, char **argv,
                       unsigned *ret_used, struct error *err)
{
    struct option long_options[CHOICES + 1] = {{0}};
    char letters[2 * CHOICES + 3];
    struct error later = ERROR_INIT;

    optind = 0; /* glibc: start anew */
    opterr = 0;
    for (;;) {
        struct error *first = err->code == ERROR_NONE ? err : &later;
        int found;

        describe_choices(options, long_options, letters);
        found = getopt_long(argc, argv, letters, long_options, NULL);
        if (found != -1) {
            (void)take_choice(options, found, argv, ret_used, first);
            continue;
        }
        if (optind > 1 && strcmp(argv[optind - 1], "--") == 0)
            options->arguments = argv + optind;
        if (optind < argc && !options->arguments)
            options_take_word(options, operands, argv, optind++, first);
        if (optind >= argc || options->arguments)
            return err->code == ERROR_NONE ? 0 : -1;
    }
}

static const char *options_missing_operand(const struct options *options,
                                           const struct operands *operands)
{
    if (operands->count > 0 || options->code)
        return NULL;
    for (size_t i = 0; i < ARRAY_SIZE(command_names); i++)
        if (command_names[i].command == options->command)
            return command_names[i].operand;
    return NULL;
}

/* A client that is named without --client. */
static int options_take_client(struct options *options, const char *name, struct error *err)
{
    if (name && options->client)
        return error_set(err, ERROR_USAGE, "--client %s and %s: name one client", options->client,
                         name);
    options->client = name ? name : options->client;
    return 0;
}

/* `pyexecd help COMMAND`; without COMMAND the page is that of the program. */
static int options_take_help(struct options *options, const char *command, struct error *err)
{
    options->command_name = NULL;
    if (command && options_find_command(options, command, err) < 0)
        return -1;
    options->command = COMMAND_HELP;
    return 0;
}

static int options_take_config(struct options *options, const char *action, const char *file,
                               struct error *err)
{
    assert(action); /* options_missing_operand() */
    if (strcmp(action, "init") != 0)
        return error_set(err, ERROR_USAGE, "config %s: must be config init [FILE]", action);
    options->file = file;
    return 0;
}

/* Operands of each command; NULL where there is none. */
static int options_take_operands(struct options *options, char *const *names, size_t *ret_taken,
                                 struct error *err)
{
    *ret_taken = 1;
    switch (options->command) {
    case COMMAND_RUN:
        options->file = names[0];
        return 0;
    case COMMAND_MAP:
        *ret_taken = 2;
        options->file = names[0];
        options->inputs = names[1] ? names[1] : "-";
        return 0;
    case COMMAND_TOKEN:
        options->principal = names[0];
        return 0;
    case COMMAND_COMPLETIONS:
        options->shell = names[0];
        return 0;
    case COMMAND_INSTALL:
    case COMMAND_UNINSTALL:
        return options_take_client(options, names[0], err);
    case COMMAND_CHECK_CONFIG:
        options->config_path = names[0] ? names[0] : options->config_path;
        return 0;
    case COMMAND_HELP:
        return options_take_help(options, names[0], err);
    case COMMAND_CONFIG:
        *ret_taken = 2;
        return options_take_config(options, names[0], names[1], err);
    default:
        *ret_taken = 0;
        return 0;
    }
}

/* The operands stay where they are. */
static int options_check_tools(const struct operands *operands, struct error *err)
{
    const char *action = operands->count > 0 ? operands->names[0] : "list";
    const size_t most = strcmp(action, "list") == 0       ? 1
                        : strcmp(action, "describe") == 0 ? 2
                        : strcmp(action, "call") == 0     ? 3
                                                          : 0;

    if (most == 0)
        return error_set(err, ERROR_USAGE,
                         "tools %s: must be tools [list], tools describe SERVER.TOOL or tools call "
                         "SERVER.TOOL [JSON]",
                         action);
    if (most > 1 && operands->count < 2)
        return error_set(err, ERROR_USAGE, "tools %s: SERVER.TOOL is missing", action);
    if (operands->count > most)
        return error_set(err, ERROR_USAGE, "unexpected argument %s", operands->names[most]);
    return 0;
}

static int set_operands(struct options *options, const struct operands *operands, struct error *err)
{
    const char *missing = options_missing_operand(options, operands);
    size_t taken;

    if (missing)
        return error_set(err, ERROR_USAGE, "%s: %s is missing", options->command_name, missing);
    if (options->command == COMMAND_TOOLS && options_check_tools(operands, err) < 0)
        return -1;
    if (options->command == COMMAND_PREPARE || options->command == COMMAND_TOOLS) {
        memcpy(options->names, operands->names, sizeof options->names);
        return 0;
    }
    if (options_take_operands(options, operands->names, &taken, err) < 0)
        return -1;
    if (operands->count > taken)
        return error_set(err, ERROR_USAGE, "unexpected argument %s", operands->names[taken]);
    return 0;
}

/* Refuses options that the command does not accept, such as --json without `run`, and arguments of
 * a script where there is none. */
static int check_belonging(const struct options *options, unsigned used, struct error *err)
{
    for (int i = 0; i < CHOICES; i++)
        if (used & (1u << i) && !(choices[i].commands & FOR(options->command)))
            return error_set(err, ERROR_USAGE, "--%s is not allowed here", choices[i].name);
    if (options->arguments && options->arguments[0] && options->command != COMMAND_RUN)
        return error_set(err, ERROR_USAGE, "-- %s: only `run` has arguments for a script",
                         options->arguments[0]);
    return 0;
}

/* `--help` counts whatever else is wrong, except a command that there is not. */
static bool is_about_the_program(struct options *options, const struct error *err)
{
    if (err->code != ERROR_NONE && !options->command_name)
        return false;
    if (options->wants_help)
        options->command = COMMAND_HELP;
    else if (options->wants_version)
        options->command = COMMAND_VERSION;
    return options->wants_help || options->wants_version;
}

/* `run` alone takes code with -c. */
static int options_check_config_path(const struct options *options, struct error *err)
{
    const char *path = options->config_path;

    if (options->command != COMMAND_MAP || !path || access(path, F_OK) == 0 ||
        !(strchr(path, '\n') || strstr(path, "def ")))
        return 0;
    return error_set(err, ERROR_USAGE, "map: -c is --config, and code is given as FILE");
}

int options_parse(struct options *options, int argc, char **argv, struct error *err)
{
    struct operands operands = {0};
    unsigned used = 0;
    int parsed;

    *options = (struct options){
        .command = COMMAND_SERVE,
        .log_level = LOG_LEVEL_WARNING,
        .program = argc > 0 ? argv[0] : "",
    };
    parsed = parse_words(options, &operands, argc, argv, &used, err);
    if (is_about_the_program(options, err))
        return 0;
    if (parsed < 0 || options_check_config_path(options, err) < 0 ||
        set_operands(options, &operands, err) < 0)
        return -1;
    return check_belonging(options, used, err);
}
