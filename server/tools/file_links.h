/* The URIs of the files that a run has created or changed.
 *
 * The structured form names them. Links (content of type resource_link, behind the text) are added
 * only if the client asks for structured results: agents turn each link into a line or an object
 * for their model, which has read the names in the text already, and AG2 1.2 passes it to the
 * model's provider as an address to fetch, which ends the conversation. */
#pragma once

#include <jansson.h>

struct invocation;

/* Gives each of FILES, an array, its `uri` in the directory HANDLE. A name that is not UTF-8 has
 * none. HANDLE may be NULL: then no file has a `uri`. */
void file_links_name(const json_t *files, const char *handle);

/* Appends links to the first of FILES to the content of INVOCATION's result, unless its
 * client does not know links. */
void file_links_add(struct invocation *invocation, const json_t *files);
