#include "server/transport/socket/activation.h"

#include "base/memory.h"

#include <fcntl.h>
#include <netinet/in.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>
#include <cmocka.h>

enum { FIRST_FD = 3 };

/* What a child finds in its hands. */
struct gift {
    int (*make[2])(void); /* the sockets at 3 and 4 */
    const char *count;    /* LISTEN_FDS */
    bool for_another;     /* LISTEN_PID is not the child's */
    int taken;            /* what activation_take is to return */
    const char *complaint;
    const char *names; /* LISTEN_FDNAMES; NULL: a:b */
    enum address_kind kinds[2];
};

static int make_listener(int family, in_addr_t host)
{
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = host};
    int fd = socket(family, SOCK_STREAM, 0);

    if (family == AF_INET)
        (void)bind(fd, (struct sockaddr *)&address, sizeof(address));
    else
        (void)bind(fd, &(struct sockaddr){.sa_family = AF_UNIX}, sizeof(sa_family_t));
    (void)listen(fd, 1);
    return fd;
}

static int make_unix(void)
{
    return make_listener(AF_UNIX, 0);
}

static int make_loopback(void)
{
    return make_listener(AF_INET, htonl(INADDR_LOOPBACK));
}

static int make_public(void)
{
    return make_listener(AF_INET, htonl(INADDR_ANY));
}

static int make_unconnected(void)
{
    return socket(AF_UNIX, SOCK_STREAM, 0);
}

static int make_datagram(void)
{
    return socket(AF_UNIX, SOCK_DGRAM, 0);
}

static int make_file(void)
{
    return open("/dev/null", O_RDONLY);
}

static void put(const struct gift *gift)
{
    for (int i = 0; i < 2; i++) {
        int fd = gift->make[i] ? gift->make[i]() : -1;

        if (fd >= 0 && fd != FIRST_FD + i) {
            dup2(fd, FIRST_FD + i);
            close(fd);
        }
    }
}

static bool is_set(const char *name)
{
    return getenv(name) != NULL;
}

/* What is wrong with TAKEN, or NULL. KIND 0: of no protocol of its own. */
static const char *check_socket(const struct activation_socket *taken, int fd,
                                enum address_kind kind)
{
    const char *path = kind ? "/mcp" : "";

    if (taken->fd != fd)
        return "wrong descriptor";
    if (!(fcntl(fd, F_GETFD) & FD_CLOEXEC) || !(fcntl(fd, F_GETFL) & O_NONBLOCK))
        return "wrong flags";
    if (taken->address.kind != (kind ? kind : ADDRESS_SYSTEMD) ||
        strcmp(taken->address.path, path) != 0)
        return "wrong protocol";
    return NULL;
}

/* In the child: what went wrong, or NULL. */
static const char *check(const struct gift *gift)
{
    struct error err = ERROR_INIT;
    struct activation_socket sockets[ACTIVATION_SOCKETS];
    char pid[16];

    snprintf(pid, sizeof(pid), "%d", gift->for_another ? getppid() : getpid());
    setenv("LISTEN_PID", pid, 1);
    setenv("LISTEN_FDNAMES", gift->names ? gift->names : "a:b", 1);
    if (gift->count)
        setenv("LISTEN_FDS", gift->count, 1);
    put(gift);
    if (activation_take(sockets, &err) != gift->taken)
        return err.message[0] ? strdup(err.message) : "wrong count";
    if (gift->complaint && !strstr(err.message, gift->complaint))
        return strdup(err.message);
    if (is_set("LISTEN_PID") || is_set("LISTEN_FDS") || is_set("LISTEN_FDNAMES"))
        return "variables are left";
    for (int i = 0; i < gift->taken; i++) {
        const char *fault = check_socket(&sockets[i], FIRST_FD + i, gift->kinds[i]);

        if (fault)
            return fault;
    }
    if (gift->taken < 0 && gift->make[0] && fcntl(FIRST_FD, F_GETFD) >= 0)
        return "left open";
    return activation_take(sockets, &err) == 0 ? NULL : "taken twice";
}

