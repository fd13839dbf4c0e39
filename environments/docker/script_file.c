#include "environments/docker/script_file.h"

#include "base/cleanup.h"
#include "base/fd.h"
#include "base/memory.h"
#include "base/untrusted.h"
#include "environments/docker/site.h"
#include "environments/engine/init_protocol.h"
#include "environments/workplace/access_list.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

int docker_script_file_new(const char *path, const char *code, size_t length, const uid_t *reader,
                           struct error *err)
{
    AUTO_CLOSE int fd =
        untrusted_open(AT_FDCWD, path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, err);

    if (fd < 0) {
        error_prefix(err, "cannot write the script");
        return -1;
    }
    if (fd_write_all(fd, code, length, err) < 0)
        error_prefix(err, "cannot write the script");
    else if (!reader || access_list_open_file(path, *reader, err) == 0)
        return STEAL_FD(fd);
    (void)unlink(path);
    return -1;
}

static char *docker_go_put_frame(char *end, enum init_frame type, const char *data, size_t length)
{
    wire_put_head(end, type, length);
    memcpy(end + WIRE_HEAD_BYTES, data, length);
    return end + WIRE_HEAD_BYTES + length;
}

/* LENGTH bytes of CODE go with it. */
static void docker_go_make(struct docker_go *go, const struct go *what, const char *code,
                           size_t length)
{
    const size_t pieces = (length + INIT_PIECE_BYTES - 1) / INIT_PIECE_BYTES;
    char bytes[GO_BYTES];
    char *end;

    docker_go_deinit(go);
    go->length = WIRE_HEAD_BYTES + GO_BYTES + pieces * WIRE_HEAD_BYTES + length;
    go->bytes = memory_new(1, go->length);
    go_encode(what, bytes);
    end = docker_go_put_frame(go->bytes, INIT_GO, bytes, GO_BYTES);
    for (size_t done = 0; done < length; done += INIT_PIECE_BYTES)
        end = docker_go_put_frame(end, INIT_CODE, code + done,
                                  size_min(length - done, INIT_PIECE_BYTES));
}

int docker_go_put(struct docker_go *go, const struct docker_site *site, int file, const char *code,
                  size_t length, struct error *err)
{
    const bool is_remote = docker_site_is_remote(site);
    struct stat status;
    struct go what;

    if (fd_write_all(file, code, length, err) < 0)
        return error_prefix(err, "cannot write the script of the container");
    /* On a network file system other machines see only data that its server has. */
    if ((is_remote && fdatasync(file) < 0) || fstat(file, &status) < 0)
        return error_set_errno(err, errno, "cannot look at the script of the container");
    what = is_remote ? go_with_code(length) : go_for(&status);
    docker_go_make(go, &what, code, is_remote ? length : 0);
    return 0;
}

void docker_go_deinit(struct docker_go *go)
{
    free(go->bytes);
    *go = (struct docker_go){0};
}
