#include "server/config.h"

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

#include "base/fd.h"
#include "base/json.h"
#include "base/memory.h"

/* A configuration and the errors in it, without "c.yaml:" in front of each line. */
struct reading {
    const char *text;
    const char *errors;
};

/* What is wrong with TEXT. Owned by the caller. */
static char *errors_of(const char *text)
{
    struct config *config = config_parse("", text, strlen(text));
    AUTO_FREE char *errors = config_error_text(config);
    char *result = memory_copy_string("");

    assert_int_equal(config_has_errors(config), *errors != '\0');
    config_free(config);
    for (const char *line = errors; *line; line = strchr(line, '\n') + 1) {
        AUTO_FREE char *before = result;

        assert_int_equal(*line, ':');
        result = memory_format("%s%.*s", before, (int)strcspn(line + 1, "\n") + 1, line + 1);
    }
    return result;
}

static void check(const struct reading *readings, size_t count)
{
    size_t wrong = 0;

    for (size_t i = 0; i < count; i++) {
        AUTO_FREE char *errors = errors_of(readings[i].text);

        if (strcmp(errors, readings[i].errors) == 0)
            continue;
        print_error("%s--- has the errors\n%s--- not\n%s\n", readings[i].text, errors,
                    readings[i].errors);
        wrong++;
    }
    assert_int_equal(wrong, 0);
}

#define COUNT(ARRAY) (sizeof(ARRAY) / sizeof *(ARRAY))

static void test_what_is_right_has_no_errors(void **state)
{
    static const char *const texts[] = {
        "{}\n",
        "listen: [stdio]\n",
        "listen: [\"unix:/run/x.sock\", \"tcp:127.0.0.1:7000\", systemd]\nauth: none\n",
        "listen: [\"tcp:[::1]:0\"]\ntoken_file: /etc/token\n",
        "token_file: /etc/token\n",
        "auth: none\n",
        "working_directory: temporary\n",
        "working_directory: memory\n",
        "working_directory: /srv/work\n",
        "keep_for: 0\n",
        "timeout: 0.5\n",
        "timeout: 600\n",
        "timeout: 3600\nmax_timeout: 3600\n",
        "limits: {}\n",
        "limits: {memory: 512MiB, disk: 10 GB, output: 64KiB, processes: 1}\n",
        "limits: {memory: 1073741824, output: \"4096\"}\n",
        "limits: {concurrent_runs: 256, queued_runs: 0}\n",
        "containment: best-effort\n",
        "environments: {system: {type: system}}\n",
        "environments: {a.b-c_D9: {type: system, executable: /usr/bin/python3}}\n",
        "environments: {a: {type: system}, b: {type: system}}\ndefault_environment: b\n",
        "environments: {a: {type: system}, system: {type: system}}\n",
        "environments: {a: {type: system, timeout: 5, max_timeout: 5}}\n",
        "environments: {a: {type: system, environment: {A: x, _b1: ''}, isolation: none}}\n",
        "environments: {a: {type: system, limits: {memory: 2GiB, output: 1KiB}}}\n",
        "default_environment: system\n",
        "# comment\n---\ntimeout: 10 # seconds\n...\n",
    };

    (void)state;
    for (size_t i = 0; i < COUNT(texts); i++) {
        AUTO_FREE char *errors = errors_of(texts[i]);

        assert_string_equal(errors, "");
    }
}

