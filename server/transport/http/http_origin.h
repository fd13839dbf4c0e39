/* Which names the server answers to, and which web pages may call it.
 *
 * Any page that a browser on this machine shows can send requests here, and if an attacker points a
 * page's host name here, the browser takes the page for ours. So `Host` must be a name of the
 * server, and `Origin`, which only browsers send, an origin that may call. Both are parsed and
 * compared as a whole. */
#pragma once

#include <stdbool.h>

struct http_names {
    const char *const *hosts;   /* NULL-terminated: "NAME" or "NAME:PORT"; borrowed */
    const char *const *origins; /* NULL-terminated: "https://NAME" or with ":PORT"; borrowed */
};

enum http_host {
    HTTP_HOST_OURS,
    HTTP_HOST_OTHER,
    HTTP_HOST_MALFORMED,
};

/* True when TEXT can be a host, or an origin, in http_names. */
bool http_name_is_host(const char *text);
bool http_name_is_origin(const char *text);

/* Judges the `Host` field HOST. PORT: of the listening socket; 0: a unix socket. Ours are
 * localhost, 127.0.0.1 and [::1], each with PORT, and the hosts of NAMES: a host without a port
 * matches PORT or no port. */
enum http_host http_names_find_host(const struct http_names *names, const char *host,
                                    unsigned port);

/* True when pages of ORIGIN may call: it is listed, or it is the server's own on this machine. */
bool http_names_admit_origin(const struct http_names *names, const char *origin, unsigned port);

/* True when ORIGIN is listed, so that its pages may read the answers, too. */
bool http_names_list_origin(const struct http_names *names, const char *origin);
