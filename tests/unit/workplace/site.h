/* A workplace in a scratch directory, and what a run does with the directories in it. */
#pragma once

#include "environments/workplace/working_directory.h"

#include <ev.h>
#include <sys/stat.h>

struct site {
    struct ev_loop *loop;
    char *scratch;               /* owned; removed with all that is in it */
    char *root;                  /* owned; of the workplace, in scratch */
    char *path;                  /* owned; for a configured directory, in scratch */
    struct workplace *workplace; /* keeps directories for an hour */
};

#define SITE_TEST(NAME) cmocka_unit_test_setup_teardown(NAME, site_set_up, site_tear_down)

int site_set_up(void **state);
int site_tear_down(void **state);

/* Another workplace, as a second server has one: with the same root. PATH: the configured
 * directory, or NULL. */
struct workplace *site_open_workplace(struct site *site, const char *path, double keep);

/* A new directory in the site's own workplace. */
struct working_directory *site_open_directory(struct site *site);

/* The directory of PRINCIPAL with HANDLE, or a new one; fails the test when there is none. */
struct working_directory *open_directory_of(struct workplace *workplace, const char *principal,
                                            const char *handle);

/* Claims DIRECTORY and puts CODE there; fails the test when either cannot be done. */
void open_claim_as(struct directory_claim *claim, struct working_directory *directory,
                   enum script_delivery delivery, const char *code);

/* The same with a file of the run's own. */
void open_claim(struct directory_claim *claim, struct working_directory *directory,
                const char *code);

/* Fails unless script.py in DIRECTORY is EXPECTED. */
void assert_script(const struct working_directory *directory, const char *expected);

mode_t mode_of(const char *path);