static void test_a_wrong_value_is_told_with_its_place(void **state)
{
    static const struct reading readings[] = {
        {"timeout: 10s\n", "1:10: timeout: must be number, not string\n"},
        {"timeout: '10'\n", "1:10: timeout: must be number, not string\n"},
        {"timeout: yes\n", "1:10: timeout: must be number, not string\n"},
        {"timeout:\n", "1:9: timeout: must be number, not null\n"},
        {"timeout: 0\n", "1:10: timeout: must be more than 0, not 0\n"},
        {"timeout: -1\n", "1:10: timeout: must be more than 0, not -1\n"},
        {"timeout: 1e9\n", "1:10: timeout: must be at most 604800, not 1000000000\n"
                           "1:10: timeout: is 1e+09 seconds, more than max_timeout (600)\n"},
        {"timeout: .inf\n", "1:10: timeout: must be number, not string\n"},
        {"max_timeout: 1_000\n", "1:14: max_timeout: must be number, not string\n"},
        {"keep_for: -1\n", "1:11: keep_for: must be at least 0, not -1\n"},
        {"keep_for: 1d\n", "1:11: keep_for: must be number, not string\n"},
        {"listen: stdio\n", "1:9: listen: must be array, not string\n"},
        {"listen: []\n", "1:9: listen: must have at least 1 item, not 0\n"},
        {"listen: [stdio, stdio]\n", "1:9: listen: must not have equal items, as 0 and 1 are\n"},
        {"listen: [1]\n", "1:10: listen.0: must be string, not integer\n"},
        {"listen: [http://127.0.0.1:80]\n",
         "1:10: listen.0: an address is stdio, unix:/PATH, tcp:HOST:PORT or systemd\n"},
        {"listen: [\"unix:x.sock\"]\n",
         "1:10: listen.0: the path of a unix socket must be absolute\n"},
        {"listen: [\"tcp:0.0.0.0:80\"]\nauth: none\n",
         "1:10: listen.0: 0.0.0.0 is not a loopback address: the server lets only its own machine "
         "in; for others put a proxy that authenticates in front of it\n"},
        {"listen: [{tcp: 7000}]\n", "1:10: listen.0: must be string, not object\n"},
        {"token_file: token\n", "1:13: token_file: must be an absolute path, not \"token\"\n"},
        {"token_file: ~/token\n", "1:13: token_file: must be an absolute path, not \"~/token\"\n"},
        {"auth: token\n", "1:7: auth: must be one of \"none\"\n"},
        {"auth: ~\n", "1:7: auth: must be string, not null\n"
                      "1:7: auth: must be one of \"none\"\n"},
        {"working_directory: tmp\n",
         "1:20: working_directory: must be temporary, memory or an absolute path, not \"tmp\"\n"},
        {"working_directory: //\n",
         "1:20: working_directory: must be a directory that runs may fill, not \"//\"\n"},
        {"containment: none\n", "1:14: containment: must be one of \"strict\", \"best-effort\"\n"},
        {"containment: stric\n", "1:14: containment: must be one of \"strict\", \"best-effort\"; "
                                 "did you mean \"strict\"?\n"},
        {"limits: 5\n", "1:9: limits: must be object, not integer\n"},
        {"limits:\n  # memory: 1GiB\n", "1:8: limits: must be object, not null\n"},
        {"[a, b]\n", "1:1: must be object, not array\n"},
        {"just text\n", "1:1: must be object, not string\n"},
        {"environments: []\n", "1:15: environments: must be object, not array\n"},
        {"environments: {}\n", "1:15: environments: must have at least 1 member, not 0\n"},
        {"environments: {a: python3}\n", "1:19: environments.a: must be object, not string\n"},
    };

    (void)state;
    check(readings, COUNT(readings));
}

