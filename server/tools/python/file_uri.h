/* The URIs of files in working directories, pyexecd://HANDLE/PATH: percent-encoded, except for the
 * slashes of the path. The structured form of a result names the files of its run by them.
 *
 * Links (content of type resource_link, behind the text) are added only if the client asks for
 * structured results: agents turn each link into a line or an object for their model, which has
 * read the names in the text already, and AG2 1.2 passes it to the model's provider as an address
 * to fetch, which ends the conversation. */
#pragma once

#include <jansson.h>

struct invocation;

#define FILE_URI_TEMPLATE "pyexecd://{working_directory}/{+path}{?offset,length}"

/* The URI of the file at PATH in the directory HANDLE; of the directory, with a slash at the end,
 * if PATH is "". Owned by the caller. */
char *file_uri(const char *handle, const char *path);

/* PATH as the name of a resource, which clients put into text: on one line, whatever a script has
 * called its file. Owned by the caller. */
char *file_uri_name(const char *path);

/* The variables of the template in URI. New reference, or NULL. */
json_t *file_uri_read(const char *uri);

/* Gives each of FILES, an array, its `uri` in the directory HANDLE. A name that is not UTF-8 has
 * none. HANDLE may be NULL: then no file has a `uri`. */
void file_links_name(const json_t *files, const char *handle);

/* Appends links to the first of FILES to the content of INVOCATION's result, unless its
 * client does not know links. */
void file_links_add(struct invocation *invocation, const json_t *files);
