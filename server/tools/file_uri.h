/* The URIs of files in working directories, pyexecd://HANDLE/PATH: percent-encoded, except for the
 * slashes of the path. */
#pragma once

#include <jansson.h>

#define FILE_URI_TEMPLATE "pyexecd://{working_directory}/{+path}{?offset,length}"

/* The URI of the file at PATH in the directory HANDLE; of the directory, with a slash at the end,
 * if PATH is "". Owned by the caller. */
char *file_uri(const char *handle, const char *path);

/* PATH as the name of a resource, which clients put into text: on one line, whatever a script has
 * called its file. Owned by the caller. */
char *file_uri_name(const char *path);

/* The variables of the template in URI. New reference, or NULL. */
json_t *file_uri_read(const char *uri);
