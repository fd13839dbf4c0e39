#include "server/configuration/config.h"

#include "base/fd.h"
#include "base/json.h"
#include "base/memory.h"

#include <glob.h>
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

#define OBJECT "must be an object: {NAME: value}, or lines of NAME: value, not "
#define LINES  "must be an object: lines of KEY: VALUE, with a space after the colon"

static void test_a_wrong_value_is_told_with_its_place(void **state)
{
    static const struct reading readings[] = {
        {"timeout: 10s\n", "1:10: timeout: must be a number of seconds: 10\n"},
        {"timeout: '10'\n", "1:10: timeout: must be a number of seconds: 10\n"},
        {"timeout: yes\n", "1:10: timeout: must be a number of seconds, such as 60, not \"yes\"\n"},
        {"timeout:\n", "1:9: timeout: must be number, not null\n"},
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
         "1:10: listen.0: it needs a certificate: see tls\n"},
        {"listen: [\"unix:x.sock\"]\n",
         "1:10: listen.0: the path of a unix socket must be absolute\n"},
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
        {"http: {allowed_hosts: [\"http://mcp.example\"]}\n",
         "1:24: http.allowed_hosts.0: must be NAME or NAME:PORT, not \"http://mcp.example\"\n"},
        {"http: {allowed_hosts: [\"*.example\"]}\n",
         "1:24: http.allowed_hosts.0: must be NAME or NAME:PORT, not \"*.example\"\n"},
        {"http: {allowed_origins: [mcp.example]}\n",
         "1:26: http.allowed_origins.0: must be http://NAME or https://NAME, or with :PORT, not "
         "\"mcp.example\"\n"},
        {"limits: 5\n", "1:9: limits: " OBJECT "integer\n"},
        {"limits:\n  # memory: 1GiB\n", "1:8: limits: " OBJECT "null\n"},
        {"[a, b]\n", "1:1: " LINES "\n"},
        {"just text\n", "1:1: " LINES "\n"},
        {"environments: []\n", "1:15: environments: " OBJECT "a list\n"},
        {"environments: {}\n", "1:15: environments: must have at least 1 member, not 0\n"},
        {"environments: {a: python3}\n", "1:19: environments.a: " OBJECT "string\n"},
    };

    (void)state;
    check(readings, ARRAY_SIZE(readings));
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
    check(readings, ARRAY_SIZE(readings));
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
    check(readings, ARRAY_SIZE(readings));
}

static void test_environments_are_checked(void **state)
{
    static const struct reading readings[] = {
        {"environments: {a: {executable: /usr/bin/python3}}\n",
         "1:19: environments.a: is missing \"type\"\n"},
        {"environments:\n  a:\n    type: conda\n    venv_path: /x\n",
         "3:11: environments.a.type: must be one of \"system\", \"venv\", \"docker\"\n"},
        {"environments: {a: {type: dokcer, image: 5}}\n",
         "1:26: environments.a.type: must be one of \"system\", \"venv\", \"docker\"; did you mean "
         "\"docker\"?\n"},
        {"environments: {a: {type: 1}}\n",
         "1:26: environments.a.type: must be one of \"system\", \"venv\", \"docker\"\n"},
        {"environments:\n  box: {type: docker, image: python, timeout: no}\n"
         "default_environment: box\n",
         "2:47: environments.box.timeout: must be a number of seconds, such as 60, not \"no\"\n"},
        {"environments: {a: {type: system, executable: python3}}\n",
         "1:46: environments.a.executable: must be the path of a program, with a /; ~ is not read, "
         "write "
         "it out, not "
         "\"python3\"\n"},
        {"working_directory: /srv/work\n"
         "environments: {system: {type: system}, v: {type: venv}, a: {type: docker}}\n",
         "1:20: working_directory: is for environments of different isolation (none: system, v; "
         "docker: a), so a script in a container can leave code there that others import and "
         "execute on this machine; share_directory_across_isolation: true allows that\n"},
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
         "\"a/b\"\n"},
        {"environments: {a: {type: system, environment: {LD_PRELOAD: x}}}\n",
         "1:48: environments.a.environment.LD_PRELOAD: LD_PRELOAD would change how every program "
         "is loaded\n"},
        {"environments: {a: {type: system, environment: {1A: x}}}\n",
         "1:48: environments.a.environment.1A: must be a name of letters, digits and _ that begins "
         "with no digit, not \"1A\"\n"},
        {"environments: {a: {type: system, environment: {A: 1, B=C: x}}}\n",
         "1:51: environments.a.environment.A: must be a string: write \"1\", in quotes\n"
         "1:54: environments.a.environment.B=C: must be a name of letters, digits and _ that "
         "begins with no digit, not \"B=C\"\n"},
    };

    (void)state;
    check(readings, ARRAY_SIZE(readings));
}

