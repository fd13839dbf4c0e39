#include "server/commands/options.h"

#include "base/cleanup.h"
#include "base/memory.h"
#include "server/commands/help.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

enum { ARGUMENTS = 40 };

/* Parses the words of LINE, which are changed by it. OPTIONS borrow them, and the array too. */
static int parse(struct options *options, char *line, struct error *err)
{
    static char *argv[ARGUMENTS + 2];
    char *rest = line;
    int argc = 0;

    memset(argv, 0, sizeof(argv));
    argv[argc++] = (char *)"pyexecd";
    for (char *word; argc <= ARGUMENTS && (word = strtok_r(rest, " ", &rest));)
        argv[argc++] = word;
    return options_parse(options, argc, argv, err);
}

static void test_no_argument_means_serve(void **state)
{
    struct options options;
    struct error err = ERROR_INIT;
    char line[] = "";

    (void)state;
    assert_int_equal(parse(&options, line, &err), 0);
    assert_int_equal(options.command, COMMAND_SERVE);
    assert_int_equal(options.log_level, LOG_LEVEL_WARNING);
    assert_null(options.config_path);
    assert_null(options.addresses[0]);
}

static void test_addresses_add_up(void **state)
{
    struct options options;
    struct error err = ERROR_INIT;
    char line[] = "--listen stdio -l unix:/x --config f --log-level debug";

    (void)state;
    assert_int_equal(parse(&options, line, &err), 0);
    assert_string_equal(options.addresses[0], "stdio");
    assert_string_equal(options.addresses[1], "unix:/x");
    assert_null(options.addresses[2]);
    assert_string_equal(options.config_path, "f");
    assert_int_equal(options.log_level, LOG_LEVEL_DEBUG);
}

static void test_run_takes_its_options_before_the_file(void **state)
{
    struct options options;
    struct error err = ERROR_INIT;
    char line[] = "--json run -t 2.5 --env science -w here -";

    (void)state;
    assert_int_equal(parse(&options, line, &err), 0);
    assert_int_equal(options.command, COMMAND_RUN);
    assert_string_equal(options.file, "-");
    assert_string_equal(options.environment, "science");
    assert_true(options.timeout == 2.5);
    assert_string_equal(options.working_directory, "here");
    assert_null(options.arguments);
    assert_true(options.json);
}

static void test_what_stands_behind_the_dashes_is_the_scripts(void **state)
{
    struct options options;
    struct error err = ERROR_INIT;
    char line[] = "-c config run x.py -- --json -c -- y";

    (void)state;
    assert_int_equal(parse(&options, line, &err), 0);
    assert_string_equal(options.config_path, "config");
    assert_string_equal(options.file, "x.py");
    assert_false(options.json);
    assert_string_equal(options.arguments[0], "--json");
    assert_string_equal(options.arguments[1], "-c");
    assert_string_equal(options.arguments[2], "--");
    assert_string_equal(options.arguments[3], "y");
    assert_null(options.arguments[4]);
}

static void test_what_follows_the_script_is_the_scripts(void **state)
{
    static const struct {
        const char *line;
        const char *arguments[4];
    } cases[] = {
        {"run x.py --json -c y", {"--json", "-c", "y"}},
        {"run x.py -- -- y", {"--", "y"}},
        {"run - a", {"a"}},
        {"run -c code a --json", {"a", "--json"}},
        {"run -c code -- --json", {"--json"}},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        struct options options;
        struct error err = ERROR_INIT;
        char line[64];

        strcpy(line, cases[i].line);
        assert_int_equal(parse(&options, line, &err), 0);
        assert_false(options.json);
        for (size_t j = 0; cases[i].arguments[j]; j++)
            assert_string_equal(options.arguments[j], cases[i].arguments[j]);
    }
}

