/* pyexecd-proxy HOST:PORT... [--anywhere HOST:PORT...]: the way out of one run with a network of
 * its own. The server starts it as a contained tree for each such run and ends it with the run.
 *
 * Standard input is a socket over which the run's supervisor hands it one listener, made in the
 * network of the run: nobody else can come in. The proxy reports refusals over the same socket, for
 * the server. If the arguments name a place that a program asks for, the proxy connects to it in
 * the machine's network. Each connection has a thread of its own, so that a slow name server or
 * peer holds up no other connection; connections beyond the bound wait in the listener's queue.
 *
 * It reads bytes of scripts, so before the first connection it gives up all system calls that it
 * does not need any more (proxy_rules.c), within the sandbox that it was started in. */
#include "base/descriptors.h"
#include "base/memory.h"
#include "environments/egress/helper/visit.h"
#include "environments/process/filter/filter.h"

#include <errno.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <unistd.h>

enum {
    PROXY_VISITS = 128, /* at a time */
    PROXY_STACK_BYTES = 256 * 1024,
    PROXY_PAUSE_MICROSECONDS = 10 * 1000,
};

static struct visit_rules proxy_rules;
static sem_t proxy_places;

static void *proxy_visit(void *data)
{
    int *client = data;

    visit_serve(*client, &proxy_rules);
    close(*client);
    free(client);
    sem_post(&proxy_places);
    return NULL;
}

/* Returns the listener; -1: none came. */
static int proxy_receive_listener(void)
{
    int listener = -1;
    size_t count;
    char byte;

    (void)descriptors_receive(STDIN_FILENO, &byte, 1, 0, &listener, 1, &count);
    return listener;
}

static void proxy_accept(int listener, const pthread_attr_t *attributes)
{
    int *client = NEW(int); /* the visit frees it */
    pthread_t thread;

    while (sem_wait(&proxy_places) < 0)
        ;
    *client = accept4(listener, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
    if (*client >= 0 && pthread_create(&thread, attributes, proxy_visit, client) == 0)
        return;
    if (*client >= 0)
        close(*client);
    free(client);
    sem_post(&proxy_places);
    usleep(PROXY_PAUSE_MICROSECONDS); /* missing resources, such as memory, may come back */
}

static int proxy_read_arguments(int argc, char **argv)
{
    struct destination *open = memory_new((size_t)argc, sizeof *open);
    bool is_anywhere = false;
    size_t count = 0;

    for (int i = 1; i < argc; i++) {
        if (strcmp(argv[i], EGRESS_ANYWHERE) == 0) {
            is_anywhere = true;
            continue;
        }
        if (!destination_parse_rule(argv[i], &open[count])) {
            fprintf(stderr, "pyexecd-proxy is started by pyexecd, with HOST:PORT...; not %s\n",
                    argv[i]);
            free(open);
            return -1;
        }
        open[count++].is_anywhere = is_anywhere;
    }
    proxy_rules.open = (struct destinations){open, count};
    return 0;
}

/* The server has checked the variable. */
static const struct upstream *proxy_read_upstream(const char *variable)
{
    const char *url = getenv(variable);
    struct upstream *upstream = NEW(struct upstream);

    if (url && upstream_parse(url, upstream))
        return upstream;
    free(upstream);
    return NULL;
}

int main(int argc, char **argv)
{
    pthread_attr_t attributes;
    int listener;

    if (proxy_read_arguments(argc, argv) < 0)
        return 64;
    prctl(PR_SET_DUMPABLE, 0); /* so that no process can read a login in our variables */
    proxy_rules.upstreams = (struct upstreams){.plain = proxy_read_upstream("HTTP_PROXY"),
                                               .tunnels = proxy_read_upstream("HTTPS_PROXY"),
                                               .spared = getenv("NO_PROXY")};
    listener = proxy_receive_listener();
    if (listener < 0 || sem_init(&proxy_places, 0, PROXY_VISITS) < 0 ||
        pthread_attr_init(&attributes) != 0)
        return 1;
    signal(SIGPIPE, SIG_IGN);
    pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
    pthread_attr_setstacksize(&attributes, PROXY_STACK_BYTES);
    if (filter_install(FILTER_PROXY) < 0)
        return 1;
    for (;;)
        proxy_accept(listener, &attributes);
}