static void test_keys_of_another_type_are_told_from_misspelt_ones(void **state)
{
    static const struct reading readings[] = {
        {"environments:\n  a:\n    type: system\n    image: x\n    pip_packages: [numpy]\n",
         "4:5: environments.a.image: is a key of type docker, not of system\n"
         "5:5: environments.a.pip_packages: is a key of type venv or docker, not of system\n"},
        {"environments: {a: {type: venv, executable: /x/python3, network: host}}\n",
         "1:32: environments.a.executable: is a key of type system, not of venv\n"
         "1:56: environments.a.network: is a key of type docker, not of venv\n"},
        {"environments: {a: {type: docker, venv_path: /x}}\n",
         "1:34: environments.a.venv_path: is a key of type venv, not of docker\n"},
        {"environments: {a: {type: venv, pip_package: [numpy]}}\n",
         "1:32: environments.a.pip_package: unknown key \"pip_package\", did you mean "
         "\"pip_packages\"?\n"},
        {"environments: {a: {type: docker, limits: {cpu: 2}}}\n",
         "1:43: environments.a.limits.cpu: unknown key \"cpu\", did you mean \"cpus\"?\n"},
        {"environments: {a: {type: docker, volumes: {/x: {paths: /y}}}}\n",
         "1:48: environments.a.volumes./x: is missing \"path\"\n"
         "1:49: environments.a.volumes./x.paths: unknown key \"paths\", did you mean \"path\"?\n"},
        {"environments: {a: {image: x}}\n", "1:19: environments.a: is missing \"type\"\n"},
    };

    (void)state;
    check(readings, ARRAY_SIZE(readings));
}

