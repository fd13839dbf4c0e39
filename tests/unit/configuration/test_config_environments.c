#include "base/cleanup.h"
#include "base/memory.h"
#include "server/configuration/config.h"
#include "tests/unit/configuration/reading.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <cmocka.h>

static void test_environments_are_checked(void **state)
{
    static const struct reading readings[] = {
        {"environments: {a: {executable: /usr/bin/python3}}\n",
         "1:19: environments.a: is missing \"type\", one of \"system\", \"venv\", \"docker\"\n"},
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
         "1:20: working_directory: is for environments of different isolation (sandbox: system, v; "
         "docker: a), so a script that is held can leave code there that others import and "
         "execute on this machine; share_directory_across_isolation: true allows that\n"},
        {"environments: {a: {type: system, isolation: docker}}\n",
         "1:45: environments.a.isolation: must be one of \"auto\", \"none\", \"sandbox\"\n"},
        {"environments: {a: {type: system, isolation: sandbox, require: docker}}\n",
         "1:63: environments.a.require: must be sandbox, which refuses a run that cannot have "
         "every layer, not \"docker\"\n"},
        {"environments: {a: {type: system, isolation: sandbox, network: bridge}}\n",
         "1:63: environments.a.network: must be boolean or array, not string\n"},
        {"environments: {a: {type: system, isolation: sandbox, read: /srv}}\n",
         "1:60: environments.a.read: must be a list: [/srv]\n"},
        {"environments:\n  a:\n    isolation: none\n    type: venv\n    network: true\n"
         "    write: [/srv]\n",
         "5:14: environments.a.network: is for a sandbox, and there is none with isolation: none\n"
         "6:12: environments.a.write: is for a sandbox, and there is none with isolation: none\n"},
        {"environments: {a: {type: system, isolation: none, require: sandbox}}\n",
         "1:60: environments.a.require: is for a sandbox, and there is none with isolation: "
         "none\n"},
        {"environments: {a: {type: docker, read: [/srv]}}\n",
         "1:34: environments.a.read: is a key of type system or venv, not of docker\n"},
        {"working_directory: /srv/work\n"
         "environments: {system: {type: system, isolation: none}, s: {type: system}}\n",
         "1:20: working_directory: is for environments of different isolation (none: system; "
         "sandbox: s), so a script that is held can leave code there that others import and "
         "execute on this machine; share_directory_across_isolation: true allows that\n"},
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
    check_readings(readings, ARRAY_SIZE(readings));
}

static void test_keys_of_another_type_are_told_from_misspelt_ones(void **state)
{
    static const struct reading readings[] = {
        {"environments:\n  a:\n    type: system\n    image: x\n    pip_packages: [numpy]\n",
         "4:5: environments.a.image: is a key of type docker, not of system\n"
         "5:5: environments.a.pip_packages: is a key of type venv or docker, not of system\n"},
        {"environments: {a: {type: venv, executable: /x/python3, runtime: runc}}\n",
         "1:32: environments.a.executable: is a key of type system, not of venv\n"
         "1:56: environments.a.runtime: is a key of type docker, not of venv\n"},
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
        {"environments: {a: {image: x}}\n",
         "1:19: environments.a: is missing \"type\", one of \"system\", \"venv\", \"docker\"\n"},
    };

    (void)state;
    check_readings(readings, ARRAY_SIZE(readings));
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
         "1:43: environments.a.venv_path: ~ is not read, write it out: /home/me/venv\n"},
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
    check_readings(readings, ARRAY_SIZE(readings));
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
        {IN_DOCKER("volumes: [/srv]"), "1:43: environments.a.volumes: " MAPPING "a list\n"},
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
         "1:44: environments.a.volumes.~/x: ~ is not read, write it out: /home/me/x\n"},
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
         "1:45: environments.a.isolation: must be auto or docker, both of which are a container, "
         "not \"none\"\n"},
        {IN_DOCKER("limits: {cpus: 0}"),
         "1:49: environments.a.limits.cpus: must be more than 0, not 0\n"},
    };

    (void)state;
    check_readings(readings, ARRAY_SIZE(readings));
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_environments_are_checked),
        cmocka_unit_test(test_keys_of_another_type_are_told_from_misspelt_ones),
        cmocka_unit_test(test_venvs_are_checked),
        cmocka_unit_test(test_docker_environments_are_checked),
    };

    setvbuf(stdout, NULL, _IOLBF, 0);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