static void test_http_is_a_port_of_a_server_and_an_address_for_a_client(void **state)
{
    static const struct {
        const char *line;
        const char *address;
    } cases[] = {
        {"serve --http", "http://127.0.0.1:8808/mcp"},
        {"--http 80 --token-file f", "http://127.0.0.1:80/mcp"},
        {"serve --http=8080", "http://127.0.0.1:8080/mcp"},
        {"serve --http --token-file f", "http://127.0.0.1:8808/mcp"},
    };
    struct options options;
    struct error err = ERROR_INIT;
    char install[] = "install --http http://a/mcp codex";

    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        char line[64];

        strcpy(line, cases[i].line);
        assert_int_equal(parse(&options, line, &err), 0);
        assert_string_equal(options.addresses[0], cases[i].address);
        assert_null(options.addresses[1]);
    }
    assert_int_equal(parse(&options, install, &err), 0);
    assert_string_equal(options.url, "http://a/mcp");
    assert_string_equal(options.client, "codex");
}

static void test_help_and_a_configuration_may_be_named_without_an_option(void **state)
{
    struct options options;
    struct error err = ERROR_INIT;
    char help[] = "help run";
    char all[] = "help";
    char check[] = "--check-config f";

    (void)state;
    assert_int_equal(parse(&options, help, &err), 0);
    assert_int_equal(options.command, COMMAND_HELP);
    assert_string_equal(options.command_name, "run");
    assert_int_equal(parse(&options, all, &err), 0);
    assert_int_equal(options.command, COMMAND_HELP);
    assert_null(options.command_name);
    assert_int_equal(parse(&options, check, &err), 0);
    assert_int_equal(options.command, COMMAND_CHECK_CONFIG);
    assert_string_equal(options.config_path, "f");
}

static void test_c_is_code_behind_run_and_the_configuration_elsewhere(void **state)
{
    struct options options;
    struct error err = ERROR_INIT;
    char run[] = "run -c print(1) --config f";
    char call[] = "call -c f -p gemini";

    (void)state;
    assert_int_equal(parse(&options, run, &err), 0);
    assert_string_equal(options.code, "print(1)");
    assert_string_equal(options.config_path, "f");
    assert_null(options.file);
    assert_int_equal(parse(&options, call, &err), 0);
    assert_null(options.code);
    assert_string_equal(options.config_path, "f");
    assert_string_equal(options.provider, "gemini");
}

static void test_a_wrong_line_still_says_which_command_it_is(void **state)
{
    struct options options;
    struct error err = ERROR_INIT;
    char line[] = "--bogus call x";

    (void)state;
    assert_int_equal(parse(&options, line, &err), -1);
    assert_int_equal(options.command, COMMAND_CALL);
    assert_string_equal(err.message, "unknown option --bogus");
}

static void test_code_is_no_configuration_of_map(void **state)
{
    static char code[] = "def main(n): return n";
    char *argv[] = {(char *)"pyexecd", (char *)"map", (char *)"-c", code, (char *)"in.jsonl", NULL};
    struct options options;
    struct error err = ERROR_INIT;

    (void)state;
    assert_int_equal(options_parse(&options, 4, argv, &err), -1);
    assert_string_equal(err.message, "map: -c is --config, and code is given as FILE");
    error_clear(&err);
    assert_int_equal(options_parse(&options, 5, argv, &err), -1);
    assert_int_equal(err.code, ERROR_USAGE);
    error_clear(&err);
    argv[3] = (char *)"no such file";
    assert_int_equal(options_parse(&options, 5, argv, &err), 0);
}

static void test_help_is_that_of_the_command(void **state)
{
    static const char *const commands[] = {"run",    "map",    "call", "prepare",
                                           "doctor", "schema", "token"};

    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(commands); i++) {
        AUTO_FREE char *line = memory_format("%s --help --bogus", commands[i]);
        AUTO_FREE char *begin = memory_format("Usage: pyexecd %s ", commands[i]);
        struct options options;
        struct error err = ERROR_INIT;

        assert_int_equal(parse(&options, line, &err), 0);
        assert_int_equal(options.command, COMMAND_HELP);
        assert_int_equal(strncmp(help_page(options.command_name), begin, strlen(begin)), 0);
    }
}