static void test_venvs_are_checked(void **state)
{
#define VERSION                                                                                    \
    "must be a version of Python 3 in quotes, such as \"3.11\" or \"3.11.7\" (3.10 without "       \
    "quotes is the "                                                                               \
    "number "                                                                                      \
    "3.1), not "
#define PACKAGE                                                                                    \
    "must be a package, such as numpy, numpy>=1.26 or requests[socks]==2.31.0: no option, path "   \
    "or "                                                                                          \
    "URL, not "
#define IN_VENV(KEY) "environments: {a: {type: venv, " KEY "}}\n"
    static const struct reading readings[] = {
        {IN_VENV("python_version: 3.11"), "1:48: environments.a.python_version: " VERSION "3.11\n"},
        {IN_VENV("python_version: 3.10"), "1:48: environments.a.python_version: " VERSION "3.1\n"},
        {IN_VENV("python_version: 3"), "1:48: environments.a.python_version: " VERSION "3\n"},
        {IN_VENV("python_version: 3.x"),
         "1:48: environments.a.python_version: " VERSION "\"3.x\"\n"},
        {IN_VENV("python_version: '2.7'"),
         "1:48: environments.a.python_version: " VERSION "\"2.7\"\n"},
        {IN_VENV("python_version: 3.11.7.1"),
         "1:48: environments.a.python_version: " VERSION "\"3.11.7.1\"\n"},
        {IN_VENV("python_path: python3"),
         "1:45: environments.a.python_path: must be the path of a program, with a /; ~ is not "
         "read, write it out, not \"python3\"\n"},
        {IN_VENV("venv_path: ~/venv"),
         "1:43: environments.a.venv_path: must be a path, absolute or relative to this file; ~ is "
         "not read, write it out, not \"~/venv\"\n"},
        {IN_VENV("pip_packages: numpy"),
         "1:46: environments.a.pip_packages: must be a list: [numpy]\n"},
        {IN_VENV("pip_packages: ['-r x']"),
         "1:47: environments.a.pip_packages.0: " PACKAGE "\"-r x\"\n"},
        {IN_VENV("pip_packages: [numpy, ./wheels/x.whl]"),
         "1:54: environments.a.pip_packages.1: " PACKAGE "\"./wheels/x.whl\"\n"},
        {IN_VENV("pip_packages: ['a @ https://x/a.whl']"),
         "1:47: environments.a.pip_packages.0: " PACKAGE "\"a @ https://x/a.whl\"\n"},
        {IN_VENV("pip_packages: [3]"), "1:47: environments.a.pip_packages.0: " PACKAGE "3\n"},
        {IN_VENV("pip_index_url: 'ftp://me:secret@x/'"),
         "1:47: environments.a.pip_index_url: must be an http or https URL\n"},
        {IN_VENV("pip_index_url: [secret]"),
         "1:47: environments.a.pip_index_url: must be an http or https URL\n"},
        {IN_VENV("allow_source_builds: yes"),
         "1:53: environments.a.allow_source_builds: write true or false, not yes\n"},
        {IN_VENV("prepare: now"),
         "1:41: environments.a.prepare: must be one of \"lazy\", \"eager\"\n"},
        {IN_VENV("prepare_timeout: 0"),
         "1:49: environments.a.prepare_timeout: must be more than 0, not 0\n"},
    };

    (void)state;
    check(readings, ARRAY_SIZE(readings));
}

