/* The tree of a copy that the program of another tree makes of itself (runner/copies.c). It has no
 * runner and no supervisor of its own: the supervisor of the other tree reports its end, and the
 * kernel kills all processes in its cgroup. It ends with the other tree at the latest. */
#include "base/cleanup.h"
#include "environments/process/tree_private.h"

#include <assert.h>
#include <errno.h>
#include <sys/socket.h>
#include <unistd.h>

/* Fails if ORIGIN has died meanwhile, which is reported soon. */
static int tree_check_origin(const struct tree *origin, struct error *err)
{
    if (!origin || origin->state != TREE_RUNNING)
        return error_set(err, ERROR_UNAVAILABLE, "there is no Python to copy");
    if (origin->leaf && origin->layers & LAYER_CGROUP_KILL)
        return 0;
    return error_set(err, ERROR_UNAVAILABLE,
                     "this machine gives a copy no cgroup (v2) of its own, without which its end "
                     "could not be ensured");
}

/* With SO_PASSCRED the kernel names the sender of each message from the gate of the copy. */
static int tree_make_gate(int *ret_program, int *ret_supervisor, struct error *err)
{
    const int on = 1;
    int ends[2];

    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) < 0)
        return error_set_errno(err, errno, "socketpair");
    *ret_program = ends[0];
    *ret_supervisor = ends[1];
    if (setsockopt(ends[1], SOL_SOCKET, SO_PASSCRED, &on, sizeof on) < 0)
        return error_set_errno(err, errno, "SO_PASSCRED");
    return 0;
}

/* Tells the supervisor of ORIGIN that TREE is about to come. */
static int tree_announce_copy(const struct tree *tree, struct tree *origin, int control, int gate,
                              struct error *err)
{
    const struct control_header header = {.type = CONTROL_COPY};
    int descriptors[CONTROL_DESCRIPTORS] = {
        [CONTROL_COPY_CHANNEL] = control, [CONTROL_COPY_GATE] = gate};
    int cgroups = cgroup_leaf_open(tree->leaf, descriptors + CONTROL_COPY_CGROUPS,
                                   CONTROL_DESCRIPTORS - CONTROL_COPY_CGROUPS, err);
    bool was_sent;

    if (cgroups < 0)
        return -1;
    was_sent = channel_send_with(&origin->channel, &header, sizeof header, descriptors,
                                 CONTROL_COPY_CGROUPS + (size_t)cgroups);
    while (cgroups > 0)
        close(descriptors[CONTROL_COPY_CGROUPS + --cgroups]);
    return was_sent ? 0 : error_set(err, ERROR_SYSTEM, "cannot reach the runner of the session");
}

void process_copy_ends_close(struct process_copy_ends *ends)
{
    for (int i = 0; i < PROCESS_STREAMS; i++)
        if (ends->streams[i] >= 0)
            close(STEAL_FD(ends->streams[i]));
    if (ends->gate >= 0)
        close(STEAL_FD(ends->gate));
}

static int tree_prepare_copy(struct tree *tree, struct tree *origin, struct spawned *spawned,
                             struct process_copy_ends *ret, struct error *err)
{
    AUTO_CLOSE int gate = -1;
    struct spawn_ends theirs;
    int announced;

    tree->leaf = cgroup_leaf_new(cgroup_leaf_tree(origin->leaf), err);
    if (!tree->leaf || tree_limit(tree, &origin->limits, err) < 0 ||
        tree_make_gate(&ret->gate, &gate, err) < 0 || spawn_make_ends(spawned, &theirs, err) < 0)
        return -1;
    announced = tree_announce_copy(tree, origin, theirs.control, gate, err);
    if (announced < 0) {
        spawn_close(spawned, &theirs);
        return -1;
    }
    close(theirs.control);
    for (int i = 0; i < PROCESS_STREAMS; i++)
        ret->streams[i] = theirs.streams[i];
    return 0;
}

/* The copy has the layers of ORIGIN, except LAYER_PID_NAMESPACE: it ends by its cgroup. */
static struct tree *tree_make_copy(const struct tree *origin)
{
    const struct tree_plan plan = {
        .wish = origin->wish,
        .layers = origin->layers,
        .cgroups = cgroup_leaf_tree(origin->leaf),
    };
    struct tree *tree = tree_make(origin->host, &plan);

    tree->layers &= ~(unsigned)LAYER_PID_NAMESPACE;
    tree->is_copy = true;
    return tree;
}

int process_start_copy(struct process *process, struct process *copy, struct process_copy_ends *ret,
                       struct error *err)
{
    struct tree *origin = process->tree;
    struct spawned spawned;
    struct tree *tree;

    assert(copy->output && copy->ended);
    *ret = (struct process_copy_ends){.streams = {-1, -1}, .gate = -1};
    if (tree_check_origin(origin, err) < 0)
        return -1;
    tree = tree_make_copy(origin);
    if (tree_prepare_copy(tree, origin, &spawned, ret, err) < 0) {
        process_copy_ends_close(ret);
        tree_unmake(tree);
        return -1;
    }
    tree_begin(tree, &spawned);
    tree_attach(tree, copy, NULL);
    tree_set_state(tree, TREE_RUNNING);
    return 0;
}
