#include "server/configuration/config.h"

#include "base/cleanup.h"
#include "base/memory.h"
#include "tests/unit/configuration/reading.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

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
        "working_directory: /srv/work\nenvironments: {system: {type: system}, a: {type: venv}}\n",
        "environments: {system: {type: system}, a: {type: docker}}\n",
        "working_directory: /srv/work\nshare_directory_across_isolation: true\n"
        "environments: {system: {type: system}, a: {type: docker}}\n",
        "keep_for: 0\n",
        "timeout: 0.5\n",
        "timeout: 600\n",
        "timeout: 3600\nmax_timeout: 3600\n",
        "http: {allowed_hosts: [mcp.example, \"proxy.example:8443\", \"[2001:db8::1]\"]}\n",
        "http: {allowed_origins: [\"https://a.example\", \"http://localhost:3000\"]}\n",
        "http: {sessions: 1, session_idle: 1}\n",
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
        "environments: {a: {type: system, isolation: sandbox}}\n",
        "environments: {a: {type: venv, isolation: sandbox, require: sandbox, network: false,\n"
        "  read: [/srv, data], write: [/srv/out]}}\n",
        "environments: {a: {type: system, limits: {memory: 2GiB, output: 1KiB}}}\n",
        "environments: {a: {type: system, prepare: eager, prepare_timeout: 5}}\n",
        "environments: {a: {type: venv}}\n",
        "environments: {a: {type: venv, python_version: '3.11', venv_path: /x/y}}\n",
        "environments: {a: {type: venv, python_version: 3.11.7, python_path: bin/python}}\n",
        "environments: {a: {type: venv, pip_packages: [numpy, 'a-b.c_d[x,y] >= 1.0, < 2',\n"
        "  'x==1.*', 'typing-extensions~=4.0; python_version < \"3.12\"'], requirements_file: "
        "r}}\n",
        "environments: {a: {type: venv, pip_index_url: 'https://me:x@y/simple',\n"
        "  pip_find_links: wheels, allow_source_builds: true, system_site_packages: true}}\n",
        "environments: {a: {type: docker}}\n",
        "environments: {a: {type: docker, image: python}}\n",
        "environments: {a: {type: docker, image: 'h.example:5000/a/b__c/d-e.f:1.0-X'}}\n",
        "environments: {a: {type: docker, dockerfile: lab/Dockerfile,\n"
        "  build_args: {A: '1'}, pull: always}}\n",
        "environments: {a: {type: docker, image: python@sha256:"
        "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef}}\n",
        "environments: {a: {type: docker, volumes: {/srv: /data, ./x: {path: /x, mode: rw}}}}\n",
        "environments: {a: {type: docker, network: lab_net-1, user: 1000:1000, gpus: all}}\n",
        "environments: {a: {type: docker, gpus: 2, limits: {cpus: 0.5, memory: 1GiB}}}\n",
        "environments: {a: {type: docker, gpus: ['0', GPU-1], runtime: runsc}}\n",
        "environments: {a: {type: docker, host: 'unix:///run/x.sock', isolation: docker}}\n",
        "environments: {a: {type: docker, host: 'tcp://[::1]:2376',\n"
        "  tls: {ca_file: ca.pem, cert_file: cert.pem, key_file: key.pem}}}\n",
        "environments: {a: {type: docker, cleanup_container: false, container_startup_timeout: 5,\n"
        "  keep_container_running: true, container_name_prefix: lab_}}\n",
        "callers: {}\n",
        "callers: {define_environments: true, allowed_images: ['*'], allowed_paths: [/srv, x]}\n",
        "default_environment: system\n",
        "# comment\n---\ntimeout: 10 # seconds\n...\n",
        "",
        "# only this\n\n",
        "---\n",
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(texts); i++) {
        AUTO_FREE char *errors = errors_of(texts[i]);

        assert_string_equal(errors, "");
    }
}

#define LINES "must be a mapping: lines of KEY: VALUE, with a space after the colon"