static void test_sizes_are_read_strictly(void **state)
{
#define SIZE "must be a number of bytes or a size such as 512MiB, 1GB or 64KiB, not "
    static const struct reading readings[] = {
        {"limits: {memory: lots}\n", "1:18: limits.memory: " SIZE "\"lots\"\n"},
        {"limits: {memory: 512M}\n", "1:18: limits.memory: " SIZE "\"512M\"\n"},
        {"limits: {memory: 512mib}\n", "1:18: limits.memory: " SIZE "\"512mib\"\n"},
        {"limits: {memory: 1.5GiB}\n", "1:18: limits.memory: " SIZE "\"1.5GiB\"\n"},
        {"limits: {memory: -1GiB}\n", "1:18: limits.memory: " SIZE "\"-1GiB\"\n"},
        {"limits: {memory: ''}\n", "1:18: limits.memory: " SIZE "\"\"\n"},
        {"limits: {memory: 1  GiB}\n", "1:18: limits.memory: " SIZE "\"1  GiB\"\n"},
        {"limits: {memory: 1000000000000000GiB}\n",
         "1:18: limits.memory: " SIZE "\"1000000000000000GiB\"\n"},
        {"limits: {memory: 999999999999999TiB}\n",
         "1:18: limits.memory: " SIZE "\"999999999999999TiB\"\n"},
        {"limits: {memory: 0x10000000}\n", "1:18: limits.memory: " SIZE "\"0x10000000\"\n"},
        {"limits: {memory: 1.5}\n", "1:18: limits.memory: must be at least 16777216, not 1.5\n"
                                    "1:18: limits.memory: must be integer or string, not 1.5\n"},
        {"limits: {memory: 1MiB}\n",
         "1:18: limits.memory: must be at least 16777216, not 1048576\n"},
        {"limits: {memory: 1024}\n", "1:18: limits.memory: must be at least 16777216, not 1024\n"},
        {"limits: {memory: 2048TiB}\n",
         "1:18: limits.memory: must be at most 1125899906842624, not 2251799813685248\n"},
        {"limits: {output: 1GiB}\n",
         "1:18: limits.output: must be at most 16777216, not 1073741824\n"},
        {"limits: {disk: 1}\n", "1:16: limits.disk: must be at least 65536, not 1\n"},
        {"limits: {processes: 1KiB}\n", "1:21: limits.processes: must be integer, not string\n"},
        {"limits: {processes: 0}\n", "1:21: limits.processes: must be at least 1, not 0\n"},
        {"limits: {processes: 2.5}\n", "1:21: limits.processes: must be integer, not 2.5\n"},
        {"limits: {concurrent_runs: 0}\n",
         "1:27: limits.concurrent_runs: must be at least 1, not 0\n"},
        {"limits: {queued_runs: -1}\n", "1:23: limits.queued_runs: must be at least 0, not -1\n"},
        {"environments: {a: {type: system, limits: {memory: big}}}\n",
         "1:51: environments.a.limits.memory: " SIZE "\"big\"\n"},
    };
#undef SIZE

    (void)state;
    check(readings, COUNT(readings));
}

static void test_unknown_keys_are_told_at_the_key(void **state)
{
    static const struct reading readings[] = {
        {"timeuot: 10\n", "1:1: timeuot: unknown key \"timeuot\", did you mean \"timeout\"?\n"},
        {"<<: {}\n", "1:1: <<: unknown key \"<<\"\n"},
        {"\"\": 1\n", "1:1: unknown key \"\"\n"},
        {"limits: {memry: 1GiB}\n",
         "1:10: limits.memry: unknown key \"memry\", did you mean \"memory\"?\n"},
        {"environments:\n  a:\n    type: system\n    path: /x\n",
         "4:5: environments.a.path: unknown key \"path\"\n"},
        {"environments: {a: {type: system, limits: {concurrent_runs: 1}}}\n",
         "1:43: environments.a.limits.concurrent_runs: unknown key \"concurrent_runs\"\n"},
        {"Timeout: 10\n", "1:1: Timeout: unknown key \"Timeout\", did you mean \"timeout\"?\n"},
    };

    (void)state;
    check(readings, COUNT(readings));
}

static void test_environments_are_checked(void **state)
{
    static const struct reading readings[] = {
        {"environments: {a: {executable: /usr/bin/python3}}\n",
         "1:19: environments.a: is missing \"type\"\n"},
        {"environments:\n  a:\n    type: venv\n    venv_path: /x\n",
         "3:11: environments.a.type: no kind of environment is called \"venv\"; this version "
         "knows: system\n"},
        {"environments:\n  box: {type: docker, image: python, timeout: no}\n"
         "default_environment: box\n",
         "2:15: environments.box.type: no kind of environment is called \"docker\"; this version "
         "knows: system\n"},
        {"environments: {a: {type: 1}}\n", "1:26: environments.a.type: must be \"system\"\n"},
        {"environments: {a: {type: system, executable: python3}}\n",
         "1:46: environments.a.executable: must be an absolute path, not \"python3\"\n"},
        {"environments: {a: {type: system, isolation: sandbox}}\n",
         "1:45: environments.a.isolation: must be one of \"auto\", \"none\"\n"},
        {"environments: {\"a b\": {type: system}}\n",
         "1:16: environments.a b: must be a name of 1 to 64 letters, digits, dots, - and _, not "
         "\"a b\"\n"},
        {"environments: {\"\": {type: system}}\n",
         "1:16: environments.: must be a name of 1 to 64 letters, digits, dots, - and _, not "
         "\"\"\n"},
        {"environments: {a/b: {type: venv}}\n",
         "1:16: environments.a/b: must be a name of 1 to 64 letters, digits, dots, - and _, not "
         "\"a/b\"\n"
         "1:28: environments.a/b.type: no kind of environment is called \"venv\"; this version "
         "knows: system\n"},
        {"environments: {a: {type: system, environment: {LD_PRELOAD: x}}}\n",
         "1:48: environments.a.environment.LD_PRELOAD: LD_PRELOAD would change how every program "
         "is loaded\n"},
        {"environments: {a: {type: system, environment: {1A: x}}}\n",
         "1:48: environments.a.environment.1A: must be a name of letters, digits and _ that begins "
         "with no digit, not \"1A\"\n"},
        {"environments: {a: {type: system, environment: {A: 1, B=C: x}}}\n",
         "1:51: environments.a.environment.A: must be string, not integer\n"
         "1:54: environments.a.environment.B=C: must be a name of letters, digits and _ that "
         "begins with no digit, not \"B=C\"\n"},
    };

    (void)state;
    check(readings, COUNT(readings));
}

