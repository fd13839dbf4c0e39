#include "tests/unit/workplace/site.h"

#include "base/cleanup.h"
#include "base/memory.h"
#include "tests/unit/environments/scratch.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <cmocka.h>

struct workplace *site_open_workplace(struct site *site, const char *path, double keep)
{
    const struct workplace_settings settings = {.loop = site->loop,
                                                .path = path,
                                                .isolations = 1U << ISOLATION_NONE,
                                                .root = site->root,
                                                .keep_seconds = keep};
    struct error err = ERROR_INIT;
    struct workplace *workplace = workplace_new(&settings, &err);

    if (!workplace)
        fail_msg("%s", err.message);
    return workplace;
}

int site_set_up(void **state)
{
    struct site *site = NEW(struct site);

    site->loop = ev_loop_new(0);
    site->scratch = scratch_new();
    site->root = memory_format("%s/state/root", site->scratch);
    site->path = memory_format("%s/configured", site->scratch);
    site->workplace = site_open_workplace(site, NULL, 3600);
    *state = site;
    return 0;
}

int site_tear_down(void **state)
{
    struct site *site = *state;

    workplace_free(site->workplace);
    ev_loop_destroy(site->loop);
    free(site->root);
    free(site->path);
    scratch_free(site->scratch);
    free(site);
    return 0;
}

struct working_directory *site_open_directory(struct site *site)
{
    return open_directory_of(site->workplace, "tester", NULL);
}

struct working_directory *open_directory_of(struct workplace *workplace, const char *principal,
                                            const char *handle)
{
    struct error err = ERROR_INIT;
    struct working_directory *directory =
        workplace_open(workplace, principal, ISOLATION_NONE, handle, &err);

    if (!directory)
        fail_msg("%s", err.message);
    return directory;
}

void open_claim_as(struct directory_claim *claim, struct working_directory *directory,
                   enum script_delivery delivery, const char *code)
{
    struct error err = ERROR_INIT;

    if (directory_claim_open(claim, directory, delivery, &err) < 0 ||
        directory_claim_write(claim, code, strlen(code), &err) < 0)
        fail_msg("%s", err.message);
}

void open_claim(struct directory_claim *claim, struct working_directory *directory,
                const char *code)
{
    open_claim_as(claim, directory, SCRIPT_IN_FILE, code);
}

void assert_script(const struct working_directory *directory, const char *expected)
{
    AUTO_FREE char *path = memory_format("%s/script.py", working_directory_path(directory));
    AUTO_FREE char *text = read_text(path);

    assert_non_null(text);
    assert_string_equal(text, expected);
}

mode_t mode_of(const char *path)
{
    struct stat status;

    assert_int_equal(lstat(path, &status), 0);
    return status.st_mode & 07777;
}
