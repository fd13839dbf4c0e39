#include "environments/process/core/arenas.h"

#include "environments/process/core/python_api.h"

#include <setjmp.h>
#include <stdatomic.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include <pthread.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

enum {
    ARENA = 1 << 20,
    LARGE = 2 << 20,
    MORE_THAN_A_CHUNK = 20 << 20,
    FEW = 8,
    MANY = 40,
    LEAST = 256 << 10,
    FRAMES = 16 << 10,
    HALF = 15,
    RACES = 2000
};

struct python_api python; /* of which only one function is asked for */
static struct python_arena_allocator arenas;

static void set_allocator(struct python_arena_allocator *allocator)
{
    arenas = *allocator;
}

static int setup(void **state)
{
    (void)state;
    python.PyObject_SetArenaAllocator = set_allocator;
    arenas_begin();
    return 0;
}

static char *allocate(size_t size)
{
    char *arena = arenas.allocate(arenas.context, size);

    if (arena)
        memset(arena, 1, size);
    return arena;
}

static void test_arenas_lie_side_by_side_where_a_large_page_can_begin(void **state)
{
    char *first = allocate(ARENA);

    (void)state;
    assert_non_null(first);
    assert_int_equal((uintptr_t)first % LARGE, 0);
    for (int i = 1; i < FEW; i++)
        assert_ptr_equal(allocate(ARENA), first + (ptrdiff_t)i * ARENA);
    for (int i = 0; i < FEW; i++)
        arenas.free(arenas.context, first + (ptrdiff_t)i * ARENA, ARENA);
}

static void test_what_is_larger_than_a_chunk_is_had(void **state)
{
    char *arena = allocate(MORE_THAN_A_CHUNK);

    (void)state;
    assert_non_null(arena);
    arenas.free(arenas.context, arena, MORE_THAN_A_CHUNK);
}

/* Bytes of this process that RLIMIT_DATA counts: proc(5), "statm". */
static rlim_t data_bytes(void)
{
    FILE *file = fopen("/proc/self/statm", "r");
    unsigned long pages = 0;

    if (!file || fscanf(file, "%*s %*s %*s %*s %*s %lu", &pages) != 1)
        _exit(0);
    fclose(file);
    return (rlim_t)pages * (rlim_t)sysconf(_SC_PAGESIZE);
}

/* How many arenas are had when there is room for MANY; the last of them have no chunk. */
static int count_until_the_limit(void)
{
    const rlim_t most = data_bytes() + (rlim_t)MANY * ARENA;
    const struct rlimit limit = {.rlim_cur = most, .rlim_max = most};
    int count = 0;

    if (setrlimit(RLIMIT_DATA, &limit) < 0)
        return 0;
    while (count <= MANY && allocate(ARENA))
        count++;
    return count;
}

static void test_a_limit_can_be_reached_by_single_arenas(void **state)
{
    int status = -1;
    pid_t pid = fork();

    (void)state;
    if (pid == 0)
        _exit(count_until_the_limit());
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_in_range(WEXITSTATUS(status), MANY - 2, MANY);
}

struct taker {
    atomic_bool *may_begin;
    char *taken[HALF];
};

/* Half of what is left of a chunk. */
static void *take_half(void *data)
{
    struct taker *taker = data;

    while (!atomic_load(taker->may_begin))
        ;
    for (int i = 0; i < HALF; i++)
        taker->taken[i] = arenas.allocate(arenas.context, LEAST);
    return NULL;
}

/* In a process of its own. Returns how many arenas both have got. */
static int race(void)
{
    atomic_bool may_begin = false;
    struct taker here = {.may_begin = &may_begin};
    struct taker there = {.may_begin = &may_begin};
    int both = 0;
    pthread_t other;

    (void)arenas.allocate(arenas.context, LEAST); /* the first of a chunk */
    arenas_reserve_no_more();
    if (pthread_create(&other, NULL, take_half, &there) != 0)
        return -1;
    atomic_store(&may_begin, true);
    (void)take_half(&here);
    pthread_join(other, NULL);
    for (int i = 0; i < HALF * HALF; i++)
        both += here.taken[i / HALF] == there.taken[i % HALF];
    return both;
}

static void test_interpreters_in_threads_have_arenas_of_their_own(void **state)
{
    (void)state;
    for (int i = 0; i < RACES; i++) {
        int status = -1;
        pid_t pid = fork();

        if (pid == 0)
            _exit(race());
        assert_int_equal(waitpid(pid, &status, 0), pid);
        assert_int_equal(status, 0);
    }
}

/* Frames of threads, which are no objects. Some share a page where pages are large. */
static void test_what_is_no_arena_has_pages_of_its_own(void **state)
{
    char *arena = allocate(ARENA);

    (void)state;
    assert_ptr_not_equal(allocate(FRAMES), arena + ARENA);
    assert_ptr_equal(allocate(ARENA), arena + ARENA);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(test_arenas_lie_side_by_side_where_a_large_page_can_begin, setup),
        cmocka_unit_test_setup(test_what_is_larger_than_a_chunk_is_had, setup),
        cmocka_unit_test_setup(test_a_limit_can_be_reached_by_single_arenas, setup),
        cmocka_unit_test_setup(test_what_is_no_arena_has_pages_of_its_own, setup),
        cmocka_unit_test_setup(test_interpreters_in_threads_have_arenas_of_their_own, setup),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