static void test_keys_are_checked_against_each_other(void **state)
{
    static const struct reading readings[] = {
        {"timeout: 601\n", "1:10: timeout: is 601 seconds, more than max_timeout (600)\n"},
        {"max_timeout: 29.5\n", "1:14: max_timeout: is 29.5 seconds, less than timeout (30)\n"},
        {"max_timeout: 10\ntimeout: 20\n",
         "2:10: timeout: is 20 seconds, more than max_timeout (10)\n"},
        {"environments: {a: {type: system, timeout: 700}}\n",
         "1:43: environments.a.timeout: is 700 seconds, more than max_timeout (600)\n"},
        {"environments: {a: {type: system, max_timeout: 7}}\n",
         "1:47: environments.a.max_timeout: is 7 seconds, less than timeout (30)\n"},
        {"default_environment: lab\n",
         "1:22: default_environment: no environment is called \"lab\"; there are: system\n"},
        {"default_environment: c\nenvironments: {a: {type: system}, b: {type: system}}\n",
         "1:22: default_environment: no environment is called \"c\"; there are: a, b\n"},
        {"environments: {a: {type: system}, b: {type: system}}\n",
         "1:15: environments: default_environment is needed: one of a, b\n"},
        {"default_environment: 5\n", "1:22: default_environment: must be string, not integer\n"},
        {"listen:\n  - stdio\n  - tcp:127.0.0.1:7000\n",
         "3:5: listen.1: a TCP address needs token_file, or auth: none which lets every local user "
         "in\n"},
        {"auth: none\ntoken_file: /t\n",
         "1:7: auth: contradicts token_file; give one of the two\n"},
    };

    (void)state;
    check(readings, COUNT(readings));
}

static void test_yaml_faults_do_not_make_others(void **state)
{
    static const struct reading readings[] = {
        {"", "1:1: the file is empty; {} stands for all the defaults\n"},
        {"timeout: [\n", "2:1: did not find expected node content, while parsing a flow node\n"},
        {"timeout: *t\n", "1:10: timeout: alias *t: write the value out, aliases are not read\n"},
        {"limits: &l {memory: 1}\n", "1:9: limits: anchor &l: anchors and aliases are not read\n"},
        {"timeout: !!str 10\n",
         "1:10: timeout: tags are not read, a value has the type it is written as\n"},
        {"timeout: 5\ntimeout: x\nkeep_for: x\n",
         "2:1: timeout: key \"timeout\" is given twice, first in line 1\n"
         "3:11: keep_for: must be number, not string\n"},
        {"timeout: 1e999\n", "1:10: timeout: the number is too large\n"},
        {"{}\n---\n{}\n", "2:1: a second document begins here, there can be one\n"},
    };

    (void)state;
    check(readings, COUNT(readings));
}

