/* The words of a program that is a server of tools. It begins in an empty folder, and so relative
 * paths are made absolute: they begin in the folder of the configuration. */
#pragma once

#include "base/error.h"

#include <jansson.h>

struct secrets;

/* The words of COMMAND, an array of strings, with `${NAME}` replaced. These begin in FOLDER: the
 * program, if it has a slash; "." and ".."; words that begin with "./" or "../", also behind the
 * "=" of an option. SECRETS gets the values. For memory_free_strings; NULL with ERROR_CONFIG. */
char **server_command_read(const json_t *command, const char *folder, struct secrets *secrets,
                           struct error *err);
