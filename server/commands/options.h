/* The command line. */
#pragma once

#include "base/error.h"
#include "base/log.h"
#include "server/tools/result_form.h"

#include <stdbool.h>

enum command {
    COMMAND_SERVE,
    COMMAND_RUN,
    COMMAND_PREPARE,
    COMMAND_DOCTOR,
    COMMAND_SCHEMA,
    COMMAND_TOKEN,
    COMMAND_CHECK_CONFIG,
    COMMAND_HELP,
    COMMAND_VERSION,
};

enum { OPTIONS_ADDRESSES = 16 };

/* Strings are borrowed from argv. */
struct options {
    enum command command;
    enum log_level log_level;
    const char *config_path;                      /* --config, or NULL */
    const char *addresses[OPTIONS_ADDRESSES + 1]; /* --listen; NULL-terminated */
    enum result_form results;                     /* --results, or unsaid */
    const char *file;                             /* run: the script, "-" for stdin */
    const char *environment;                      /* run: --env, or NULL */
    char **names;                                 /* prepare: environments; NULL-terminated */
    double timeout;                               /* run: --timeout, or 0 */
    bool json;                                    /* run, prepare, token: --json */
    const char *principal;                        /* token: whose it is to be */
    const char *provider;                         /* schema: --for, or "mcp" */
};

/* -1 with ERROR_USAGE. */
int options_parse(struct options *options, int argc, char **argv, struct error *err);

/* What --help prints; static storage. */
const char *options_help(void);
