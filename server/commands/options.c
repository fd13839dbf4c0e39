#include "server/commands/options.h"

#include "base/memory.h"

#include <getopt.h>
#include <math.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

/* The commands that accept an option, as a set of bits. */
#define FOR(COMMAND) (1u << (COMMAND))
#define FOR_ALL      (~0u)

enum { LONG_OPTION_BASE = 256 }; /* above every letter that getopt may return */

static const struct command_name {
    const char *name;
    enum command command;
    const char *operand; /* what must follow, or NULL */
} command_names[] = {
    {"run", COMMAND_RUN, "FILE (- is standard input)"},
    {"prepare", COMMAND_PREPARE, NULL},
    {"doctor", COMMAND_DOCTOR, NULL},
    {"schema", COMMAND_SCHEMA, NULL},
    {"token", COMMAND_TOKEN, "NAME"},
};

static int set_check_config(struct options *options, const char *value, struct error *err)
{
    (void)value;
    (void)err;
    options->command = COMMAND_CHECK_CONFIG;
    return 0;
}

static int set_help(struct options *options, const char *value, struct error *err)
{
    (void)value;
    (void)err;
    options->command = COMMAND_HELP;
    return 0;
}

static int set_version(struct options *options, const char *value, struct error *err)
{
    (void)value;
    (void)err;
    options->command = COMMAND_VERSION;
    return 0;
}

static int set_config(struct options *options, const char *value, struct error *err)
{
    (void)err;
    options->config_path = value;
    return 0;
}

