#include "server/transport/http/http_metadata.h"

#include "server/transport/http/http_answer.h"
#include "server/transport/identity/authority.h"

#include <string.h>

#define PLACE "/.well-known/oauth-protected-resource"

/* The metadata is no secret: every page may read it, whatever path of the server it appends to
 * PLACE. */
#define HTTP_METADATA_FIELDS                                                                       \
    "Access-Control-Allow-Origin: *\r\n"                                                           \
    "Cache-Control: max-age=300\r\n"

static bool has_place(const char *path)
{
    const size_t length = sizeof PLACE - 1;

    return strncmp(path, PLACE, length) == 0 && (path[length] == '\0' || path[length] == '/');
}

bool http_metadata_answer(const struct authority *authority, struct http_exchange *exchange)
{
    const char *metadata = authority ? authority_metadata(authority) : NULL;

    if (!metadata || !has_place(exchange->head.path))
        return false;
    if (strcmp(exchange->head.method, "GET") == 0)
        http_respond(exchange, 200, HTTP_METADATA_FIELDS, "application/json", metadata,
                     strlen(metadata));
    else if (strcmp(exchange->head.method, "OPTIONS") == 0)
        http_respond(exchange, 204,
                     HTTP_METADATA_FIELDS "Access-Control-Allow-Methods: GET\r\n"
                                          "Access-Control-Allow-Headers: *\r\n",
                     NULL, NULL, 0);
    else
        http_refuse(exchange, 405, "Allow: GET, OPTIONS\r\n", HTTP_CODE_BAD_REQUEST,
                    "Method Not Allowed");
    return true;
}