static void test_map_takes_a_script_and_inputs(void **state)
{
    struct options options;
    struct error err = ERROR_INIT;
    char whole[] = "map -j 8 -t 2.5 --env science -w here square.py -j9 inputs.jsonl";
    char least[] = "--parallel 2 map square.py";

    (void)state;
    assert_int_equal(parse(&options, whole, &err), 0);
    assert_int_equal(options.command, COMMAND_MAP);
    assert_string_equal(options.file, "square.py");
    assert_string_equal(options.inputs, "inputs.jsonl");
    assert_int_equal(options.parallel, 9);
    assert_true(options.timeout == 2.5);
    assert_string_equal(options.environment, "science");
    assert_string_equal(options.working_directory, "here");
    assert_int_equal(parse(&options, least, &err), 0);
    assert_string_equal(options.inputs, "-");
    assert_int_equal(options.parallel, 2);
}

static void test_token_takes_a_name(void **state)
{
    struct options options;
    struct error err = ERROR_INIT;
    char named[] = "token --json alice";
    char unnamed[] = "token";

    (void)state;
    assert_int_equal(parse(&options, named, &err), 0);
    assert_int_equal(options.command, COMMAND_TOKEN);
    assert_string_equal(options.principal, "alice");
    assert_null(options.file);
    assert_int_equal(parse(&options, unnamed, &err), -1);
    assert_string_equal(err.message, "token: NAME is missing");
}

static void test_prepare_takes_any_number_of_names(void **state)
{
    struct options options;
    struct error err = ERROR_INIT;
    char none[] = "prepare";
    char some[] = "prepare a --json b";

    (void)state;
    assert_int_equal(parse(&options, none, &err), 0);
    assert_null(options.names[0]);
    assert_int_equal(parse(&options, some, &err), 0);
    assert_string_equal(options.names[0], "a");
    assert_string_equal(options.names[1], "b");
    assert_null(options.names[2]);
    assert_true(options.json);
}

static void test_each_command_is_known(void **state)
{
    static const struct {
        const char *line;
        enum command command;
    } cases[] = {
        {"doctor", COMMAND_DOCTOR},
        {"prepare", COMMAND_PREPARE},
        {"schema", COMMAND_SCHEMA},
        {"schema --for gemini", COMMAND_SCHEMA},
        {"--check-config", COMMAND_CHECK_CONFIG},
        {"--help", COMMAND_HELP},
        {"-V", COMMAND_VERSION},
        {"run --help", COMMAND_HELP},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        struct options options;
        struct error err = ERROR_INIT;
        char line[64];

        strcpy(line, cases[i].line);
        assert_int_equal(parse(&options, line, &err), 0);
        assert_int_equal(options.command, cases[i].command);
    }
}

