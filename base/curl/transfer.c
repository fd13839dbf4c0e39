#include "base/curl/transfer.h"

#include "base/memory.h"

#include <stdlib.h>

enum { IDLE_CONNECTIONS = 8 };

struct transfers {
    struct ev_loop *loop; /* borrowed */
    CURLM *multi;         /* owned */
    struct list marked;   /* of struct transfer: borrowed */
    ev_timer timer;
};

/* A descriptor that libcurl waits for. */
struct transfer_socket {
    ev_io watcher;
    struct transfers *transfers; /* borrowed */
};

static void transfer_tell_progress(struct transfers *transfers)
{
    while (!list_is_empty(&transfers->marked)) {
        struct transfer *transfer = CONTAINER_OF(transfers->marked.next, struct transfer, link);

        list_remove(&transfer->link);
        transfer->progress(transfer);
    }
}

/* Called after each action, when libcurl may be called again: reports the results of the action. */
static void transfer_reap(struct transfers *transfers)
{
    CURLMsg *message;
    int left;

    transfer_tell_progress(transfers);
    while ((message = curl_multi_info_read(transfers->multi, &left))) {
        CURLcode code = message->data.result;
        char *transfer = NULL;

        curl_easy_getinfo(message->easy_handle, CURLINFO_PRIVATE, &transfer);
        ((struct transfer *)(void *)transfer)->over((struct transfer *)(void *)transfer, code);
    }
}

static void transfer_act(struct transfers *transfers, curl_socket_t fd, int events)
{
    int running;

    curl_multi_socket_action(transfers->multi, fd, events, &running);
    transfer_reap(transfers);
}

static void transfer_on_readiness(struct ev_loop *loop, ev_io *watcher, int events)
{
    struct transfer_socket *socket = CONTAINER_OF(watcher, struct transfer_socket, watcher);

    (void)loop;
    transfer_act(socket->transfers, watcher->fd,
                 (events & EV_READ ? CURL_CSELECT_IN : 0) |
                     (events & EV_WRITE ? CURL_CSELECT_OUT : 0) |
                     (events & EV_ERROR ? CURL_CSELECT_ERR : 0));
}

static void transfer_on_timer(struct ev_loop *loop, ev_timer *timer, int events)
{
    (void)loop;
    (void)events;
    transfer_act(CONTAINER_OF(timer, struct transfers, timer), CURL_SOCKET_TIMEOUT, 0);
}

static void socket_free(struct transfer_socket *socket)
{
    ev_io_stop(socket->transfers->loop, &socket->watcher);
    free(socket);
}

static struct transfer_socket *socket_new(struct transfers *transfers, curl_socket_t fd)
{
    struct transfer_socket *socket = NEW(struct transfer_socket);

    socket->transfers = transfers;
    ev_io_init(&socket->watcher, transfer_on_readiness, fd, 0);
    curl_multi_assign(transfers->multi, fd, socket);
    return socket;
}

/* libcurl now waits for the event WHAT on FD; the event may change at any time. */
static int transfer_on_socket(CURL *easy, curl_socket_t fd, int what, void *data, void *socket_data)
{
    struct transfers *transfers = data;
    struct transfer_socket *socket = socket_data;

    (void)easy;
    if (what == CURL_POLL_REMOVE) {
        if (socket)
            socket_free(socket);
        return 0;
    }
    if (!socket)
        socket = socket_new(transfers, fd);
    ev_io_stop(transfers->loop, &socket->watcher);
    ev_io_set(&socket->watcher, fd,
              (what & CURL_POLL_IN ? EV_READ : 0) | (what & CURL_POLL_OUT ? EV_WRITE : 0));
    ev_io_start(transfers->loop, &socket->watcher);
    return 0;
}

/* MILLISECONDS is -1: no timer is needed. */
static int transfer_on_timeout(CURLM *multi, long milliseconds, void *data)
{
    struct transfers *transfers = data;

    (void)multi;
    ev_timer_stop(transfers->loop, &transfers->timer);
    if (milliseconds < 0)
        return 0;
    ev_now_update(transfers->loop);
    ev_timer_set(&transfers->timer, (double)milliseconds / 1000, 0.);
    ev_timer_start(transfers->loop, &transfers->timer);
    return 0;
}

struct transfers *transfers_new(struct ev_loop *loop)
{
    struct transfers *transfers = NEW(struct transfers);

    curl_global_init(CURL_GLOBAL_DEFAULT);
    transfers->loop = loop;
    list_init(&transfers->marked);
    ev_init(&transfers->timer, transfer_on_timer);
    transfers->multi = curl_multi_init();
    curl_multi_setopt(transfers->multi, CURLMOPT_SOCKETFUNCTION, transfer_on_socket);
    curl_multi_setopt(transfers->multi, CURLMOPT_SOCKETDATA, transfers);
    curl_multi_setopt(transfers->multi, CURLMOPT_TIMERFUNCTION, transfer_on_timeout);
    curl_multi_setopt(transfers->multi, CURLMOPT_TIMERDATA, transfers);
    curl_multi_setopt(transfers->multi, CURLMOPT_MAXCONNECTS, (long)IDLE_CONNECTIONS);
    return transfers;
}

void transfers_free(struct transfers *transfers)
{
    curl_multi_cleanup(transfers->multi);
    ev_timer_stop(transfers->loop, &transfers->timer);
    free(transfers);
    curl_global_cleanup();
}

void transfer_start(struct transfers *transfers, struct transfer *transfer)
{
    transfer->transfers = transfers;
    list_init(&transfer->link);
    curl_easy_setopt(transfer->easy, CURLOPT_PRIVATE, transfer);
    curl_easy_setopt(transfer->easy, CURLOPT_ERRORBUFFER, transfer->failure);
    /* A name server that does not answer holds libcurl's resolver, which is not waited for: the
     * loop would wait with it. Before 7.87 there is no such option, and it is refused. */
    curl_easy_setopt(transfer->easy, CURLOPT_QUICK_EXIT, 1L);
    curl_multi_add_handle(transfers->multi, transfer->easy);
}

void transfer_end(struct transfer *transfer)
{
    if (transfer->transfers) {
        list_remove(&transfer->link);
        curl_multi_remove_handle(transfer->transfers->multi, transfer->easy);
        transfer->transfers = NULL;
    }
    curl_easy_cleanup(transfer->easy);
    transfer->easy = NULL;
}

void transfer_mark(struct transfer *transfer)
{
    list_remove(&transfer->link);
    list_append(&transfer->transfers->marked, &transfer->link);
}
