#include "environments/process/core/zygote.h"

#include "base/descriptors.h"
#include "base/starter/starter.h"
#include "environments/process/core/networks.h"
#include "environments/process/core/stand_in.h"
#include "environments/process/core/worker.h"
#include "environments/process/policy.h"

#include <dirent.h>
#include <fcntl.h>
#include <poll.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
    ZYGOTE_KEPT = 64,
    ZYGOTE_IDLE_MILLISECONDS = 50,
    ZYGOTE_COPIES_BEFORE_LEARNING = 16, /* under a load that does not end */
};

static int zygote_kept[ZYGOTE_KEPT];
static int zygote_copies; /* since the zygote has last learnt something */

static int zygote_compare(const void *one, const void *other)
{
    return *(const int *)one - *(const int *)other;
}

static bool zygote_is_ours(int fd)
{
    return fd == CONTROL_FD || (fd >= ZYGOTE_ORDERS_FD && fd <= ZYGOTE_STAND_IN_FD);
}

/* Lists the open descriptors that are not ours, and the gate of workers. False when a copy cannot
 * have so many. */
static bool zygote_list_descriptors(struct worker_job *job)
{
    DIR *list = opendir("/proc/self/fd");
    const struct dirent *entry;

    job->kept = zygote_kept;
    zygote_kept[job->count++] = STARTER_GATE;
    while (list && (entry = readdir(list))) {
        int fd = (int)strtol(entry->d_name, NULL, 10);

        if (entry->d_name[0] == '.' || fd == dirfd(list) || zygote_is_ours(fd))
            continue;
        if (job->count == ZYGOTE_KEPT)
            return false;
        zygote_kept[job->count++] = fd;
    }
    if (!list)
        return false;
    closedir(list);
    qsort(zygote_kept, job->count, sizeof *zygote_kept, zygote_compare);
    return true;
}

/* Reads the file of the job, which stays in memory. False when there is no such file. */
static bool zygote_read_job(struct worker_job *job)
{
    const struct zygote_job *head;
    struct stat status;
    char *bytes;

    if (fstat(ZYGOTE_JOB_FD, &status) < 0 ||
        status.st_size < (off_t)(sizeof *head + sizeof(struct control_run)))
        return false;
    bytes = malloc((size_t)status.st_size);
    if (!bytes || pread(ZYGOTE_JOB_FD, bytes, (size_t)status.st_size, 0) != status.st_size)
        return false;
    head = (const struct zygote_job *)bytes;
    job->layers = head->layers;
    job->payload = bytes + sizeof *head;
    job->length = (size_t)status.st_size - sizeof *head;
    return true;
}

/* The work of a zygote and of its stand-in. */
struct zygote_service {
    const struct zygote_hooks *hooks;
    const struct worker_job *job;
};

/* An order: the name of a module, or descriptors. */
struct zygote_order_message {
    char name[ZYGOTE_TEXT_BYTES];
    int descriptors[ZYGOTE_DESCRIPTORS];
    size_t count;
};

/* The next order. False at the end. */
static bool zygote_receive(struct zygote_order_message *order)
{
    ssize_t length = descriptors_receive(ZYGOTE_ORDERS_FD, order->name, sizeof order->name - 1, 0,
                                         order->descriptors, ZYGOTE_DESCRIPTORS, &order->count);

    if (length <= 0)
        return false;
    order->name[length] = '\0';
    return true;
}

static bool zygote_answer(enum zygote_answer answer, const char *why)
{
    char text[1 + ZYGOTE_TEXT_BYTES];
    int length = snprintf(text, sizeof text, "%c%s", (char)answer, why);

    return write(ZYGOTE_ORDERS_FD, text, (size_t)length) == length;
}

static bool zygote_copy(const struct zygote_hooks *hooks, const struct worker_job *job,
                        const struct zygote_order_message *order)
{
    int made;

    hooks->before();
    made = worker_make(job, order->descriptors, order->count);
    hooks->after();
    for (size_t i = 0; i < order->count; i++)
        close(order->descriptors[i]);
    return made == 0;
}

/* In the stand-in: serves until the zygote is back or gone. Its workers make networks of their own.
 */
static void zygote_stand_in(const void *data)
{
    const struct zygote_service *service = data;
    struct zygote_order_message order;

    networks_forget_others();
    networks_forget();
    service->hooks->after();
    while (stand_in_wait(ZYGOTE_ORDERS_FD) && zygote_receive(&order) &&
           order.count > ZYGOTE_ORDER_ERRORS && zygote_copy(service->hooks, service->job, &order))
        ;
}

/* Tells the server that it takes orders. */
static bool zygote_announce(const struct worker_job *job)
{
    if (!zygote_answer(ZYGOTE_WAITS, ""))
        return false;
    if (job->layers & LAYER_NETWORK)
        networks_begin();
    return true;
}

/* A spoilt zygote ends without a word to its stand-in. */
static bool zygote_import(const struct zygote_service *service, const char *name)
{
    char why[ZYGOTE_TEXT_BYTES] = "";
    enum zygote_answer answer = service->hooks->load(name, why);

    if (answer != ZYGOTE_SPOILT)
        stand_in_end();
    return zygote_answer(answer, why) && answer != ZYGOTE_SPOILT;
}

/* False when this zygote cannot go on. The stand-in comes back from here as the next zygote. */
static bool zygote_load(const struct zygote_service *service, const char *name)
{
    enum stand_in_result result;

    service->hooks->before();
    result = stand_in_begin(zygote_stand_in, service);
    if (result == STAND_IN_SUCCEEDS)
        return service->hooks->succeed() && zygote_announce(service->job);
    service->hooks->after();
    if (result == STAND_IN_NONE)
        return zygote_answer(ZYGOTE_NOT_LOADED, "there is no room for a stand-in");
    return zygote_import(service, name);
}

void zygote_refuse(const char *why)
{
    (void)zygote_answer(ZYGOTE_SPOILT, why);
    _exit(1);
}

bool zygote_is_here(void)
{
    struct stat status;

    return fstat(ZYGOTE_ORDERS_FD, &status) == 0 && S_ISSOCK(status.st_mode);
}

/* Learns while there is no order, or after some copies that it would have made quicker. True when
 * nothing is left to learn. */
static bool zygote_learn(const struct zygote_hooks *hooks)
{
    struct pollfd orders = {.fd = ZYGOTE_ORDERS_FD, .events = POLLIN};

    while (zygote_copies >= ZYGOTE_COPIES_BEFORE_LEARNING ||
           poll(&orders, 1, ZYGOTE_IDLE_MILLISECONDS) == 0) {
        if (hooks->learn())
            return true;
        zygote_copies = 0;
    }
    return false;
}

void zygote_serve(const struct zygote_hooks *hooks)
{
    struct worker_job job = {.prepare = hooks->prepare, .begin = hooks->begin};
    const struct zygote_service service = {.hooks = hooks, .job = &job};
    struct zygote_order_message order;
    bool has_learnt = false; /* since the last module */
    bool goes_on = zygote_read_job(&job) && zygote_list_descriptors(&job) && zygote_announce(&job);

    while (goes_on && zygote_receive(&order)) {
        const bool is_copy = order.count > ZYGOTE_ORDER_ERRORS;

        goes_on = is_copy ? zygote_copy(hooks, &job, &order) : zygote_load(&service, order.name);
        zygote_copies = is_copy ? zygote_copies + 1 : 0;
        has_learnt = goes_on && ((has_learnt && is_copy) || zygote_learn(hooks));
    }
    _exit(!goes_on);
}
