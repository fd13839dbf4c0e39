#include "server/command_files.h"

#include "base/cleanup.h"
#include "base/memory.h"
#include "base/text.h"
#include "environments/interpreter/script_places.h"

#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <cmocka.h>

enum { TRIAL_WORDS = 12 };

/* A command, words with a blank between them, and the files below /srv that it executes: the number
 * of the word and the path of each, likewise. */
struct trial {
    const char *command;
    const char *found;
};

/* Owned by the caller. */
static char *files_of(const char *command)
{
    AUTO_FREE char *text = memory_copy_string(command);
    AUTO(command_files_deinit) struct command_files files = {0};
    char *words[TRIAL_WORDS + 1] = {0};
    char *found = memory_copy_string("");
    char *rest = text;

    for (size_t i = 0; i < TRIAL_WORDS && (words[i] = strsep(&rest, " ")); i++)
        continue;
    command_files_find(&files, words, NULL);
    for (size_t i = 0; i < files.count; i++) {
        AUTO_FREE char *before = found;
        const char *path = files.all[i].path;

        found =
            text_starts_with(path, "/srv")
                ? memory_format("%s%s%zu %s", before, *before ? " " : "", files.all[i].word, path)
                : STEAL_PTR(before);
    }
    return found;
}

static void check_trials(const struct trial *trials, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        AUTO_FREE char *found = files_of(trials[i].command);

        if (strcmp(found, trials[i].found) != 0)
            fail_msg("%s: \"%s\", not \"%s\"", trials[i].command, found, trials[i].found);
    }
}

static void test_the_script_of_an_interpreter_is_found(void **state)
{
    static const struct trial trials[] = {
        {"python3 /srv/x.py /srv/data", "1 /srv/x.py"},
        {"/srv/bin/python3.11 -u -W ignore /srv/x.py", "0 /srv/bin/python3.11 4 /srv/x.py"},
        {"node --import tsx /srv/x.js", "3 /srv/x.js"},
        {"sh -e /srv/x", "2 /srv/x"},
        {"dash /srv/x", "1 /srv/x"},
        {"perl -I lib /srv/x.pl", "3 /srv/x.pl"},
        {"bun /srv/x.ts", "1 /srv/x.ts"},
        {"bun run /srv/x.ts", "2 /srv/x.ts"},
        {"deno run -A --allow-read=/srv/data /srv/x.ts /srv/data", "4 /srv/x.ts"},
        {"uv run --with mcp /srv/x.py", "4 /srv/x.py"},
        {"uv run python /srv/x.py", "3 /srv/x.py"},
    };

    (void)state;
    check_trials(trials, ARRAY_SIZE(trials));
}

static void test_data_is_not(void **state)
{
    static const struct trial trials[] = {
        {"/srv/server --root /srv/data", "0 /srv/server"},
        {"python3 -m server /srv/data", ""},
        {"python3 -Ic 1 /srv/data", ""},
        {"node -e 1 /srv/data", ""},
        {"sh -ec x /srv/data", ""},
        {"bun x server /srv/data", ""},
        {"bunx server /srv/data", ""},
        {"deno eval 1 /srv/data", ""},
        {"deno run -A npm:server /srv/data", ""},
        {"npx -y server /srv/data", ""},
        {"uvx server /srv/data", ""},
        {"uv run server /srv/data", ""},
    };

    (void)state;
    check_trials(trials, ARRAY_SIZE(trials));
}

static void test_a_wrapper_starts_what_stands_behind_its_operands(void **state)
{
    static const struct trial trials[] = {
        {"/srv/env -i -u X A=1 B=/srv/b /srv/x", "0 /srv/env 6 /srv/x"},
        {"nice -n 5 python3 /srv/x.py", "4 /srv/x.py"},
        {"timeout --signal INT -k 5 90 python3 /srv/x.py", "7 /srv/x.py"},
        {"env nohup setsid node /srv/x.js", "4 /srv/x.js"},
        {"env -S python3 /srv/x.py", "3 /srv/x.py"},
        {"timeout 90", ""},
        {"env", ""},
    };

    (void)state;
    check_trials(trials, ARRAY_SIZE(trials));
}

/* A folder on PATH with the program `banged`, which /srv/python executes. */
static char folder[] = "/tmp/command-files-XXXXXX";

static void test_a_program_is_not_taken_from_scripts_where_there_is_another(void **state)
{
    static const char line[] = "#! /srv/python -u\n";
    char *words[] = {(char[]){"banged"}, NULL};
    AUTO_FREE char *path = NULL;
    AUTO(script_places_deinit) struct script_places places = {0};

    (void)state;
    assert_non_null(mkdtemp(folder));
    path = memory_format("%s/%s", folder, words[0]);
    {
        AUTO_CLOSE int fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, S_IRWXU);

        assert_int_equal(write(fd, line, strlen(line)), strlen(line));
    }
    setenv("PATH", folder, true);
    for (int i = 0; i < 2; i++) {
        AUTO(command_files_deinit) struct command_files files = {0};

        command_files_find(&files, words, &places);
        assert_int_equal(files.count, 2);
        assert_string_equal(files.all[0].path, "/srv/python");
        assert_int_equal(files.all[0].kind, ORIGIN_PROGRAM);
        assert_string_equal(files.all[1].path, path);
        assert_int_equal(files.all[1].kind, i == 0 ? ORIGIN_PROGRAM : ORIGIN_SOUGHT);
        script_places_add(&places, (const char *const[]){folder, NULL});
    }
    unlink(path);
    rmdir(folder);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_the_script_of_an_interpreter_is_found),
        cmocka_unit_test(test_data_is_not),
        cmocka_unit_test(test_a_wrapper_starts_what_stands_behind_its_operands),
        cmocka_unit_test(test_a_program_is_not_taken_from_scripts_where_there_is_another),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
