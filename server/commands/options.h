/* The command line. */
#pragma once

#include "base/error.h"
#include "base/log.h"
#include "server/tools/invocation.h"

#include <stdbool.h>

enum command {
    COMMAND_SERVE,
    COMMAND_NODE,
    COMMAND_RUN,
    COMMAND_MAP,
    COMMAND_CALL,
    COMMAND_PREPARE,
    COMMAND_DOCTOR,
    COMMAND_SCHEMA,
    COMMAND_TOKEN,
    COMMAND_INSTALL,
    COMMAND_UNINSTALL,
    COMMAND_CHECK_CONFIG,
    COMMAND_CONFIG,
    COMMAND_TOOLS,
    COMMAND_COMPLETIONS,
    COMMAND_HELP,
    COMMAND_VERSION,
};

enum {
    OPTIONS_ADDRESSES = 16,
    OPTIONS_PACKAGES = 32,
    OPTIONS_OPERANDS = 64,
    OPTIONS_ADDRESS_BYTES = 64,
};

/* Strings are borrowed from argv. */
struct options {
    enum command command;
    const char *program;      /* argv[0] */
    const char *command_name; /* as it was written, or NULL; static storage */
    enum log_level log_level;
    const char *config_path;                      /* --config, or NULL */
    const char *addresses[OPTIONS_ADDRESSES + 1]; /* --listen; NULL-terminated */
    char http_address[OPTIONS_ADDRESS_BYTES];     /* serve: of --http, if it is given */
    const char *token_file;                       /* serve: --token-file; token: --add; or NULL */
    enum result_form results;                     /* --results, or unsaid */
    const char *file;                             /* run: the script, "-" for stdin, or NULL: ...;
                                                     map: the script */
    const char *code;                             /* ... run: -c */
    char **arguments;                             /* run: of the script, NULL-terminated; or NULL */
    const char *inputs;                           /* map: the file of the inputs, "-" for stdin */
    unsigned parallel;                            /* map: --parallel, or 0 */
    const char *environment;                      /* run, map: --env, or NULL */
    const char *packages[OPTIONS_PACKAGES + 1];   /* run, map: --with; NULL-terminated */
    const char *python;                           /* run, map: --python, or NULL */
    bool require_sandbox;                         /* run, map: --require sandbox */
    const char *working_directory;                /* run, map, call: -w, or NULL */
    char *names[OPTIONS_OPERANDS + 1];            /* prepare: environments; tools: its operands;
                                                     NULL-terminated */
    double timeout;                               /* run, map: --timeout, or 0 */
    bool json;                                    /* run, prepare, token: --json */
    const char *principal;                        /* token: the name of its principal */
    const char *provider;                         /* schema, call: --provider, or NULL */
    const char *shell;                            /* completions: its name */
    const char *client;                           /* install, uninstall: --client, or NULL */
    const char *url;                              /* install: of --http, or NULL */
    const char *project;                          /* serve, install: --project, or NULL */
    bool dry_run;                                 /* install, uninstall: --dry-run */
    bool allow;                                   /* install: --allow */
    bool check;                                   /* install: --check */
    bool wants_help;                              /* --help: of the command, if there is one */
    bool wants_version;
};

/* -1 with ERROR_USAGE; then the command is known all the same, if the line names one. */
int options_parse(struct options *options, int argc, char **argv, struct error *err);