static void test_all_errors_come_in_the_order_of_the_file(void **state)
{
    static const struct reading reading = {
        "timeuot: 10\n"
        "listen: [stdio, 5]\n"
        "limits:\n"
        "  memory: lots\n"
        "  processes: many\n"
        "environments:\n"
        "  lab:\n"
        "    type: conda\n"
        "  other:\n"
        "    type: system\n"
        "    executable: &x python\n"
        "    timeout: 700\n"
        "default_environment: laboratory\n",
        "1:1: timeuot: unknown key \"timeuot\", did you mean \"timeout\"?\n"
        "2:17: listen.1: must be string, not integer\n"
        "4:11: limits.memory: must be a number of bytes or a size such as 512MiB, 1GB or 64KiB, "
        "not \"lots\"\n"
        "5:14: limits.processes: must be integer, not string\n"
        "8:11: environments.lab.type: no kind of environment is called \"conda\"; this version "
        "knows: system\n"
        "11:17: environments.other.executable: anchor &x: anchors and aliases are not read\n"
        "11:17: environments.other.executable: must be an absolute path, not \"python\"\n"
        "12:14: environments.other.timeout: is 700 seconds, more than max_timeout (600)\n"
        "13:22: default_environment: no environment is called \"laboratory\"; there are: lab, "
        "other\n",
    };

    (void)state;
    check(&reading, 1);
}

static void test_of_very_many_errors_the_first_are_told(void **state)
{
    AUTO_FREE char *text = memory_copy_string("");
    struct config *config;
    AUTO_FREE char *errors = NULL;
    size_t lines = 0;

    (void)state;
    for (int i = 0; i < 120; i++) {
        AUTO_FREE char *before = text;

        text = memory_format("%skey%d: 1\n", before, i);
    }
    config = config_parse("c.yaml", text, strlen(text));
    errors = config_error_text(config);
    for (const char *at = errors; (at = strchr(at, '\n')); at++)
        lines++;
    assert_int_equal(lines, 51);
    assert_string_equal(strstr(errors, "..."), "... and more errors\n");
    config_free(config);
}

/* The tree of TEXT as JSON. Owned by the caller. */
static char *tree_of(const char *text)
{
    struct config *config = config_parse("c.yaml", text, strlen(text));
    char *json;

    assert_false(config_has_errors(config));
    json = json_text(config_tree(config));
    config_free(config);
    return json;
}

static void test_defaults_are_filled_in(void **state)
{
    static const char expected[] =
        "{\"listen\":[\"stdio\"],\"working_directory\":\"temporary\",\"keep_for\":86400,"
        "\"timeout\":30,\"max_timeout\":600,"
        "\"limits\":{\"memory\":536870912,\"processes\":64,\"disk\":1073741824,\"output\":1048576,"
        "\"concurrent_runs\":4,\"queued_runs\":64},"
        "\"containment\":\"strict\","
        "\"environments\":{\"system\":{\"type\":\"system\",\"isolation\":\"auto\"}},"
        "\"default_environment\":\"system\"}";
    struct config *config = config_load(NULL);
    AUTO_FREE char *without_file = json_text(config_tree(config));
    AUTO_FREE char *of_empty_mapping = tree_of("{}");

    (void)state;
    assert_string_equal(without_file, expected);
    assert_string_equal(of_empty_mapping, expected);
    assert_false(config_has_errors(config));
    assert_false(config_is_missing(config));
    assert_null(config_path(config));
    config_free(config);
}

static void test_what_is_written_stays(void **state)
{
    AUTO_FREE char *tree = tree_of("limits: {memory: 1 GB, output: 2048B, processes: 1e2}\n"
                                   "timeout: 0.5\n"
                                   "environments: {only: {type: system, limits: {disk: 1TiB}}}\n");

    (void)state;
    assert_string_equal(
        tree, "{\"limits\":{\"memory\":1000000000,\"output\":2048,\"processes\":100,"
              "\"disk\":1073741824,\"concurrent_runs\":4,\"queued_runs\":64},"
              "\"timeout\":0.5,"
              "\"environments\":{\"only\":{\"type\":\"system\",\"limits\":{\"disk\":1099511627776},"
              "\"isolation\":\"auto\"}},"
              "\"listen\":[\"stdio\"],\"working_directory\":\"temporary\",\"keep_for\":86400,"
              "\"max_timeout\":600,\"containment\":\"strict\",\"default_environment\":\"only\"}");
}

static void test_later_complaints_have_their_place(void **state)
{
    static const char text[] = "timeout: 5\nenvironments:\n  a:\n    type: system\n";
    struct config *config = config_parse("c.yaml", text, strlen(text));
    AUTO_FREE char *errors = NULL;

    (void)state;
    config_complain(config, "is not there", "/environments/%s/executable", "a");
    config_complain(config, "is too short", "/timeout");
    config_complain(config, "cannot be made", "/limits/%s", "memory");
    errors = config_error_text(config);
    assert_true(config_has_errors(config));
    assert_string_equal(errors, "c.yaml:1:1: limits.memory: cannot be made\n"
                                "c.yaml:1:10: timeout: is too short\n"
                                "c.yaml:4:5: environments.a.executable: is not there\n");
    config_free(config);
}

