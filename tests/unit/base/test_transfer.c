#include "base/curl/transfer.h"

#include "base/curl/curl_library.h"

#include <netdb.h>
#include <semaphore.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
#include <time.h>

enum { PATIENCE_SECONDS = 30 }; /* after which a loop that waits for the name server goes on */

static sem_t is_seen; /* the transfer is over */
static sem_t is_answered;

/* In place of the C library's, called by libcurl's own thread: a name server that does not answer.
 */
int getaddrinfo(const char *node, const char *service, const struct addrinfo *hints,
                struct addrinfo **ret)
{
    struct timespec when;

    (void)node;
    (void)service;
    (void)hints;
    (void)ret;
    clock_gettime(CLOCK_REALTIME, &when);
    when.tv_sec += PATIENCE_SECONDS;
    (void)sem_timedwait(&is_seen, &when);
    sem_post(&is_answered);
    return EAI_AGAIN;
}

struct trial {
    struct transfer transfer;
    struct ev_loop *loop;
    CURLcode code;
};

static void on_over(struct transfer *transfer, CURLcode code)
{
    struct trial *trial = CONTAINER_OF(transfer, struct trial, transfer);

    trial->code = code;
    transfer_end(transfer);
    ev_break(trial->loop, EVBREAK_ALL);
}

static void test_the_loop_does_not_wait_for_a_name_server(void **state)
{
    struct trial trial = {.loop = ev_loop_new(0)};
    struct error err = ERROR_INIT;
    struct transfers *transfers;

    (void)state;
    sem_init(&is_seen, 0, 0);
    sem_init(&is_answered, 0, 0);
    assert_int_equal(curl_library_load(&err), 0);
    transfers = transfers_new(trial.loop);
    trial.transfer = (struct transfer){.easy = curl_easy_init(), .over = on_over};
    curl_easy_setopt(trial.transfer.easy, CURLOPT_URL, "http://replica.example/");
    curl_easy_setopt(trial.transfer.easy, CURLOPT_NOSIGNAL, 1L);
    curl_easy_setopt(trial.transfer.easy, CURLOPT_PROXY, "");
    curl_easy_setopt(trial.transfer.easy, CURLOPT_CONNECTTIMEOUT_MS, 100L);
    transfer_start(transfers, &trial.transfer);
    ev_run(trial.loop, 0);
    assert_int_not_equal(trial.code, CURLE_OK);
    assert_int_equal(sem_trywait(&is_answered), -1);
    sem_post(&is_seen);
    sem_wait(&is_answered);
    transfers_free(transfers);
    ev_loop_destroy(trial.loop);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_the_loop_does_not_wait_for_a_name_server),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