static void test_a_wrong_value_is_told_with_its_place(void **state)
{
    static const struct reading readings[] = {
        {"timeout: 10s\n", "1:10: timeout: must be a number of seconds: 10\n"},
        {"timeout: '10'\n", "1:10: timeout: must be a number of seconds: 10\n"},
        {"timeout: yes\n", "1:10: timeout: must be a number of seconds, such as 60, not \"yes\"\n"},
        {"timeout:\n", "1:9: timeout: is empty: write a number of seconds, or leave it out\n"},
        {"timeout: 0\n", "1:10: timeout: must be more than 0, not 0\n"},
        {"timeout: -1\n", "1:10: timeout: must be more than 0, not -1\n"},
        {"timeout: 1e9\n", "1:10: timeout: must be at most 604800, not 1000000000\n"
                           "1:10: timeout: is 1e+09 seconds, more than max_timeout (600)\n"},
        {"timeout: .inf\n",
         "1:10: timeout: must be a number of seconds, such as 60, not \".inf\"\n"},
        {"max_timeout: 1_000\n",
         "1:14: max_timeout: must be a number of seconds, such as 60, not \"1_000\"\n"},
        {"keep_for: -1\n", "1:11: keep_for: must be at least 0, not -1\n"},
        {"keep_for: 1d\n", "1:11: keep_for: must be a number of seconds, such as 60, not \"1d\"\n"},
        {"listen: stdio\n", "1:9: listen: must be a list: [stdio]\n"},
        {"listen: []\n", "1:9: listen: must have at least 1 item, not 0\n"},
        {"listen: [stdio, stdio]\n", "1:9: listen: must not have equal items, as 0 and 1 are\n"},
        {"listen: [1]\n", "1:10: listen.0: must be a string: write \"1\", in quotes\n"},
        {"listen: [https:127.0.0.1:80]\n",
         "1:10: listen.0: an address is stdio, unix:/PATH, tcp:HOST:PORT, "
         "http://HOST:PORT/mcp, https://HOST:PORT/mcp, unix:///PATH#/mcp or systemd\n"},
        {"listen: [\"https://127.0.0.1:80\"]\nauth: none\n",
         "1:10: listen.0: it needs tls: {certificate: FILE, key: FILE}\n"},
        {"listen: [\"unix:x.sock\"]\n",
         "1:10: listen.0: the path of a unix socket must be absolute\n"},
        {"listen: [{tcp: 7000}]\n", "1:10: listen.0: must be a string, not a mapping\n"},
        {"token_file: token\n", "1:13: token_file: must be an absolute path, not \"token\"\n"},
        {"token_file: ~/token\n",
         "1:13: token_file: ~ is not read, write it out: /home/me/token\n"},
        {"auth: token\n", "1:7: auth: must be one of \"none\"\n"},
        {"auth: ~\n", "1:7: auth: must be none, not empty\n"},
        {"working_directory: tmp\n",
         "1:20: working_directory: must be temporary, memory or an absolute path, not \"tmp\"\n"},
        {"working_directory: //\n",
         "1:20: working_directory: must be a directory that runs may fill, not \"//\"\n"},
        {"containment: none\n", "1:14: containment: must be one of \"strict\", \"best-effort\"\n"},
        {"containment: stric\n", "1:14: containment: must be one of \"strict\", \"best-effort\"; "
                                 "did you mean \"strict\"?\n"},
        {"http: {allowed_hosts: [\"http://mcp.example\"]}\n",
         "1:24: http.allowed_hosts.0: must be NAME or NAME:PORT, not \"http://mcp.example\"\n"},
        {"http: {allowed_hosts: [\"*.example\"]}\n",
         "1:24: http.allowed_hosts.0: must be NAME or NAME:PORT, not \"*.example\"\n"},
        {"http: {allowed_origins: [mcp.example]}\n",
         "1:26: http.allowed_origins.0: must be http://NAME or https://NAME, or with :PORT, not "
         "\"mcp.example\"\n"},
        {"limits: 5\n", "1:9: limits: " MAPPING "5\n"},
        {"limits:\n  # memory: 1GiB\n",
         "1:8: limits: is empty: write lines of NAME: value below it, indented, or leave it "
         "out\n"},
        {"[a, b]\n", "1:1: " LINES "\n"},
        {"just text\n", "1:1: " LINES "\n"},
        {"environments: []\n", "1:15: environments: " MAPPING "a list\n"},
        {"environments: {}\n", "1:15: environments: must have at least 1 member, not 0\n"},
        {"environments: {a: python3}\n", "1:19: environments.a: " MAPPING "python3\n"},
    };

    (void)state;
    check_readings(readings, ARRAY_SIZE(readings));
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
        {"limits: {memory: 1.5}\n",
         "1:18: limits.memory: must be at least 16777216, not 1.5\n"
         "1:18: limits.memory: must be a number of bytes or a size such as 512MiB, "
         "1GB or 64KiB, not 1.5\n"},
        {"limits: {memory: 1MiB}\n", "1:18: limits.memory: must be at least 16MiB\n"},
        {"limits: {memory: 1024}\n", "1:18: limits.memory: must be at least 16777216, not 1024\n"},
        {"limits: {memory: 2048TiB}\n",
         "1:18: limits.memory: must be at most 1125899906842624, not 2251799813685248\n"},
        {"limits: {output: 1GiB}\n",
         "1:18: limits.output: must be at most 16777216, not 1073741824\n"},
        {"limits: {disk: 1}\n", "1:16: limits.disk: must be at least 65536, not 1\n"},
        {"limits: {processes: 1KiB}\n", "1:21: limits.processes: must be a number, not \"1KiB\"\n"},
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
    check_readings(readings, ARRAY_SIZE(readings));
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
    check_readings(readings, ARRAY_SIZE(readings));
}