static void test_complaints_about_defaults_need_no_file(void **state)
{
    struct config *config = config_load(NULL);
    AUTO_FREE char *errors = NULL;

    (void)state;
    config_complain(config, "no python3 on PATH", "/environments/%s", "system");
    errors = config_error_text(config);
    assert_string_equal(errors, "environments.system: no python3 on PATH\n");
    config_free(config);
}

/* A new directory; owned by the caller, who removes it with remove_directory. */
static char *make_directory(void)
{
    char *path =
        memory_format("%s/test_config.XXXXXX", getenv("TMPDIR") ? getenv("TMPDIR") : "/tmp");

    assert_non_null(mkdtemp(path));
    return path;
}

static char *write_file(const char *directory, const char *name, const char *text)
{
    struct error err = ERROR_INIT;
    char *path = memory_format("%s/%s", directory, name);
    FILE *file;

    *strrchr(path, '/') = '\0';
    assert_int_equal(fd_make_directories(path, 0700, &err), 0);
    path[strlen(path)] = '/';
    file = fopen(path, "w");
    assert_non_null(file);
    fputs(text, file);
    fclose(file);
    return path;
}

static void load_and_expect(const char *path, const char *format)
{
    struct config *config = config_load(path);
    AUTO_FREE char *errors = config_error_text(config);
    AUTO_FREE char *expected = memory_format("%s: %s", path, format);

    assert_string_equal(errors, *format ? expected : "");
    assert_string_equal(config_path(config), path);
    config_free(config);
}

static void test_a_file_that_others_may_write_is_refused(void **state)
{
    AUTO_FREE char *directory = make_directory();
    AUTO_FREE char *path = write_file(directory, "config.yaml", "timeout: 5\n");
    static const struct {
        mode_t mode;
        const char *refused; /* as messages print the mode, or NULL */
    } cases[] = {
        {0600, NULL}, {0644, NULL}, {0444, NULL}, {0660, "0660"}, {0664, "0664"}, {0602, "0602"},
    };

    (void)state;
    for (size_t i = 0; i < COUNT(cases); i++) {
        AUTO_FREE char *expected = NULL;

        assert_int_equal(chmod(path, cases[i].mode), 0);
        if (cases[i].refused)
            expected = memory_format("group or others may write it (mode %s), and it decides what "
                                     "is executed; chmod go-w %s\n",
                                     cases[i].refused, path);
        load_and_expect(path, expected ? expected : "");
    }
    unlink(path);
    rmdir(directory);
}

static void test_a_missing_file_can_be_told_from_a_wrong_one(void **state)
{
    AUTO_FREE char *directory = make_directory();
    AUTO_FREE char *path = memory_format("%s/config.yaml", directory);
    struct config *missing = config_load(path);
    struct config *wrong = config_load(directory);

    (void)state;
    assert_true(config_has_errors(missing));
    assert_true(config_is_missing(missing));
    assert_true(config_has_errors(wrong));
    assert_false(config_is_missing(wrong));
    config_free(missing);
    config_free(wrong);
    load_and_expect(path, "cannot be opened: No such file or directory\n");
    rmdir(directory);
}

static void test_a_large_file_is_not_read(void **state)
{
    AUTO_FREE char *directory = make_directory();
    AUTO_FREE char *path = write_file(directory, "config.yaml", "");

    (void)state;
    assert_int_equal(truncate(path, 300000), 0);
    load_and_expect(path, "is larger than 262144 bytes\n");
    unlink(path);
    rmdir(directory);
}

static void expect_found(const char *expected)
{
    AUTO_FREE char *found = config_find();

    if (expected)
        assert_string_equal(found, expected);
    else if (found) /* this machine may have one in /etc */
        assert_string_equal(found, "/etc/pyexecd/config.yaml");
}

