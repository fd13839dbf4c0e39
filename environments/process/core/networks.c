#include "environments/process/core/networks.h"

#include "environments/process/runner/network.h"

#include <fcntl.h>
#include <limits.h>
#include <sched.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum {
    NETWORKS_KEPT = 8,
    NETWORKS_FD = 128,    /* the lowest descriptor of a network: lower numbers have other uses */
    NETWORKS_BYTES = 4096 /* of a file of /proc/self/net */
};

/* Each worker has a number, which is also the age of its network. */
struct network {
    int fd;
    unsigned worker; /* that has it, or had it last; 0: there is no network */
};

/* Supervisors write here, for each network: the number of the worker that has left it, times 2,
 * plus 1 if the worker has used it. */
struct networks_shared {
    atomic_uint left[NETWORKS_KEPT];
};

static struct {
    struct network kept[NETWORKS_KEPT];
    struct networks_shared *shared; /* NULL: none is kept */
    unsigned workers;
    int home;
    int entered; /* the index of this worker's network; -1: none of them */
} networks = {.home = -1, .entered = -1};

/* Opens the network that we are in. -1 with errno set. */
static int networks_open(void)
{
    int fd = open("/proc/self/ns/net", O_RDONLY | O_CLOEXEC);
    int ret = fd < 0 ? -1 : fcntl(fd, F_DUPFD_CLOEXEC, NETWORKS_FD);

    if (fd >= 0)
        close(fd);
    return ret;
}

/* Makes a network and enters it. Its descriptor, or -1 with errno set. */
static int networks_make(void)
{
    if (unshare(CLONE_NEWNET) < 0 || network_prepare() < 0)
        return -1;
    return networks_open();
}

void networks_begin(void)
{
    void *shared;

    networks.home = networks_make();
    if (networks.home < 0 || setns(networks.home, CLONE_NEWNET) < 0)
        return; /* a zygote that could not come back would stay in a worker's network */
    shared = mmap(NULL, sizeof *networks.shared, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS,
                  -1, 0);
    if (shared != MAP_FAILED)
        networks.shared = shared;
}

static unsigned networks_mark(unsigned worker, bool is_used)
{
    return worker * 2 + is_used;
}

/* The index of an unused network. If there is none, the index of the network to replace: a network
 * that its worker has left, an empty place, or the network that was given to a worker first. */
static int networks_choose(bool *ret_is_unused)
{
    unsigned least = UINT_MAX;
    int ret = 0;

    for (int i = 0; i < NETWORKS_KEPT; i++) {
        const unsigned worker = networks.kept[i].worker;
        const unsigned left = atomic_load(&networks.shared->left[i]);
        const unsigned age = left == networks_mark(worker, true) ? 0 : worker;

        *ret_is_unused = worker > 0 && left == networks_mark(worker, false);
        if (*ret_is_unused)
            return i;
        if (age < least) {
            least = age;
            ret = i;
        }
    }
    return ret;
}

/* A worker that is still in it keeps it, alone. */
static void networks_drop(struct network *network)
{
    if (network->worker > 0)
        close(network->fd);
    network->worker = 0;
}

/* If no more can be had, all networks are dropped. */
static bool networks_replace(struct network *network)
{
    networks_drop(network);
    network->fd = networks_make();
    if (network->fd >= 0)
        return true;
    for (int i = 0; i < NETWORKS_KEPT; i++)
        networks_drop(&networks.kept[i]);
    networks_leave();
    return false;
}

bool networks_enter(void)
{
    struct network *network;
    bool is_unused;
    int number;

    networks.entered = -1;
    if (!networks.shared)
        return false;
    number = networks_choose(&is_unused);
    network = &networks.kept[number];
    if (is_unused ? setns(network->fd, CLONE_NEWNET) < 0 : !networks_replace(network))
        return false;
    network->worker = ++networks.workers;
    networks.entered = number;
    return true;
}

/* In the network of a worker the zygote must not import anything. */
void networks_leave(void)
{
    if (setns(networks.home, CLONE_NEWNET) < 0)
        _exit(1);
}

void networks_forget_others(void)
{
    if (!networks.shared)
        return;
    for (int i = 0; i < NETWORKS_KEPT; i++)
        if (networks.kept[i].worker > 0)
            close(networks.kept[i].fd);
    close(networks.home);
}

/* Returns how many bytes were read of the file at PATH; 0: none. */
static size_t networks_read(const char *path, char *text)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t length = fd < 0 ? -1 : read(fd, text, NETWORKS_BYTES - 1);

    if (fd >= 0)
        close(fd);
    text[length < 0 ? 0 : length] = '\0';
    return length < 0 ? 0 : (size_t)length;
}

/* proc_pid_net(5): two lines of heading, and one for each interface, its name and its counters. */
static bool networks_has_passed_nothing(void)
{
    char text[NETWORKS_BYTES];
    size_t length = networks_read("/proc/self/net/dev", text);
    const char *line = strchr(text, '\n');

    line = line ? strchr(line + 1, '\n') : NULL;
    if (!line || length == NETWORKS_BYTES - 1)
        return false;
    for (; (line = strchr(line, ':')); line++)
        if (line[1 + strspn(line + 1, " 0")] != '\n')
            return false;
    return true;
}

/* The kernel counts sockets of all kinds, including sockets that a tree has sent elsewhere. */
static bool networks_has_no_socket(void)
{
    static const char none[] = "sockets: used 0\n";
    char text[NETWORKS_BYTES];

    return networks_read("/proc/self/net/sockstat", text) > 0 &&
           strncmp(text, none, sizeof none - 1) == 0;
}

/* Once there is no socket, nobody can send any more. */
void networks_give_back(void)
{
    const int number = networks.entered;
    bool is_used;

    if (number < 0)
        return;
    is_used = !networks_has_no_socket() || !networks_has_passed_nothing();
    atomic_store(&networks.shared->left[number],
                 networks_mark(networks.kept[number].worker, is_used));
}

void networks_forget(void)
{
    if (networks.shared)
        munmap(networks.shared, sizeof *networks.shared);
    memset(networks.kept, 0, sizeof networks.kept);
    networks.shared = NULL;
    networks.entered = -1;
}