static void test_docker_environments_are_checked(void **state)
{
#define IMAGE "must be an image, such as python:3.11-slim or registry.example/lab/python:3.12, not "
#define NETWORK                                                                                    \
    "must be none, bridge or the name of a network of the engine (host and container:... are "     \
    "refused: they are the network of this machine or of another container), not "
#define TARGET                                                                                     \
    "must be an absolute path in the container, such as /data, or {path: /data, mode: rw}, not "
#define SOURCE                                                                                     \
    "must be a path with a /, absolute or relative to this file, without : and .. in it, not "
#define IN_DOCKER(KEY) "environments: {a: {type: docker, " KEY "}}\n"
    static const struct reading readings[] = {
        {IN_DOCKER("image: Python"), "1:41: environments.a.image: " IMAGE "\"Python\"\n"},
        {IN_DOCKER("image: 'python:'"), "1:41: environments.a.image: " IMAGE "\"python:\"\n"},
        {IN_DOCKER("image: 3.11"), "1:41: environments.a.image: " IMAGE "3.11\n"},
        {IN_DOCKER("image: python@sha256:12"),
         "1:41: environments.a.image: " IMAGE "\"python@sha256:12\"\n"},
        {IN_DOCKER("network: host"), "1:43: environments.a.network: " NETWORK "\"host\"\n"},
        {IN_DOCKER("network: 'container:db'"),
         "1:43: environments.a.network: " NETWORK "\"container:db\"\n"},
        {IN_DOCKER("pull: if-missing"),
         "1:40: environments.a.pull: must be one of \"missing\", \"always\", \"never\"\n"},
        {IN_DOCKER("volumes: [/srv]"), "1:43: environments.a.volumes: " OBJECT "a list\n"},
        {IN_DOCKER("volumes: {/srv: 5}"), "1:50: environments.a.volumes./srv: " TARGET "5\n"},
        {IN_DOCKER("volumes: {/srv: data}"),
         "1:50: environments.a.volumes./srv: " TARGET "\"data\"\n"},
        {IN_DOCKER("volumes: {/srv: '/data:rw'}"),
         "1:50: environments.a.volumes./srv: " TARGET "\"/data:rw\"\n"},
        {IN_DOCKER("volumes: {/srv: /}"), "1:50: environments.a.volumes./srv: " TARGET "\"/\"\n"},
        {IN_DOCKER("volumes: {/srv: {path: /data, mode: w}}"),
         "1:70: environments.a.volumes./srv.mode: must be one of \"ro\", \"rw\"; did you mean "
         "\"rw\"?\n"},
        {IN_DOCKER("volumes: {data: /data}"),
         "1:44: environments.a.volumes.data: " SOURCE "\"data\"\n"},
        {IN_DOCKER("volumes: {~/x: /data}"),
         "1:44: environments.a.volumes.~/x: " SOURCE "\"~/x\"\n"},
        {IN_DOCKER("volumes: {/srv/../etc: /data}"),
         "1:44: environments.a.volumes./srv/../etc: " SOURCE "\"/srv/../etc\"\n"},
        {IN_DOCKER("volumes: {./x: /data, x//y: /a, .//x: /b}"),
         "1:66: environments.a.volumes..//x: is the same path as another one\n"},
        {IN_DOCKER("gpus: some"),
         "1:40: environments.a.gpus: must be \"all\", a number of GPUs or a list of their ids in "
         "quotes\n"},
        {IN_DOCKER("gpus: 0"), "1:40: environments.a.gpus: must be at least 1, not 0\n"},
        {IN_DOCKER("gpus: [0]"), "1:41: environments.a.gpus.0: must be string, not integer\n"},
        {IN_DOCKER("user: 1000"),
         "1:40: environments.a.user: must be a user or user:group, by name or number, in quotes, "
         "not 1000\n"},
        {IN_DOCKER("container_name_prefix: _x"),
         "1:57: environments.a.container_name_prefix: must be 1 to 64 letters, digits, dots, - and "
         "_, a letter or digit first, not \"_x\"\n"},
        {IN_DOCKER("host: ssh://box"),
         "1:40: environments.a.host: must be unix:///PATH or tcp://HOST:PORT, not "
         "\"ssh://box\"\n"},
        {IN_DOCKER("tls: {cert_file: /c}"),
         "1:39: environments.a.tls: is missing \"key_file\", which \"cert_file\" needs\n"},
        {IN_DOCKER("build_args: {A: 1, 2B: x}"),
         "1:50: environments.a.build_args.A: must be a string: write \"1\", in quotes\n"
         "1:53: environments.a.build_args.2B: must be a name of letters, digits and _ that begins "
         "with no digit, not \"2B\"\n"},
        {IN_DOCKER("isolation: none"),
         "1:45: environments.a.isolation: must be one of \"auto\", \"docker\"\n"},
        {IN_DOCKER("limits: {cpus: 0}"),
         "1:49: environments.a.limits.cpus: must be more than 0, not 0\n"},
    };

    (void)state;
    check(readings, ARRAY_SIZE(readings));
}