static void test_the_file_is_found_in_order(void **state)
{
    AUTO_FREE char *directory = make_directory();
    AUTO_FREE char *in_home = write_file(directory, ".config/pyexecd/config.yaml", "{}\n");
    AUTO_FREE char *in_xdg = write_file(directory, "xdg/pyexecd/config.yaml", "{}\n");
    AUTO_FREE char *xdg = memory_format("%s/xdg", directory);
    AUTO_FREE char *nowhere = memory_format("%s/nowhere", directory);

    (void)state;
    setenv("HOME", directory, 1);
    setenv("XDG_CONFIG_HOME", xdg, 1);
    setenv("PYEXECD_CONFIG", nowhere, 1);
    expect_found(nowhere);
    setenv("PYEXECD_CONFIG", "", 1);
    expect_found(in_xdg);
    setenv("XDG_CONFIG_HOME", "relative", 1);
    expect_found(in_home);
    unsetenv("XDG_CONFIG_HOME");
    unsetenv("PYEXECD_CONFIG");
    expect_found(in_home);
    setenv("XDG_CONFIG_HOME", nowhere, 1);
    expect_found(NULL);
    unsetenv("XDG_CONFIG_HOME");
    unsetenv("HOME");
    expect_found(NULL);
    unlink(in_home);
    unlink(in_xdg);
    assert_int_equal(chdir(directory), 0);
    assert_int_equal(rmdir(".config/pyexecd") | rmdir(".config"), 0);
    assert_int_equal(rmdir("xdg/pyexecd") | rmdir("xdg"), 0);
    rmdir(directory);
}

/* A file of the source tree; owned by the caller. */
static char *read_source(const char *name)
{
    AUTO_FREE char *path = memory_format("%s/%s", getenv("SOURCE_ROOT"), name);
    struct error err = ERROR_INIT;
    size_t length;
    char *text = fd_read_file(path, 1024 * 1024, &length, &err);

    if (!text)
        fail_msg("%s", err.message);
    return text;
}

static void test_the_sample_is_right(void **state)
{
    AUTO_FREE char *sample = NULL;
    AUTO_FREE char *errors = NULL;

    (void)state;
    if (!getenv("SOURCE_ROOT"))
        skip();
    sample = read_source("examples/config.yaml");
    errors = errors_of(sample);
    assert_string_equal(errors, "");
}

static void test_what_the_document_shows_is_right(void **state)
{
    static const char opening[] = "```yaml\n";
    AUTO_FREE char *document = NULL;
    size_t shown = 0;

    (void)state;
    if (!getenv("SOURCE_ROOT"))
        skip();
    document = read_source("docs/configuration.md");
    for (char *block = document; (block = strstr(block, opening)); shown++) {
        char *end = strstr(block, "```\n\n");
        AUTO_FREE char *text = NULL;
        AUTO_FREE char *errors = NULL;

        assert_non_null(end);
        block += strlen(opening);
        text = strndup(block, (size_t)(end - block));
        if (*text == '#') /* the line for editors alone: a file of comments is empty */
            continue;
        errors = errors_of(text);
        assert_string_equal(errors, "");
    }
    assert_true(shown > 5);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_what_is_right_has_no_errors),
        cmocka_unit_test(test_a_wrong_value_is_told_with_its_place),
        cmocka_unit_test(test_sizes_are_read_strictly),
        cmocka_unit_test(test_unknown_keys_are_told_at_the_key),
        cmocka_unit_test(test_environments_are_checked),
        cmocka_unit_test(test_keys_are_checked_against_each_other),
        cmocka_unit_test(test_yaml_faults_do_not_make_others),
        cmocka_unit_test(test_all_errors_come_in_the_order_of_the_file),
        cmocka_unit_test(test_of_very_many_errors_the_first_are_told),
        cmocka_unit_test(test_defaults_are_filled_in),
        cmocka_unit_test(test_what_is_written_stays),
        cmocka_unit_test(test_later_complaints_have_their_place),
        cmocka_unit_test(test_complaints_about_defaults_need_no_file),
        cmocka_unit_test(test_a_file_that_others_may_write_is_refused),
        cmocka_unit_test(test_a_missing_file_can_be_told_from_a_wrong_one),
        cmocka_unit_test(test_a_large_file_is_not_read),
        cmocka_unit_test(test_the_file_is_found_in_order),
        cmocka_unit_test(test_the_sample_is_right),
        cmocka_unit_test(test_what_the_document_shows_is_right),
    };

    setvbuf(stdout, NULL, _IOLBF, 0);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
