#include "environments/engine/engine_error.h"

#include "base/cleanup.h"
#include "base/json.h"
#include "base/text.h"
#include "base/utf8.h"

#include <errno.h>
#include <grp.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

enum {
    STATUS_SERVER_ERROR = 500,
    QUOTED_BYTES = 1024, /* of an engine's message */
    GROUP_BYTES = 64,
};

/* The name of group GID from /etc/group, where it is on machines that run an engine; else its
 * number. No other source is asked: it could take long to answer. */
static void name_group(gid_t gid, char name[static GROUP_BYTES])
{
    FILE *file = fopen("/etc/group", "re");
    struct group *group = NULL;

    snprintf(name, GROUP_BYTES, "%u", (unsigned)gid);
    if (!file)
        return;
    while ((group = fgetgrent(file)))
        if (group->gr_gid == gid)
            snprintf(name, GROUP_BYTES, "\"%s\"", group->gr_name);
    fclose(file);
}

static int permission_error(struct engine *engine, struct error *err)
{
    const char *path = engine_socket(engine);
    struct stat about;
    char group[GROUP_BYTES];

    if (!path || stat(path, &about) < 0)
        return error_set(err, ERROR_UNAVAILABLE, "no permission to use the Docker engine at %s",
                         engine_name(engine));
    name_group(about.st_gid, group);
    return error_set(err, ERROR_UNAVAILABLE,
                     "no permission to use the Docker engine at %s: the server's user must be in "
                     "the group %s, or use an engine of its own (rootless)",
                     engine_name(engine), group);
}

static int connection_error(struct engine *engine, const struct transfer *transfer,
                            struct error *err)
{
    long number = 0;

    curl_easy_getinfo(transfer->easy, CURLINFO_OS_ERRNO, &number);
    engine_forget_version(engine);
    if (number == EACCES || number == EPERM)
        return permission_error(engine, err);
    return error_set(err, ERROR_UNAVAILABLE,
                     "no Docker engine at %s: %s; start it, or name another in host",
                     engine_name(engine), number ? strerror((int)number) : transfer->failure);
}

int engine_error_from_transfer(struct engine *engine, const struct transfer *transfer,
                               CURLcode code, struct error *err)
{
    switch ((int)code) {
    case CURLE_COULDNT_CONNECT:
    case CURLE_COULDNT_RESOLVE_HOST:
        return connection_error(engine, transfer, err);
    case CURLE_OPERATION_TIMEDOUT:
        return error_set(err, ERROR_TIMEOUT, "the Docker engine at %s did not answer in time",
                         engine_name(engine));
    case CURLE_GOT_NOTHING:
    case CURLE_PARTIAL_FILE:
    case CURLE_RECV_ERROR:
    case CURLE_SEND_ERROR:
        return error_set(err, ERROR_UNAVAILABLE, "the Docker engine at %s ended the connection",
                         engine_name(engine));
    default:
        return error_set(err, ERROR_UNAVAILABLE, "cannot talk to the Docker engine at %s: %s",
                         engine_name(engine),
                         transfer->failure[0] ? transfer->failure : curl_easy_strerror(code));
    }
}

int engine_error_from_status(int status, const char *body, size_t length, struct error *err)
{
    AUTO_JSON json_t *answer = length ? json_loadb(body, length, 0, NULL) : NULL;
    const char *message = answer ? json_object_get_string(answer, "message") : NULL;
    const char *verb = status >= STATUS_SERVER_ERROR ? "failed" : "refused";
    AUTO_FREE char *text = NULL;
    size_t repaired;

    if (!message) {
        text = utf8_repair(text_or_none(body), length < QUOTED_BYTES ? length : QUOTED_BYTES,
                           &repaired);
        text[strcspn(text, "\r\n")] = '\0';
        message = text;
    }
    if (!message[0])
        return error_set(err, ERROR_UNAVAILABLE, "the Docker engine %s with status %d", verb,
                         status);
    return error_set(err, ERROR_UNAVAILABLE, "the Docker engine %s: %.*s", verb, QUOTED_BYTES,
                     message);
}