static void test_callers_are_checked(void **state)
{
    static const struct reading readings[] = {
        {"callers: true\n", "1:10: callers: " OBJECT "boolean\n"},
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
    check(readings, ARRAY_SIZE(readings));
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
         "3:5: listen.1: a TCP address needs token_file or oauth, or auth: none which lets every "
         "local user in\n"},
        {"listen: [\"tcp:0.0.0.0:80\"]\n",
         "1:10: listen.0: other machines can reach it: it needs token_file or oauth\n"},
        {"listen: [\"tcp:[2001:db8::1]:80\"]\nauth: none\n",
         "1:10: listen.0: other machines can reach it: auth: none is for loopback addresses only; "
         "it needs token_file or oauth\n"},
        {"auth: none\ntoken_file: /t\n",
         "1:7: auth: contradicts token_file; give one of the two\n"},
    };

    (void)state;
    check(readings, ARRAY_SIZE(readings));
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
    check(readings, ARRAY_SIZE(readings));
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
        "{\"listen\":[\"stdio\"],"
        "\"http\":{\"allowed_hosts\":[],\"allowed_origins\":[],\"sessions\":1024,\"session_idle\":"
        "1800},"
        "\"results\":\"text\","
        "\"working_directory\":\"temporary\",\"share_directory_across_isolation\":false,\"keep_"
        "for\":86400,"
        "\"timeout\":30,\"max_timeout\":600,\"approval\":\"never\",\"images\":\"inline\","
        "\"limits\":{\"memory\":1073741824,\"processes\":256,\"disk\":1073741824,\"output\":"
        "1048576,"
        "\"concurrent_runs\":4,\"calls_per_minute\":600,\"queued_runs\":64,\"connections\":256,"
        "\"connections_per_client\":32},"
        "\"containment\":\"strict\","
        "\"environments\":{\"system\":{\"type\":\"system\",\"isolation\":\"auto\","
        "\"prepare\":\"lazy\",\"prepare_timeout\":600}},"
        "\"callers\":{\"allowed_images\":[\"python:*\"],\"allowed_paths\":[]},"
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
              "\"disk\":1073741824,\"concurrent_runs\":4,\"calls_per_minute\":600,\"queued_runs\":"
              "64,\"connections\":256,\"connections_per_client\":32},"
              "\"timeout\":0.5,"
              "\"environments\":{\"only\":{\"type\":\"system\",\"limits\":{\"disk\":1099511627776},"
              "\"isolation\":\"auto\",\"prepare\":\"lazy\",\"prepare_timeout\":600}},"
              "\"listen\":[\"stdio\"],"
              "\"http\":{\"allowed_hosts\":[],\"allowed_origins\":[],\"sessions\":1024,\"session_"
              "idle\":1800},"
              "\"results\":\"text\","
              "\"working_directory\":\"temporary\",\"share_directory_across_isolation\":false,"
              "\"keep_for\":86400,"
              "\"max_timeout\":600,\"approval\":\"never\",\"images\":\"inline\",\"containment\":"
              "\"strict\","
              "\"callers\":{\"allowed_images\":[\"python:*\"],\"allowed_paths\":[]},"
              "\"default_environment\":\"only\"}");
}

/* A value in the tree of TEXT, a configuration in FILE. Owned by the caller. */
static char *value_in(const char *file, const char *text, const char *key)
{
    struct config *config = config_parse(file, text, strlen(text));
    const json_t *environments = json_object_get(config_tree(config), "environments");
    char *value;

    assert_false(config_has_errors(config));
    value = json_text(json_object_get(json_object_get(environments, "a"), key));
    config_free(config);
    return value;
}

static void test_paths_begin_in_the_folder_of_the_file(void **state)
{
    static const struct {
        const char *file;
        const char *text;
        const char *key;
        const char *value;
    } cases[] = {
        {"/etc/x/c.yaml", "{type: system, executable: bin/python3}", "executable",
         "\"/etc/x/bin/python3\""},
        {"/etc/x/c.yaml", "{type: system, executable: /bin/python3}", "executable",
         "\"/bin/python3\""},
        {"/c.yaml", "{type: venv, python_path: ./python3}", "python_path", "\"/python3\""},
        {"/etc/c.yaml", "{type: venv, venv_path: .//v}", "venv_path", "\"/etc/v\""},
        {"/etc/c.yaml", "{type: venv, requirements_file: ../r.txt}", "requirements_file",
         "\"/etc/../r.txt\""},
        {"/etc/c.yaml", "{type: venv, pip_find_links: w}", "pip_find_links", "\"/etc/w\""},
        {"/etc/c.yaml", "{type: venv, pip_find_links: .}", "pip_find_links", "\"/etc\""},
        {"/etc/c.yaml", "{type: venv, pip_find_links: ./}", "pip_find_links", "\"/etc\""},
        {"/etc/c.yaml", "{type: docker, dockerfile: Dockerfile}", "dockerfile",
         "\"/etc/Dockerfile\""},
        {"/etc/c.yaml", "{type: docker, tls: {ca_file: ca, cert_file: /c, key_file: k}}", "tls",
         "{\"ca_file\":\"/etc/ca\",\"cert_file\":\"/c\",\"key_file\":\"/etc/k\"}"},
        {"/etc/c.yaml", "{type: docker, volumes: {./a: /b, /c: {path: /d}}}", "volumes",
         "{\"/etc/a\":\"/b\",\"/c\":{\"path\":\"/d\",\"mode\":\"ro\"}}"},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        AUTO_FREE char *text = memory_format("environments: {a: %s}", cases[i].text);
        AUTO_FREE char *value = value_in(cases[i].file, text, cases[i].key);

        assert_string_equal(value, cases[i].value);
    }
}