static void run(const struct gift *gift)
{
    pid_t pid = fork();
    int status;

    if (pid == 0) {
        const char *fault;

        for (int fd = FIRST_FD; fd < 64; fd++)
            close(fd);
        fault = check(gift);
        if (fault)
            print_error("%s\n", fault);
        _exit(fault != NULL);
    }
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_int_equal(status, 0);
}

static void test_sockets_are_taken_once(void **state)
{
    (void)state;
    run(&(struct gift){.make = {make_unix, make_loopback}, .count = "2", .taken = 2});
    run(&(struct gift){.make = {make_loopback}, .count = "1", .taken = 1});
}

static void test_a_name_says_what_is_spoken(void **state)
{
    static const struct gift gifts[] = {
        {.names = "http:https", .kinds = {ADDRESS_HTTP, ADDRESS_HTTPS}},
        {.names = "pyexecd.socket:http", .kinds = {0, ADDRESS_HTTP}},
        {.names = "http", .kinds = {ADDRESS_HTTP}}, /* fewer names than sockets */
        {.names = "", .kinds = {0}},
        {.names = "HTTP:httpd", .kinds = {0}},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(gifts); i++) {
        struct gift gift = gifts[i];

        gift.make[0] = make_unix;
        gift.make[1] = make_loopback;
        gift.count = "2";
        gift.taken = 2;
        run(&gift);
    }
}

static void test_only_https_goes_beyond_this_machine(void **state)
{
    static const char complaint[] = "descriptor 3 listens beyond this machine; only a socket named "
                                    "https";

    (void)state;
    run(&(struct gift){.make = {make_public},
                       .count = "1",
                       .taken = 1,
                       .names = "https",
                       .kinds = {ADDRESS_HTTPS}});
    run(&(struct gift){
        .make = {make_public}, .count = "1", .taken = -1, .names = "http", .complaint = complaint});
}

static void test_without_variables_there_are_none(void **state)
{
    (void)state;
    run(&(struct gift){.make = {make_unix}, .taken = 0});
    run(&(struct gift){.make = {make_unix}, .count = "0", .taken = 0});
    run(&(struct gift){.make = {make_unix}, .count = "1", .for_another = true, .taken = 0});
}

static void test_what_cannot_be_served_is_refused(void **state)
{
    static const struct gift gifts[] = {
        {.make = {make_file},
         .count = "1",
         .taken = -1,
         .complaint = "descriptor 3 is not a listening stream socket"},
        {.make = {make_datagram},
         .count = "1",
         .taken = -1,
         .complaint = "not a listening stream socket"},
        {.make = {make_unconnected},
         .count = "1",
         .taken = -1,
         .complaint = "not a listening stream socket"},
        {.make = {make_public},
         .count = "1",
         .taken = -1,
         .complaint = "listens beyond this machine"},
        {.make = {make_unix, make_public},
         .count = "2",
         .taken = -1,
         .complaint = "descriptor 4 listens beyond"},
        {.make = {NULL},
         .count = "1",
         .taken = -1,
         .complaint = "descriptor 3: Bad file descriptor"},
        {.make = {NULL},
         .count = "-1",
         .taken = -1,
         .complaint = "LISTEN_FDS is not a number from 0 to 16"},
        {.make = {NULL}, .count = "17", .taken = -1, .complaint = "LISTEN_FDS is not a number"},
        {.make = {NULL}, .count = "1x", .taken = -1, .complaint = "LISTEN_FDS is not a number"},
        {.make = {NULL}, .count = "", .taken = -1, .complaint = "LISTEN_FDS is not a number"},
        {.make = {NULL},
         .count = "99999999999999999999",
         .taken = -1,
         .complaint = "LISTEN_FDS is not a number"},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(gifts); i++) {
        print_message("%zu\n", i);
        run(&gifts[i]);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_sockets_are_taken_once),
        cmocka_unit_test(test_a_name_says_what_is_spoken),
        cmocka_unit_test(test_only_https_goes_beyond_this_machine),
        cmocka_unit_test(test_without_variables_there_are_none),
        cmocka_unit_test(test_what_cannot_be_served_is_refused),
    };

    setvbuf(stdout, NULL, _IOLBF, 0);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