static void test_callers_are_checked(void **state)
{
    static const struct reading readings[] = {
        {"callers: true\n", "1:10: callers: must be a mapping, not true: {} has the defaults\n"},
        {"callers: {define_environments: yes}\n",
         "1:32: callers.define_environments: write true or false, not yes\n"},
        {"callers: {allowed_image: [x]}\n",
         "1:11: callers.allowed_image: unknown key "
         "\"allowed_image\", did you mean \"allowed_images\"?\n"},
        {"callers: {allowed_images: ['python *']}\n",
         "1:28: callers.allowed_images.0: must be an image, with * for any number of characters, "
         "such as python:*, not \"python *\"\n"},
        {"callers: {allowed_paths: [~]}\n",
         "1:27: callers.allowed_paths.0: must be a path, absolute or relative to this file; ~ is "
         "not read, write it out, not null\n"},
    };

    (void)state;
    check_readings(readings, ARRAY_SIZE(readings));
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
        {"default_environment: 5\n",
         "1:22: default_environment: must be a string: write \"5\", in quotes\n"},
        {"listen:\n  - stdio\n  - tcp:127.0.0.1:7000\n",
         "3:5: listen.1: a TCP address needs token_file or oauth, or auth: none, which lets every "
         "user of this machine in\n"},
        {"listen: [\"tcp:0.0.0.0:80\"]\n",
         "1:10: listen.0: other machines can reach it: it needs token_file or oauth\n"},
        {"listen: [\"tcp:[2001:db8::1]:80\"]\nauth: none\n",
         "1:10: listen.0: other machines can reach it: auth: none is for loopback addresses only; "
         "it needs token_file or oauth\n"},
        {"auth: none\ntoken_file: /t\n",
         "1:7: auth: contradicts token_file; give one of the two\n"},
    };

    (void)state;
    check_readings(readings, ARRAY_SIZE(readings));
}

static void test_yaml_faults_do_not_make_others(void **state)
{
    static const struct reading readings[] = {
        {"timeout: [\n", "2:1: did not find expected node content, while parsing a flow node\n"},
        {"timeout: *t\n", "1:10: timeout: alias *t: write the value out, aliases are not read\n"},
        {"limits: &l {memory: 1}\n", "1:9: limits: anchor &l: anchors and aliases are not read\n"},
        {"timeout: !!str 10\n",
         "1:10: timeout: tags are not read, a value has the type it is written as\n"},
        {"timeout: 5\ntimeout: x\nkeep_for: x\n",
         "2:1: timeout: key \"timeout\" is given twice, first in line 1\n"
         "3:11: keep_for: must be a number of seconds, such as 60, not \"x\"\n"},
        {"timeout: 1e999\n", "1:10: timeout: the number is too large\n"},
        {"{}\n---\n{}\n", "2:1: a second document begins here, there can be one\n"},
    };

    (void)state;
    check_readings(readings, ARRAY_SIZE(readings));
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
        "2:17: listen.1: must be a string: write \"5\", in quotes\n"
        "4:11: limits.memory: must be a number of bytes or a size such as 512MiB, 1GB or 64KiB, "
        "not \"lots\"\n"
        "5:14: limits.processes: must be a number, not \"many\"\n"
        "8:11: environments.lab.type: must be one of \"system\", \"venv\", \"docker\"\n"
        "11:17: environments.other.executable: anchor &x: anchors and aliases are not read\n"
        "12:14: environments.other.timeout: is 700 seconds, more than max_timeout (600)\n"
        "13:22: default_environment: no environment is called \"laboratory\"; there are: lab, "
        "other\n",
    };

    (void)state;
    check_readings(&reading, 1);
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

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_what_is_right_has_no_errors),
        cmocka_unit_test(test_a_wrong_value_is_told_with_its_place),
        cmocka_unit_test(test_sizes_are_read_strictly),
        cmocka_unit_test(test_unknown_keys_are_told_at_the_key),
        cmocka_unit_test(test_callers_are_checked),
        cmocka_unit_test(test_keys_are_checked_against_each_other),
        cmocka_unit_test(test_yaml_faults_do_not_make_others),
        cmocka_unit_test(test_all_errors_come_in_the_order_of_the_file),
        cmocka_unit_test(test_of_very_many_errors_the_first_are_told),
        cmocka_unit_test(test_later_complaints_have_their_place),
        cmocka_unit_test(test_complaints_about_defaults_need_no_file),
    };

    setvbuf(stdout, NULL, _IOLBF, 0);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
