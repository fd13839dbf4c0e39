#include "server/origin_checks.h"

#include "base/cleanup.h"
#include "base/memory.h"
#include "environments/catalog/catalog.h"
#include "environments/interpreter/script_places.h"
#include "server/configuration/config.h"
#include "server/service.h"

#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <cmocka.h>

/* A directory with `project/token` and `project/lib`. */
static char place[] = "/tmp/origin-checks-XXXXXX";

static char *below(const char *name)
{
    return memory_format("%s/%s", place, name);
}

static int set_up(void **state)
{
    AUTO_FREE char *project = NULL;
    AUTO_FREE char *lib = NULL;
    AUTO_FREE char *token = NULL;

    (void)state;
    assert_non_null(mkdtemp(place));
    project = below("project");
    lib = below("project/lib");
    token = below("project/token");
    assert_int_equal(mkdir(project, S_IRWXU), 0);
    assert_int_equal(mkdir(lib, S_IRWXU), 0);
    return close(open(token, O_WRONLY | O_CREAT | O_CLOEXEC, S_IRUSR | S_IWUSR));
}

static int tear_down(void **state)
{
    AUTO_FREE char *project = below("project");
    AUTO_FREE char *lib = below("project/lib");
    AUTO_FREE char *token = below("project/token");

    (void)state;
    unlink(token);
    rmdir(lib);
    rmdir(project);
    return rmdir(place);
}

struct trial {
    struct config *config;
    struct catalog *catalog;
};

/* All scripts of a server with TEXT work in `project`. */
static struct trial trial_of(const char *text)
{
    AUTO_FREE char *project = below("project");
    AUTO_FREE char *name = below("config.yaml");
    struct config *config = config_parse(name, text, strlen(text));

    if (config_has_errors(config)) {
        AUTO_FREE char *errors = config_error_text(config);

        fail_msg("%s", errors);
    }
    return (struct trial){
        config,
        service_open_catalog(&(struct catalog_settings){.directory = project}, config, NULL),
    };
}

static void trial_end(struct trial *trial)
{
    catalog_free(trial->catalog);
    config_free(trial->config);
}

/* TEXT with PLACE for each `@`. Owned by the caller. */
static char *placed(const char *text)
{
    char *whole = memory_copy_string("");

    for (; *text; text++) {
        AUTO_FREE char *before = whole;

        whole = *text == '@' ? memory_format("%s%s", before, place)
                             : memory_format("%s%c", before, *text);
    }
    return whole;
}

/* Scripts with TEXT only read KEPT, or nobody is served because of ERROR. */
static void check_server(const char *text, const char *kept, const char *error)
{
    AUTO_FREE char *whole = placed(text);
    AUTO_FREE char *path = kept ? below(kept) : NULL;
    struct trial trial = trial_of(whole);
    AUTO_FREE char *errors = NULL;
    const struct script_places *found = catalog_at(trial.catalog, 0)->kept;

    origin_checks(trial.catalog, trial.config);
    errors = config_error_text(trial.config);
    if (!error && *errors)
        fail_msg("%s", errors);
    if (error && !strstr(errors, error))
        fail_msg("%s", errors);
    if (kept) {
        assert_non_null(found->paths);
        assert_string_equal(found->paths[0], path);
    }
    assert_true(!found->paths || !found->paths[0] || (kept && !found->paths[1]));
    trial_end(&trial);
}

#define HELD "environments: {a: {type: system, isolation: sandbox}}\n"

static void test_what_lies_in_an_entry_of_the_directory_is_kept(void **state)
{
    (void)state;
    check_server(HELD "token_file: @/project/token\n", "project/token", NULL);
    check_server(HELD "token_file: @/project/lib/token\n", "project/lib", NULL);
    check_server(HELD "token_file: @/project/lib/token\n"
                      "tools: {t: {command: [python3, @/project/lib/server.py]}}\n",
                 "project/lib", NULL);
    check_server(HELD "token_file: @/elsewhere\n", NULL, NULL);
}

static void test_what_cannot_be_kept_is_told_at_its_key(void **state)
{
    (void)state;
    check_server(HELD "token_file: @/project/missing\n", NULL,
                 "2:13: token_file: scripts that write");
    check_server(HELD "tools: {t: {command: [python3, @/project/token]}}\n", NULL,
                 "tools.t.command.1: scripts that write");
    check_server("environments: {a: {type: system, isolation: sandbox, write: [@/project]}}\n"
                 "token_file: @/project/token\n",
                 NULL, "2:13: token_file: scripts that write");
}

static void test_scripts_that_are_not_held_keep_nothing(void **state)
{
    (void)state;
    check_server("environments: {a: {type: system, isolation: none}}\n"
                 "token_file: @/project/missing\n",
                 NULL, NULL);
}

static void test_a_node_keeps_as_well(void **state)
{
    (void)state;
    check_server("nodes: {n: {launcher: [/usr/bin/ssh, h]}}\n"
                 "environments: {a: {type: system, node: n}}\n"
                 "token_file: @/project/token\n",
                 "project/token", NULL);
}

static void test_a_directory_is_refused_in_words(void **state)
{
    AUTO_FREE char *text = placed(HELD "token_file: @/project/missing\n");
    AUTO_FREE char *project = below("project");
    AUTO(script_places_deinit) struct script_places kept = {0};
    struct trial trial = trial_of(text);
    struct error err = ERROR_INIT;

    (void)state;
    assert_int_equal(origin_checks_directory(trial.catalog, trial.config,
                                             catalog_at(trial.catalog, 0), project, &kept, &err),
                     -1);
    assert_int_equal(err.code, ERROR_USAGE);
    assert_non_null(
        strstr(err.message, "(token_file); keep it elsewhere, or let the script work in"));
    assert_int_equal(origin_checks_directory(trial.catalog, trial.config,
                                             catalog_at(trial.catalog, 0), "/usr/lib", &kept, &err),
                     0);
    trial_end(&trial);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_what_lies_in_an_entry_of_the_directory_is_kept),
        cmocka_unit_test(test_what_cannot_be_kept_is_told_at_its_key),
        cmocka_unit_test(test_scripts_that_are_not_held_keep_nothing),
        cmocka_unit_test(test_a_node_keeps_as_well),
        cmocka_unit_test(test_a_directory_is_refused_in_words),
    };

    return cmocka_run_group_tests(tests, set_up, tear_down);
}