static void test_each_mistake_is_named(void **state)
{
    static const struct {
        const char *line;
        const char *message;
    } cases[] = {
        {"--bogus", "unknown option --bogus"},
        {"-x", "unknown option -x"},
        {"--verison", "unknown option --verison, did you mean --version?"},
        {"run --environment=system x", "unknown option --environment, did you mean --env?"},
        {"run --timeuot 3 x", "unknown option --timeuot, did you mean --timeout?"},
        {"--config", "--config needs an argument"},
        {"-c", "-c needs an argument"},
        {"frobnicate", "unknown command frobnicate"},
        {"frobnicate --help", "unknown command frobnicate"},
        {"scema", "unknown command scema, did you mean schema?"},
        {"run", "run: FILE (- is standard input) or -c CODE is missing"},
        {"run --with", "--with needs an argument"},
        {"run --require docker x", "--require docker: must be sandbox"},
        {"serve --http http://a/mcp", "--http http://a/mcp: must be a port, such as 8808"},
        {"serve --http 0", "--http 0: must be a port, such as 8808"},
        {"serve --http 65536", "--http 65536: must be a port, such as 8808"},
        {"install --http", "--http needs an argument"},
        {"install --client zed codex", "--client zed and codex: name one client"},
        {"help frobnicate", "unknown command frobnicate"},
        {"config", "config: init is missing"},
        {"config show", "config show: must be config init [FILE]"},
        {"--check-config a b", "unexpected argument b"},
        {"doctor -- x", "-- x: only `run` has arguments for a script"},
        {"call x", "unexpected argument x"},
        {"doctor x", "unexpected argument x"},
        {"--json", "--json is not allowed here"},
        {"schema --env x", "--env is not allowed here"},
        {"run --listen stdio x", "--listen is not allowed here"},
        {"run --check-config x", "--check-config is not allowed here"},
        {"run --timeout 0 x", "--timeout 0: must be a number of seconds above 0"},
        {"run --timeout -1 x", "--timeout -1: must be a number of seconds above 0"},
        {"run --timeout nan x", "--timeout nan: must be a number of seconds above 0"},
        {"run --timeout 5s x", "--timeout 5s: must be a number of seconds above 0"},
        {"--log-level loud", "--log-level loud: must be error, warning, info or debug"},
        {"-l1 -l2 -l3 -l4 -l5 -l6 -l7 -l8 -l9 -l10 -l11 -l12 -l13 -l14 -l15 -l16 -l17",
         "--listen is given more than 16 times"},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        struct options options;
        struct error err = ERROR_INIT;
        char line[128];

        strcpy(line, cases[i].line);
        assert_int_equal(parse(&options, line, &err), -1);
        assert_int_equal(err.code, ERROR_USAGE);
        assert_string_equal(err.message, cases[i].message);
    }
}

static void assert_fits_a_terminal(const char *help)
{
    size_t lines = 0;
    size_t column = 0;

    for (; *help; help++) {
        column = *help == '\n' ? 0 : column + 1;
        lines += *help == '\n';
        assert_in_range(column, 0, 90);
    }
    assert_in_range(lines, 1, 24);
}

static void test_the_help_fits_a_terminal(void **state)
{
    (void)state;
    assert_fits_a_terminal(help_page(NULL));
    assert_fits_a_terminal(help_page("run"));
    assert_fits_a_terminal(help_page("map"));
    assert_fits_a_terminal(help_page("call"));
    assert_fits_a_terminal(help_page("serve"));
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_no_argument_means_serve),
        cmocka_unit_test(test_addresses_add_up),
        cmocka_unit_test(test_run_takes_its_options_before_the_file),
        cmocka_unit_test(test_what_stands_behind_the_dashes_is_the_scripts),
        cmocka_unit_test(test_what_follows_the_script_is_the_scripts),
        cmocka_unit_test(test_http_is_a_port_of_a_server_and_an_address_for_a_client),
        cmocka_unit_test(test_help_and_a_configuration_may_be_named_without_an_option),
        cmocka_unit_test(test_c_is_code_behind_run_and_the_configuration_elsewhere),
        cmocka_unit_test(test_a_wrong_line_still_says_which_command_it_is),
        cmocka_unit_test(test_code_is_no_configuration_of_map),
        cmocka_unit_test(test_help_is_that_of_the_command),
        cmocka_unit_test(test_map_takes_a_script_and_inputs),
        cmocka_unit_test(test_token_takes_a_name),
        cmocka_unit_test(test_prepare_takes_any_number_of_names),
        cmocka_unit_test(test_each_command_is_known),
        cmocka_unit_test(test_each_mistake_is_named),
        cmocka_unit_test(test_the_help_fits_a_terminal),
    };

    setvbuf(stdout, NULL, _IOLBF, 0);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
