#include "environments/instance.h"

#include "base/cleanup.h"
#include "base/fd.h"
#include "base/memory.h"
#include "base/random.h"
#include "base/untrusted.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#define SERVERS  "servers"
#define IDENTITY "identity"

enum {
    NAME_DIGITS = 32,
    CREATE_TRIES = 3, /* another server may take the file for a dead one's before it is locked */
};

static const char HEX_DIGITS[] = "0123456789abcdef";

struct instance {
    char *name;       /* owned */
    char *state_name; /* owned */
    int servers;      /* owned; the directory */
    int file;         /* owned; locked */
};

static bool instance_is_name(const char *text)
{
    return strlen(text) == NAME_DIGITS && strspn(text, HEX_DIGITS) == NAME_DIGITS;
}

/* True when the open FILE is the one called NAME in PARENT. */
static bool instance_is_at(int parent, const char *name, int file)
{
    struct stat there;
    struct stat ours;

    return fstatat(parent, name, &there, AT_SYMLINK_NOFOLLOW) == 0 && fstat(file, &ours) == 0 &&
           there.st_dev == ours.st_dev && there.st_ino == ours.st_ino;
}

/* The file NAME in PARENT with an exclusive lock, or -1 when another process has the lock. */
static int open_locked(int parent, const char *name, int flags)
{
    struct error ignored = ERROR_INIT;
    AUTO_CLOSE int file = untrusted_open(parent, name, O_RDWR | flags, &ignored);

    if (file < 0 || flock(file, LOCK_EX | LOCK_NB) < 0 || !instance_is_at(parent, name, file))
        return -1;
    return STEAL_FD(file);
}

static int instance_take_name(struct instance *instance, struct error *err)
{
    instance->name = random_digits(NAME_DIGITS);
    for (int i = 0; instance->file < 0 && i < CREATE_TRIES; i++)
        instance->file = open_locked(instance->servers, instance->name, O_CREAT);
    if (instance->file < 0)
        return error_set_errno(err, errno, "cannot make a file for this server");
    return 0;
}

/* Removes the files of servers that are dead. A name without a file is a dead server's. */
static void remove_dead(const struct instance *instance)
{
    int copy = openat(instance->servers, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *servers = copy < 0 ? NULL : fdopendir(copy);
    const struct dirent *entry;

    while (servers && (entry = readdir(servers))) {
        AUTO_CLOSE int file =
            instance_is_name(entry->d_name) ? open_locked(instance->servers, entry->d_name, 0) : -1;

        if (file >= 0)
            (void)unlinkat(instance->servers, entry->d_name, 0);
    }
    if (servers)
        closedir(servers);
}

/* Writes the identity unless there is one; linking a finished file makes that atomic. */
static int write_identity(const char *state, const char *path, struct error *err)
{
    AUTO_FREE char *digits = random_digits(NAME_DIGITS);
    AUTO_FREE char *draft = memory_format("%s/.%s", state, digits);
    AUTO_CLOSE int file = open(draft, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, S_IRUSR | S_IWUSR);
    int ret = 0;

    if (file < 0)
        return error_set_errno(err, errno, "cannot write to %s", state);
    if (fd_write_all(file, digits, NAME_DIGITS, err) < 0)
        ret = error_prefix(err, "cannot write %s", path);
    else if (link(draft, path) < 0 && errno != EEXIST)
        ret = error_set_errno(err, errno, "cannot make %s", path);
    (void)unlink(draft);
    return ret;
}

static int instance_read_identity(struct instance *instance, const char *state, struct error *err)
{
    AUTO_FREE char *path = memory_format("%s/" IDENTITY, state);
    size_t length;

    if (faccessat(AT_FDCWD, path, F_OK, AT_SYMLINK_NOFOLLOW) < 0 &&
        write_identity(state, path, err) < 0)
        return -1;
    instance->state_name = untrusted_read(AT_FDCWD, path, NAME_DIGITS, &length, err);
    if (!instance->state_name)
        return -1;
    if (!instance_is_name(instance->state_name))
        return error_set(err, ERROR_SYSTEM, "%s does not hold %d hexadecimal digits", path,
                         NAME_DIGITS);
    return 0;
}

static int open_servers(struct instance *instance, const char *state, struct error *err)
{
    AUTO_FREE char *path = memory_format("%s/" SERVERS, state);

    if (mkdir(path, S_IRWXU) < 0 && errno != EEXIST)
        return error_set_errno(err, errno, "cannot make %s", path);
    instance->servers = untrusted_open_directory(AT_FDCWD, path, err);
    return instance->servers < 0 ? -1 : 0;
}

struct instance *instance_new(const char *state, struct error *err)
{
    struct instance *instance = NEW(struct instance);

    instance->servers = -1;
    instance->file = -1;
    if (instance_read_identity(instance, state, err) == 0 &&
        open_servers(instance, state, err) == 0 && instance_take_name(instance, err) == 0) {
        remove_dead(instance);
        return instance;
    }
    instance_free(instance);
    return NULL;
}

void instance_free(struct instance *instance)
{
    if (!instance)
        return;
    if (instance->file >= 0) {
        (void)unlinkat(instance->servers, instance->name, 0);
        close(instance->file);
    }
    if (instance->servers >= 0)
        close(instance->servers);
    free(instance->state_name);
    free(instance->name);
    free(instance);
}

const char *instance_name(const struct instance *instance)
{
    return instance->name;
}

const char *instance_state_name(const struct instance *instance)
{
    return instance->state_name;
}

/* flock(2) is per open file: the lock of this server fails here, too. */
bool instance_is_alive(const struct instance *instance, const char *name)
{
    struct error ignored = ERROR_INIT;
    AUTO_CLOSE int file =
        instance_is_name(name) ? untrusted_open(instance->servers, name, O_RDWR, &ignored) : -1;

    return file >= 0 && flock(file, LOCK_EX | LOCK_NB) < 0;
}
