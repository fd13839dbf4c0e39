#include "environments/docker/docker_go.h"

#include "base/fd.h"
#include "base/memory.h"
#include "environments/docker/site.h"
#include "environments/engine/container.h"
#include "environments/engine/exec.h"
#include "environments/engine/go.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static void docker_go_make(struct docker_go *go, const struct docker_site *site,
                           const struct go *what, const char *code, size_t length)
{
    docker_go_deinit(go);
    go->has_line = docker_site_is_remote(site);
    go->length = GO_BYTES + length;
    go->bytes = memory_new(1, go->length);
    go_encode(what, go->bytes);
    if (length > 0)
        memcpy(go->bytes + GO_BYTES, code, length);
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
    docker_go_make(go, site, &what, code, is_remote ? length : 0);
    return 0;
}

void docker_go_refuse(struct docker_go *go, const struct docker_site *site)
{
    const struct go nothing = go_for_nothing();

    docker_go_make(go, site, &nothing, NULL, 0);
}

void docker_go_deinit(struct docker_go *go)
{
    free(go->bytes);
    *go = (struct docker_go){0};
}

/* The buffer has room for one script (PYTHON_CODE_BYTES); a go that does not fit gets no answer. */
void docker_go_tell_container(const struct docker_go *go, struct container *container)
{
    struct error ignored = ERROR_INIT;

    if (go->has_line)
        (void)container_send(container, go->bytes, go->length, &ignored);
    else
        container_send_last(container, go->bytes, go->length);
}

void docker_go_tell_exec(const struct docker_go *go, struct exec *exec)
{
    struct error ignored = ERROR_INIT;

    if (go->has_line)
        (void)exec_send(exec, go->bytes, go->length, &ignored);
    else
        exec_send_last(exec, go->bytes, go->length);
}

void docker_go_dismiss_container(const struct docker_go *go, struct container *container)
{
    struct error ignored = ERROR_INIT;

    if (go->has_line)
        (void)container_send(container, "", 1, &ignored);
}

void docker_go_dismiss_exec(const struct docker_go *go, struct exec *exec)
{
    struct error ignored = ERROR_INIT;

    if (go->has_line)
        (void)exec_send(exec, "", 1, &ignored);
}