static void test_a_file_named_by_a_relative_path_has_a_folder_too(void **state)
{
    static const char text[] = "environments: {a: {type: venv, venv_path: v}}";
    char here[4096];
    AUTO_FREE char *beside = NULL;
    AUTO_FREE char *below = NULL;
    AUTO_FREE char *dotted = NULL;
    AUTO_FREE char *expected_beside = NULL;
    AUTO_FREE char *expected_below = NULL;

    (void)state;
    assert_non_null(getcwd(here, sizeof here));
    beside = value_in("c.yaml", text, "venv_path");
    below = value_in("./x/c.yaml", text, "venv_path");
    dotted = value_in("./c.yaml", text, "venv_path");
    expected_beside = memory_format("\"%s/v\"", here);
    expected_below = memory_format("\"%s/x/v\"", here);
    assert_string_equal(beside, expected_beside);
    assert_string_equal(below, expected_below);
    assert_string_equal(dotted, expected_beside);
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
    assert_int_equal(chmod(path, 0600), 0); /* whatever the umask of whoever runs the tests */
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

/* A script may have put it there; a FIFO would never open. */
static void test_what_is_no_file_is_refused(void **state)
{
    AUTO_FREE char *directory = make_directory();
    AUTO_FREE char *path = memory_format("%s/config.yaml", directory);
    struct config *config;
    AUTO_FREE char *errors = NULL;

    (void)state;
    assert_int_equal(mkfifo(path, 0600), 0);
    config = config_load(path);
    errors = config_error_text(config);
    assert_non_null(strstr(errors, "is no regular file"));
    config_free(config);
    assert_int_equal(unlink(path), 0);
    assert_int_equal(rmdir(directory), 0);
}

static void test_a_file_that_others_may_write_is_refused(void **state)
{
    AUTO_FREE char *directory = make_directory();
    AUTO_FREE char *path = write_file(directory, "config.yaml", "timeout: 5\n");
    static const struct {
        mode_t mode;
        const char *refused; /* as messages print the mode, or NULL */
    } cases[] = {
        {0600, NULL}, {0644, NULL}, {0444, NULL}, {0666, "0666"}, {0622, "0622"}, {0602, "0602"},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        AUTO_FREE char *expected = NULL;

        assert_int_equal(chmod(path, cases[i].mode), 0);
        if (cases[i].refused)
            expected = memory_format("others may write it (mode %s), and it decides what "
                                     "is executed; chmod go-w %s\n",
                                     cases[i].refused, path);
        load_and_expect(path, expected ? expected : "");
    }
    unlink(path);
    rmdir(directory);
}

static void test_a_password_is_refused_in_a_file_that_others_may_read(void **state)
{
    AUTO_FREE char *directory = make_directory();
    static const struct {
        const char *url;
        mode_t mode;
        bool refused;
    } cases[] = {
        {"https://me:secret@x.example/simple", 0600, false},
        {"https://me:secret@x.example/simple", 0640, true},
        {"https://me:secret@x.example/simple", 0604, true},
        {"https://me:secret@x.example", 0644, true},
        {"https://x.example/simple@1", 0644, false},
        {"https://x.example", 0644, false},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        AUTO_FREE char *text =
            memory_format("environments: {a: {type: venv, pip_index_url: \"%s\"}}", cases[i].url);
        AUTO_FREE char *path = write_file(directory, "config.yaml", text);
        AUTO_FREE char *refusal =
            memory_format("%s:1:47: environments.a.pip_index_url: has a password in it, and others "
                          "may read this file; chmod go-r %s\n",
                          path, path);
        struct config *config;
        AUTO_FREE char *errors = NULL;

        assert_int_equal(chmod(path, cases[i].mode), 0);
        config = config_load(path);
        errors = config_error_text(config);
        assert_string_equal(errors, cases[i].refused ? refusal : "");
        config_free(config);
        unlink(path);
    }
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

static void test_the_examples_are_right(void **state)
{
    AUTO_FREE char *pattern = NULL;
    glob_t found;

    (void)state;
    if (!getenv("SOURCE_ROOT"))
        skip();
    pattern = memory_format("%s/examples/*.yaml", getenv("SOURCE_ROOT"));
    assert_int_equal(glob(pattern, 0, NULL, &found), 0);
    assert_true(found.gl_pathc > 6);
    for (size_t i = 0; i < found.gl_pathc; i++) {
        struct error err = ERROR_INIT;
        size_t length;
        AUTO_FREE char *text = fd_read_file(found.gl_pathv[i], 65536, &length, &err);
        AUTO_FREE char *errors = NULL;

        assert_non_null(text);
        errors = errors_of(text);
        assert_string_equal(errors, "");
    }
    globfree(&found);
}

static void test_what_documents_show_is_right(void **state)
{
    static const char opening[] = "```yaml\n";
    AUTO_FREE char *document = NULL;
    size_t shown = 0;

    if (!getenv("SOURCE_ROOT"))
        skip();
    document = read_source(*state);
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
    assert_true(shown > 1);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_what_is_right_has_no_errors),
        cmocka_unit_test(test_a_wrong_value_is_told_with_its_place),
        cmocka_unit_test(test_sizes_are_read_strictly),
        cmocka_unit_test(test_unknown_keys_are_told_at_the_key),
        cmocka_unit_test(test_environments_are_checked),
        cmocka_unit_test(test_keys_of_another_type_are_told_from_misspelt_ones),
        cmocka_unit_test(test_venvs_are_checked),
        cmocka_unit_test(test_docker_environments_are_checked),
        cmocka_unit_test(test_callers_are_checked),
        cmocka_unit_test(test_keys_are_checked_against_each_other),
        cmocka_unit_test(test_yaml_faults_do_not_make_others),
        cmocka_unit_test(test_all_errors_come_in_the_order_of_the_file),
        cmocka_unit_test(test_of_very_many_errors_the_first_are_told),
        cmocka_unit_test(test_defaults_are_filled_in),
        cmocka_unit_test(test_what_is_written_stays),
        cmocka_unit_test(test_paths_begin_in_the_folder_of_the_file),
        cmocka_unit_test(test_a_file_named_by_a_relative_path_has_a_folder_too),
        cmocka_unit_test(test_later_complaints_have_their_place),
        cmocka_unit_test(test_complaints_about_defaults_need_no_file),
        cmocka_unit_test(test_what_is_no_file_is_refused),
        cmocka_unit_test(test_a_file_that_others_may_write_is_refused),
        cmocka_unit_test(test_a_password_is_refused_in_a_file_that_others_may_read),
        cmocka_unit_test(test_a_missing_file_can_be_told_from_a_wrong_one),
        cmocka_unit_test(test_a_large_file_is_not_read),
        cmocka_unit_test(test_the_file_is_found_in_order),
        cmocka_unit_test(test_the_examples_are_right),
        {"the blocks of configuration.md", test_what_documents_show_is_right, NULL, NULL,
         (void *)"docs/configuration.md"},
        {"the blocks of environments.md", test_what_documents_show_is_right, NULL, NULL,
         (void *)"docs/environments.md"},
    };

    setvbuf(stdout, NULL, _IOLBF, 0);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
