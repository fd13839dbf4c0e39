/* The network of a sandbox, and the way out of it. */
#include "base/cleanup.h"
#include "base/memory.h"
#include "tests/unit/process/sandbox_scene.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

static int listen_on_loopback(in_port_t *ret_port)
{
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t length = sizeof address;
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

    assert_return_code(bind(fd, (struct sockaddr *)&address, sizeof address), 0);
    assert_return_code(listen(fd, 8), 0);
    assert_return_code(getsockname(fd, (struct sockaddr *)&address, &length), 0);
    *ret_port = ntohs(address.sin_port);
    return fd;
}

/* A listener that came over OUTLET; -1: none did. */
static int scene_receive(int outlet)
{
    union {
        struct cmsghdr alignment;
        char bytes[CMSG_SPACE(sizeof(int))];
    } ancillary;
    char byte;
    struct iovec part = {.iov_base = &byte, .iov_len = 1};
    struct msghdr message = {.msg_iov = &part,
                             .msg_iovlen = 1,
                             .msg_control = &ancillary,
                             .msg_controllen = sizeof ancillary.bytes};
    int fd = -1;

    if (recvmsg(outlet, &message, MSG_DONTWAIT | MSG_CMSG_CLOEXEC) == 1 && CMSG_FIRSTHDR(&message))
        memcpy(&fd, CMSG_DATA(CMSG_FIRSTHDR(&message)), sizeof fd);
    return fd;
}

/* Asks for a way out of a sandbox on a machine that gives LAYERS. */
static int scene_run_with_outlet(unsigned layers, const char *code, char *ret_output,
                                 struct error *err)
{
    struct scene *scene = scene_new(layers);
    AUTO_FREE char *work = memory_format("%s/work", scene->folder);
    const char *const write[] = {work, NULL};
    int ends[2];
    int ret;

    assert_return_code(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends), 0);
    ret = scene_run(scene, &(struct process_sandbox){.write = write, .outlet = ends[0]}, code, err);
    strcpy(ret_output, scene->output);
    close(ends[0]);
    if (ret == 0) {
        ret = scene_receive(ends[1]);
        assert_true(ret >= 0);
    }
    close(ends[1]);
    scene_free(scene);
    return ret;
}

static void test_a_way_out_begins_in_the_network_of_the_run(void **state)
{
    struct sockaddr_in address;
    socklen_t size = sizeof address;
    struct error err = ERROR_INIT;
    char output[KEPT_BYTES + 1];
    int listener =
        scene_run_with_outlet(LAYERS_OF_TREES | LAYERS_OF_SANDBOX,
                              "import os, socket\nsocket.create_connection(('127.0.0.1', 3128))\n"
                              "print(sorted(os.listdir('/proc/self/fd')))",
                              output, &err);

    (void)state;
    assert_true(listener >= 0);
    assert_string_equal(output, "['0', '1', '2', '3']\n"); /* 3 is the list's own */
    assert_return_code(getsockname(listener, (struct sockaddr *)&address, &size), 0);
    assert_int_equal(ntohs(address.sin_port), SANDBOX_PROXY_PORT);
    assert_int_equal(ntohl(address.sin_addr.s_addr), INADDR_LOOPBACK);
    close(listener);
}

static void test_without_a_network_of_its_own_there_is_no_way_out(void **state)
{
    struct error err = ERROR_INIT;
    char output[KEPT_BYTES + 1];

    (void)state;
    assert_int_equal(
        scene_run_with_outlet((LAYERS_OF_TREES | LAYERS_OF_SANDBOX) & ~(unsigned)LAYER_NETWORK,
                              "print('ran')", output, &err),
        -1);
    assert_non_null(strstr(err.message, "own network"));
    assert_string_equal(output, "");
}

static void test_the_network_is_closed_unless_it_is_opened(void **state)
{
    struct scene *scene = scene_new(LAYERS_OF_TREES | LAYERS_OF_SANDBOX);
    in_port_t port;
    AUTO_CLOSE int listener = listen_on_loopback(&port);
    AUTO_FREE char *code = memory_format("import socket\n"
                                         "print(socket.socket().connect_ex(('127.0.0.1', %u)))\n"
                                         "own = socket.socket()\n"
                                         "own.bind(('127.0.0.1', 0))\n"
                                         "own.listen()\n"
                                         "print(socket.socket().connect_ex(own.getsockname()))\n",
                                         port);

    (void)state;
    assert_true(listener >= 0);
    scene_run_usual(scene, false, code);
    assert_string_equal(scene->output, "111\n0\n");
    scene_run_usual(scene, true, code);
    assert_string_equal(scene->output, "0\n0\n");
    assert_int_equal(scene->receipt.layers & LAYER_NETWORK, 0);
    assert_int_equal(scene->receipt.asked & LAYER_NETWORK, 0);
    scene_free(scene);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_the_network_is_closed_unless_it_is_opened),
        cmocka_unit_test(test_a_way_out_begins_in_the_network_of_the_run),
        cmocka_unit_test(test_without_a_network_of_its_own_there_is_no_way_out),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