static int set_environment(struct options *options, const char *value, struct error *err)
{
    (void)err;
    options->environment = value;
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

static const struct choice {
    const char *name;
    char letter; /* or 0 */
    int has_argument;
    unsigned commands;
    int (*set)(struct options *options, const char *value, struct error *err);
} choices[] = {
    {"check-config", 0, no_argument, FOR(COMMAND_CHECK_CONFIG), set_check_config},
    {"config", 'c', required_argument, FOR_ALL, set_config},
    {"env", 'e', required_argument, FOR(COMMAND_RUN), set_environment},
    {"for", 0, required_argument, FOR(COMMAND_SCHEMA), set_provider},
    {"help", 'h', no_argument, FOR_ALL, set_help},
    {"json", 'j', no_argument, FOR(COMMAND_RUN) | FOR(COMMAND_PREPARE) | FOR(COMMAND_TOKEN),
     set_json},
    {"listen", 'l', required_argument, FOR(COMMAND_SERVE), add_address},
    {"log-level", 0, required_argument, FOR_ALL, set_log_level},
    {"results", 0, required_argument, FOR(COMMAND_SERVE) | FOR(COMMAND_SCHEMA), set_results},
    {"timeout", 't', required_argument, FOR(COMMAND_RUN), set_timeout},
    {"version", 'V', no_argument, FOR_ALL, set_version},
};

enum { CHOICES = ARRAY_SIZE(choices) };

const char *options_help(void)
{
    return "Usage: pyexecd [OPTION]...                      serve (by default stdin and stdout)\n"
           "       pyexecd run [OPTION]... FILE             run a script; - is standard input\n"
           "       pyexecd prepare [OPTION]... [NAME]...    prepare environments for calls\n"
           "       pyexecd doctor [OPTION]...               show what this machine provides\n"
           "       pyexecd schema [--for PROVIDER]          print the tool for function calling\n"
           "       pyexecd token [--json] NAME              make a token for a client\n"
           "       pyexecd --check-config [OPTION]...       check the configuration\n"
           "\n"
           "Runs the Python that language models write.\n"
           "\n"
           "  -c, --config FILE        the configuration, instead of $PYEXECD_CONFIG,\n"
           "                           ~/.config/pyexecd/config.yaml, /etc/pyexecd/config.yaml\n"
           "  -l, --listen ADDRESS     stdio, unix:PATH, tcp:HOST:PORT, systemd or\n"
           "                           http[s]://HOST:PORT/mcp, instead of the configured\n"
           "                           addresses; may be repeated\n"
           "      --log-level LEVEL    error, warning (default), info or debug\n"
           "      --results FORM       text (default) or structured: what clients get\n"
           "  -e, --env NAME           run: the environment\n"
           "  -t, --timeout SECONDS    run: the time limit\n"
           "  -j, --json               run, prepare, token: print the result as JSON\n"
           "      --for PROVIDER       schema: mcp (default), openai, openai-responses, anthropic\n"
           "                           or gemini\n"
           "  -h, --help               print this and exit\n"
           "  -V, --version            print the version and exit\n";
}

/* The tables that getopt wants, from ours. LONG_OPTIONS has CHOICES + 1 zeroed entries, LETTERS
 * room for a colon, two characters per choice and a NUL. */
static void describe_choices(struct option *long_options, char *letters)
{
    *letters++ = ':'; /* lets getopt distinguish a missing argument from an unknown option */
    for (int i = 0; i < CHOICES; i++) {
        long_options[i].name = choices[i].name;
        long_options[i].has_arg = choices[i].has_argument;
        long_options[i].val = LONG_OPTION_BASE + i;
        if (!choices[i].letter)
            continue;
        *letters++ = choices[i].letter;
        if (choices[i].has_argument == required_argument)
            *letters++ = ':';
    }
    *letters = '\0';
}

static int find_choice(int found)
{
    if (found >= LONG_OPTION_BASE)
        return found - LONG_OPTION_BASE;
    for (int i = 0; i < CHOICES; i++)
        if (choices[i].letter == found)
            return i;
    return -1;
}

/* Reads the options and sets a bit in *RET_USED for each. Operands move to the end. */
static int parse_choices(struct options *options, int argc, char **argv, unsigned *ret_used,
                         struct error *err)
{
    struct option long_options[CHOICES + 1] = {{0}};
    char letters[2 * CHOICES + 2];
    int found;

    describe_choices(long_options, letters);
    optind = 0; /* glibc: start anew */
    opterr = 0;
    while ((found = getopt_long(argc, argv, letters, long_options, NULL)) != -1) {
        int choice = find_choice(found);

        if (found == ':')
            return error_set(err, ERROR_USAGE, "%s needs an argument", argv[optind - 1]);
        if (choice < 0)
            return error_set(err, ERROR_USAGE, "unknown option %s", argv[optind - 1]);
        *ret_used |= 1u << choice;
        if (choices[choice].set(options, optarg, err) < 0)
            return -1;
    }
    return 0;
}

static int set_command(struct options *options, const struct command_name *name, char **operands,
                       struct error *err)
{
    options->command = name->command;
    if (name->operand && !operands[0])
        return error_set(err, ERROR_USAGE, "%s: %s is missing", name->name, name->operand);
    if (name->operand)
        *(name->command == COMMAND_TOKEN ? &options->principal : &options->file) = *operands++;
    if (name->command == COMMAND_PREPARE) {
        options->names = operands;
        return 0;
    }
    if (operands[0])
        return error_set(err, ERROR_USAGE, "%s: unexpected argument %s", name->name, operands[0]);
    return 0;
}

static int parse_command(struct options *options, char **operands, struct error *err)
{
    if (!operands[0])
        return 0;
    for (size_t i = 0; i < ARRAY_SIZE(command_names); i++)
        if (strcmp(command_names[i].name, operands[0]) == 0)
            return set_command(options, &command_names[i], operands + 1, err);
    return error_set(err, ERROR_USAGE, "unknown command %s", operands[0]);
}

/* Refuses options that the command does not accept, such as --json without `run`. */
static int check_belonging(const struct options *options, unsigned used, struct error *err)
{
    for (int i = 0; i < CHOICES; i++)
        if (used & (1u << i) && !(choices[i].commands & FOR(options->command)))
            return error_set(err, ERROR_USAGE, "--%s is not allowed here", choices[i].name);
    return 0;
}

int options_parse(struct options *options, int argc, char **argv, struct error *err)
{
    unsigned used = 0;

    *options = (struct options){
        .command = COMMAND_SERVE,
        .log_level = LOG_LEVEL_WARNING,
        .provider = "mcp",
    };
    if (parse_choices(options, argc, argv, &used, err) < 0)
        return -1;
    if (options->command == COMMAND_HELP || options->command == COMMAND_VERSION)
        return 0;
    if (parse_command(options, argv + optind, err) < 0)
        return -1;
    return check_belonging(options, used, err);
}
