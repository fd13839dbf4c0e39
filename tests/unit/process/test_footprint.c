#include "environments/process/core/footprint.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include <fcntl.h>
#include <stdbool.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

enum { PAGES = 4, CHANGED = 2, CHANGED_AT_THE_END = 3, POPULATE_WRITE = 23, IS_OWN = 56 };
enum { LARGE = 2 << 20, MUCH = 16 << 20 };

static char *memory;
static char *much;
static bool is_shown;

static size_t size_of_page(void)
{
    return (size_t)sysconf(_SC_PAGESIZE);
}

/* Called before the C library's own start, as the core calls it. */
static __attribute__((section(".preinit_array"), used)) void (*const begin)(void) = footprint_begin;

/* As a library does when its process ends. */
static __attribute__((destructor)) void change_another(void)
{
    if (is_shown)
        memory[CHANGED_AT_THE_END * size_of_page()]++;
}

static void change_one(void)
{
    is_shown = true;
    memory[CHANGED * size_of_page()]++;
    exit(0);
}

static void change_much(void)
{
    memset(much, 2, MUCH);
    exit(0);
}

static void go_on_for_ever(void)
{
    for (;;)
        pause();
}

static void end_at_once(void)
{
    _exit(0);
}

/* Nobody else has it, as the kernel says. */
static bool is_own(int page)
{
    int pagemap = open("/proc/self/pagemap", O_RDONLY);
    uint64_t entry = 0;
    off_t number = (off_t)((uintptr_t)memory / size_of_page()) + page;

    (void)!pread(pagemap, &entry, sizeof entry, number * (off_t)sizeof entry);
    close(pagemap);
    return entry >> IS_OWN & 1;
}

/* In a copy. */
static void check_copy(void)
{
    for (int page = 0; page < PAGES; page++)
        if (is_own(page))
            _exit(1);
    footprint_take();
    for (int page = 0; page < PAGES; page++)
        if (is_own(page) != (page >= CHANGED))
            _exit(2);
    _exit(0);
}

static int setup(void **state)
{
    (void)state;
    memory = mmap(NULL, PAGES * size_of_page(), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS,
                  -1, 0);
    if (memory == MAP_FAILED)
        return -1;
    memset(memory, 1, PAGES * size_of_page());
    return 0;
}

/* Aligned as a large page is, and all of it there. */
static char *make_much(void)
{
    char *ret = aligned_alloc(LARGE, MUCH);

    assert_non_null(ret);
    memset(ret, 1, MUCH);
    return ret;
}

static void test_a_copy_has_what_the_first_has_changed(void **state)
{
    int status;
    pid_t pid;

    (void)state;
    if (madvise(memory, size_of_page(), POPULATE_WRITE) < 0)
        skip(); /* an old kernel */
    much = make_much();
    footprint_learn(change_one);
    footprint_learn(change_much); /* which is too much to be had ahead */
    footprint_learn(end_at_once);
    footprint_learn(go_on_for_ever);
    free(much);
    pid = fork();
    if (pid == 0)
        check_copy();
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_int_equal(status, 0);
    assert_int_equal(memory[CHANGED * size_of_page()], 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(test_a_copy_has_what_the_first_has_changed, setup),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
