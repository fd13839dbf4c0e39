#include "environments/process/core/large_pages.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <unistd.h>

enum { LARGE = 2 << 20, MUCH = 16 << 20, COLLAPSE = 25, SMALL = 4096 };
enum { CODE = 3 * LARGE, CONSTANTS = LARGE / 2 };

struct mapped {
    char rights[5];
    long large_kilobytes;
};

/* The one mapping that PLACE is in. */
static struct mapped look_at(const char *place)
{
    struct mapped ret = {"", -1};
    FILE *maps = fopen("/proc/self/smaps", "r");
    uintptr_t first = 0;
    uintptr_t last = 0;
    char line[512];

    while (ret.large_kilobytes < 0 && fgets(line, sizeof line, maps)) {
        char rights[5];

        if (sscanf(line, "%" SCNxPTR "-%" SCNxPTR " %4s ", &first, &last, rights) == 3)
            memcpy(ret.rights, rights, sizeof rights);
        if ((uintptr_t)place >= first && (uintptr_t)place < last)
            (void)sscanf(line, "AnonHugePages: %ld", &ret.large_kilobytes);
    }
    fclose(maps);
    return ret;
}

static bool kernel_has_them(void)
{
    char *trial = large_pages_map(LARGE);
    bool ret;

    assert_non_null(trial);
    assert_int_equal((uintptr_t)trial % LARGE, 0);
    memset(trial, 1, LARGE);
    ret = madvise(trial, LARGE, COLLAPSE) == 0;
    munmap(trial, LARGE);
    return ret;
}

static void test_memory_is_in_large_pages(void **state)
{
    char *much;

    (void)state;
    if (!kernel_has_them())
        skip();
    prctl(PR_SET_THP_DISABLE, 1, 0, 0, 0); /* they may come by themselves */
    much = large_pages_map(MUCH);
    memset(much, 1, MUCH);
    prctl(PR_SET_THP_DISABLE, 0, 0, 0, 0);
    assert_int_equal(look_at(much).large_kilobytes, 0);
    large_pages_make((uintptr_t)look_at);
    assert_true(look_at(much).large_kilobytes >= MUCH / 1024);
    munmap(much, MUCH);
}

static uint32_t word_of_file(size_t place)
{
    return (uint32_t)(place * 2654435761U);
}

/* Mapped as a program is: constants, code, constants. Half of the last large page is not used. */
static char *map_program(int file)
{
    char *program = large_pages_map(CODE);

    assert_ptr_equal(mmap(program, CODE, PROT_READ, MAP_PRIVATE | MAP_FIXED, file, 0), program);
    assert_int_equal(mprotect(program + CONSTANTS, LARGE, PROT_READ | PROT_EXEC), 0);
    for (size_t at = 0; at < CODE - LARGE; at += SMALL)
        assert_int_equal(*(volatile uint32_t *)(program + at), word_of_file(at));
    return program;
}

static int make_program_file(void)
{
    int file = memfd_create("program", MFD_CLOEXEC);

    assert_int_equal(ftruncate(file, CODE), 0);
    for (size_t at = 0; at < CODE; at += sizeof(uint32_t)) {
        uint32_t word = word_of_file(at);

        assert_int_equal(pwrite(file, &word, sizeof word, (off_t)at), sizeof word);
    }
    return file;
}

static void test_code_is_in_large_pages(void **state)
{
    int file;
    char *program;

    (void)state;
    if (!kernel_has_them())
        skip();
    file = make_program_file();
    program = map_program(file);
    for (int again = 0; again < 2; again++) {
        large_pages_make((uintptr_t)program + CONSTANTS);
        for (size_t at = 0; at < CODE - LARGE; at += LARGE) {
            assert_int_equal(look_at(program + at).large_kilobytes, LARGE / 1024);
            assert_string_equal(look_at(program + at).rights, "r-xp");
        }
        assert_string_equal(look_at(program + CODE - LARGE).rights, "r--p");
    }
    for (size_t at = 0; at < CODE; at += sizeof(uint32_t))
        assert_int_equal(*(uint32_t *)(program + at), word_of_file(at));
    munmap(program, CODE);
    close(file);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_memory_is_in_large_pages),
        cmocka_unit_test(test_code_is_in_large_pages),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
