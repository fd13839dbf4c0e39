/* Each hint about what a sandbox closes with a case where it is said, and one or more where it
 * nearly is. */
#include "base/cleanup.h"
#include "tests/unit/hints/hint_stage.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

SHOW(
    test_the_closed_network, //
    {"x", GAIERROR, "This environment has no network: work with", IN_HELD},
    {"x", GAIERROR, "no network. Environment \"large\" has one: call with environment: \"large\"",
     IN_HELD, NULL, HAS_LARGE},
    {"x", FRAME(1) "OSError: [Errno 101] Network is unreachable\n", "no network", IN_HELD},
    {"x",
     FRAME(1) "urllib.error.URLError: <urlopen error [Errno -3] Temporary failure in name "
              "resolution>\n",
     "no network", IN_HELD},
    {"x", NULL, "no network",
     "{\"stdout\": \"failed: [Errno -3] Temporary failure in name resolution\", \"success\": "
     "true, " HELD "}"},
    {"x",
     "connection broken by '[Errno -3] Temporary failure in name resolution'\nERROR: Could not "
     "find a version that satisfies the requirement rich (from versions: none)\n",
     "scripts cannot install packages. Calls cannot ask", IN_HELD},
    {"x",
     FRAME(1) "subprocess.CalledProcessError: Command '['/usr/bin/python3', '-m', 'pip', "
              "'install', 'rich']' returned non-zero exit status 1.\n",
     "scripts cannot install packages. Calls cannot ask", IN_HELD},
    {"x", "WARNING: Retrying (Retry(total=4, connect=None, read=None, redirect=None, status=None))",
     "scripts cannot install packages. Calls cannot ask", IN_HELD},
    {"x", FRAME(1) "subprocess.TimeoutExpired: Command 'pip install x' timed out after 5 seconds\n",
     "To have packages, call with environment_definition", IN_HELD, NULL, MAY_DEFINE},
    {"x", FRAME(1) "subprocess.TimeoutExpired: Command 'pip install x' timed out after 5 seconds\n",
     NULL, "{" FREE "}"},
    {"x",
     FRAME(1) "subprocess.CalledProcessError: Command 'pip list' returned non-zero exit status "
              "1.\n",
     NULL, IN_HELD},
    {"x", GAIERROR, NULL, "{" FREE "}"},
    {"x", GAIERROR, NULL, "{" LAYERS("enforced", "not asked for", "enforced", "enforced") "}"},
    {"x", GAIERROR, NULL}, {"x", FRAME(1) "TimeoutError: timed out\n", NULL, IN_HELD},
    {"x", GAIERROR, "This environment has no network",
     "{" LAYERS("absent", "absent", "enforced", "enforced") ", \"isolation\": \"sandbox\"}"},
    {"x", GAIERROR, "This run had no sandbox: ",
     "{" LAYERS("absent", "absent", "absent", "absent") ", \"isolation\": \"none\"}"})

#define REFUSED FRAME(1) "ConnectionRefusedError: [Errno 111] Connection refused\n"

SHOW(test_a_loopback_of_its_own, //
     {"x", REFUSED,
      "localhost is the run's own here: nothing answers there but what the script itself has "
      "started. The operator can open this machine's (network: true).",
      IN_HELD},
     {"x", REFUSED, "Environment \"large\" has this machine's: call with", IN_HELD, NULL,
      HAS_LARGE},
     {"x", FRAME(1) "redis.ConnectionError: Error 111 connecting to localhost:6379.\n",
      "localhost is the run's own", IN_HELD},
     {"x", REFUSED, "localhost is the run's own", IN_HELD, NULL, HAS_HOSTS},
     {"x", REFUSED, NULL, "{" FREE "}"}, {"x", REFUSED, NULL},
     {"x", REFUSED, NULL, "{" LAYERS("enforced", "not asked for", "enforced", "enforced") "}"},
     {"x", FRAME(1) "ConnectionResetError: [Errno 104] Connection reset by peer\n", NULL, IN_HELD})

#define TO_HOSTS                                                                                   \
    "nothing of the network but packages.example.org:443, 10.0.0.5:80, and only through the proxy"

SHOW(test_a_network_of_listed_hosts, //
     {"x", FRAME(1) "OSError: Tunnel connection failed: 403 a:1 is not among the hosts\n", TO_HOSTS,
      IN_HELD, NULL, HAS_HOSTS},
     {"x", "curl: (56) CONNECT tunnel failed, response 403", TO_HOSTS, IN_HELD, NULL, HAS_HOSTS},
     {"x", GAIERROR, TO_HOSTS, IN_HELD, NULL, HAS_HOSTS},
     {"x", "curl: (56) CONNECT tunnel failed, response 403", NULL, IN_HELD},
     {"x", FRAME(1) "OSError: Tunnel connection failed: 502 a: Name or service not known\n", NULL,
      IN_HELD, NULL, HAS_HOSTS},
     {"x", FRAME(1) "urllib.error.HTTPError: HTTP Error 403: Forbidden\n", NULL, IN_HELD, NULL,
      HAS_HOSTS})

SHOW(test_what_libraries_say_without_a_network, //
     {"x", "ssh: Could not resolve hostname a: Temporary failure in name resolution\n",
      "no network", IN_HELD},
     {"x", "wget: unable to resolve host address 'a'\n", "no network", IN_HELD},
     {"x", "Cannot connect to host a:443 ssl:default [Name or service not known]\n", "no network",
      IN_HELD},
     {"x",
      FRAME(1) "psycopg2.OperationalError: could not translate host name \"a\" to address: "
               "Temporary failure in name resolution\n",
      "no network", IN_HELD},
     {"x",
      FRAME(1) "botocore.exceptions.EndpointConnectionError: Could not connect to the "
               "endpoint URL: \"https://s3.amazonaws.com/\"\n",
      "no network", IN_HELD},
     {"x", FRAME(1) "openai.APIConnectionError: Connection error.\n", "no network", IN_HELD},
     {"x", FRAME(1) "httpx.ConnectError: All connection attempts failed\n", "no network", IN_HELD},
     {"x", FRAME(1) "OSError: We couldn't connect to 'https://huggingface.co' to load the files\n",
      "no network", IN_HELD},
     {"x", "curl: (6) Could not resolve host: a\n", "no network", IN_HELD},
     {"x",
      "E: Failed to fetch http://a.example/a  Temporary failure resolving "
      "'a.example'\n",
      "no network", IN_HELD},
     {"x", "[Errno 111] Connection refused\nAll connection attempts failed\n",
      "localhost is the run's own here", IN_HELD},
     {"x", FRAME(1) "openai.APIConnectionError: Connection error.\n", NULL, "{" FREE "}"},
     {"x", FRAME(1) "openai.APIConnectionError: Connection error.\n", NULL, IN_HELD, NULL,
      HAS_HOSTS},
     {"x", GAIERROR, "no network: work with what is there. The operator", IN_HELD,
      "{\"message\": \"\"}"})

SHOW(test_containers, //
     {"x", GAIERROR,
      "no network: work with what is there, and pass data in `files`. The operator can open it "
      "(network: bridge).",
      NULL, NULL, IN_CONTAINER},
     {"x", REFUSED,
      "localhost is the run's own here: nothing answers there but what the script itself has "
      "started.",
      NULL, NULL, IN_CONTAINER | HAS_LARGE},
     {"x", READ_ONLY("/usr/x"), "and not to the files of the image: use relative paths", NULL, NULL,
      IN_CONTAINER},
     {"x", READ_ONLY("a"), NULL, NULL, NULL, IN_CONTAINER},
     {"x", "E: List directory /var/lib/apt/lists/partial is missing. - Acquire (30: Read-only)\n",
      "Scripts here cannot install programs", NULL, NULL, IN_CONTAINER},
     {"x", "WARNING: Retrying (Retry(total=4", "scripts cannot install packages. Calls", NULL, NULL,
      IN_CONTAINER},
     {"x",
      "ERROR: Could not install packages due to an OSError: [Errno 30] Read-only file system: "
      "'/usr/local/x'\n",
      "A script cannot install packages into this Python", NULL, NULL, IN_CONTAINER},
     {"x", "/bin/sh: 1: sudo: not found\n", "sudo does not work here", NULL, NULL, IN_CONTAINER},
     {"x", "E: Unable to locate package a\n", NULL, NULL, NULL, IN_CONTAINER})

SHOW(test_what_a_sandbox_does_not_show, //
     {"x", NO_FILE("/home/me/a.csv"),
      "/home/me/a.csv is not shown to scripts here: they have the working directory, /tmp, "
      "/srv/out, /srv/data and nothing else",
      IN_HELD},
     {"x", DENIED("/home/me"), "/home/me is not shown", IN_HELD},
     {"x", DENIED("/home/me/a.csv"), NULL, "{" FREE "}"}, {"x", DENIED("/home/me/a.csv"), NULL},
     {"x", DENIED("a.csv"), NULL, IN_HELD}, {"x", DENIED("/tmp/a.csv"), NULL, IN_HELD},
     {"x", DENIED("/srv/data/a.csv"), NULL, IN_HELD}, {"x", DENIED("/srv/out/a"), NULL, IN_HELD},
     {"x", DENIED("/srv"), NULL, IN_HELD}, {"x", DENIED("/opt/python/a"), NULL, IN_HELD},
     {"x", NO_FILE("/etc/shadow"), "/etc/shadow is not shown", IN_HELD},
     {"x", NO_FILE("/etc/ssl/a"), NULL, IN_HELD}, {"x", DENIED("/"), NULL, IN_HELD},
     {"x", DENIED("/tmp/../home/a"), NULL, IN_HELD}, {"x", DENIED("/home/./a"), NULL, IN_HELD},
     {"x", NO_FILE("/home/me/.netrc"), "/home/me/.netrc is not shown", IN_HELD},
     {"x", NO_FILE("/home/me/"), "/home/me/ is not shown", IN_HELD},
     {"x", READ_ONLY("/srv/data/a"), "write to the working directory, /tmp, /srv/out and nowhere",
      IN_HELD},
     {"x", READ_ONLY("/usr/lib/x"), "nowhere else: use relative paths. The operator", IN_HELD},
     {"x", DENIED("/srv/data/a"), "write to the working directory, /srv/out and nowhere else",
      ONLY_FILES},
     {"x", DENIED("/tmp/a"), "write to the working directory, /srv/out and nowhere", ONLY_FILES},
     {"x", DENIED("@/a"), NULL, ONLY_FILES, NULL, IN_SCRATCH},
     {"x", DENIED("/home/me"), "they have the working directory, /srv/out, /srv/data and nothing",
      "{" LAYERS("not asked for", "enforced", "enforced", "enforced") "}"},
     {"x", READ_ONLY("/srv/data/a"), NULL, "{" FREE "}"}, {"x", READ_ONLY("a"), NULL, IN_HELD})

SHOW(test_a_script_that_left_its_directory, //
     {"os.chdir('/')", READ_ONLY("a.csv"),
      "After os.chdir(\"/\") relative paths lead there. Scripts here can write to the working "
      "directory, /tmp, /srv/out and nowhere else: leave that call out.",
      IN_HELD},
     {"os.chdir(\"/srv/data\")", READ_ONLY("out/a.csv"), "After os.chdir(\"/srv/data\")", IN_HELD},
     {"os.chdir('/tmp')", DENIED("is-not-there.csv"),
      "After os.chdir(\"/tmp\") relative paths lead there. Scripts here can write to the working "
      "directory, /srv/out and nowhere else",
      ONLY_FILES},
     {"os.chdir('/')", DENIED("usr"), NULL, ONLY_FILES}, /* it may have been read */
     {"os.chdir('/srv/data')", DENIED("a.csv"), NULL, IN_HELD},
     {"os.chdir('/tmp')", READ_ONLY("a.csv"), NULL, IN_HELD},
     {"os.chdir('/srv/out/a')", READ_ONLY("a.csv"), NULL, IN_HELD},
     {"os.chdir('/srv/out')", DENIED("is-not-there.csv"), NULL, ONLY_FILES},
     {"os.chdir('data')", READ_ONLY("a.csv"), NULL, IN_HELD},
     {"os.chdir('/srv/' + name)", READ_ONLY("a.csv"), NULL, IN_HELD},
     {"os.chdir('/'); os.chdir('/srv')", READ_ONLY("a.csv"), NULL, IN_HELD},
     {"os.chdir('/srv/..')", READ_ONLY("a.csv"), NULL, IN_HELD},
     {"os.chdir('/')", READ_ONLY("../a.csv"), NULL, IN_HELD},
     {"os.chdir('/')", READ_ONLY("a.csv"), NULL, "{" FREE "}"})

#define NO_DATABASE FRAME(1) "sqlite3.OperationalError: unable to open database file\n"

SHOW(test_a_database_in_a_sandbox, //
     {"x", FRAME(1) "sqlite3.OperationalError: attempt to write a readonly database\n",
      "and nowhere else: work on a copy of the database. The operator", IN_HELD},
     {"x", FRAME(1) "sqlite3.OperationalError: no such table: a\n", NULL, IN_HELD},
     {"x", FRAME(1) "sqlite3.OperationalError: attempt to write a readonly database\n", NULL,
      "{" FREE "}"},
     {"sqlite3.connect('/home/me/a.db')", NO_DATABASE, "/home/me/a.db is not shown", IN_HELD},
     {"sqlite3.connect('a.db')", NO_DATABASE, NULL, IN_HELD},
     {"sqlite3.connect(", NO_DATABASE, NULL, IN_HELD},
     {"sqlite3.connect('/srv/data/a.db')", NO_DATABASE, NULL, IN_HELD},
     {"sqlite3.connect('/home/me/a.db'); sqlite3.connect('/home/me/b.db')", NO_DATABASE, NULL,
      IN_HELD})

SHOW(test_one_word_about_a_path, //
     {"x", NO_FILE("zebra"),
      "has no zebra; it has deep, notes.md, sales.csv. Scripts here can also read /srv/data: use "
      "absolute paths for that.",
      IN_HELD},
     {"x", NO_FILE("data/a"), "os.makedirs(\"data\"). Scripts here can also read /srv/data",
      IN_HELD},
     {"x", NO_FILE("zebra"), "sales.csv.", "{" FREE "}"},
     {"x", NO_FILE("/home/me/sales.csv"), "The file is in the working directory: open it", IN_HELD})

static void test_what_is_closed_gets_one_line(void **state)
{
    static const char *const errors[] = {
        "error: externally-managed-environment\nWARNING: Retrying (Retry(",
        NO_FILE("/home/me/sales.csv"), NO_FILE("@/.aws/config"), NO_FILE("/tmp/a.csv"),
        NO_FILE("/etc/shadow")};

    for (size_t i = 0; i < ARRAY_SIZE(errors); i++) {
        AUTO_FREE char *hints = stage_hints(
            *state, &(struct hint_case){"x", errors[i], NULL, IN_HELD, NULL, IN_SCRATCH});

        assert_true(*hints);
        assert_null(strchr(hints, '|'));
    }
}

SHOW(test_a_tmp_of_its_own, //
     {"x", NO_FILE("/tmp/a.csv"), "/tmp is each run's own and empty when it begins", IN_HELD},
     {"x", NO_FILE("/var/tmp/a"), "/var/tmp is each run's own", IN_HELD},
     {"x", NO_FILE("/dev/shm/a"), "/dev/shm is each run's own", IN_HELD},
     {"os.chdir(x)", NO_FILE("@/deep.csv"), NULL, IN_HELD, NULL, IN_SCRATCH},
     {"x", NO_FILE("/tmpfile"), "/tmpfile is not shown", IN_HELD},
     {"x", DENIED("/tmp/a.csv"), NULL, IN_HELD},
     {"os.chdir(x)", NO_FILE("/tmp/a.csv"), NULL, "{" FREE "}"},
     {"os.chdir(x)", NO_FILE("/tmp/a.csv"), NULL,
      "{" LAYERS("not asked for", "enforced", "enforced", "enforced") "}"})

SHOW(test_the_home_of_scripts, //
     {"x", NO_FILE("@/.netrc"), "~ is the working directory here, not the home of a user", IN_HELD,
      NULL, IN_SCRATCH},
     {"os.path.expanduser('~/a')", NO_FILE("@/a/b"), "~ is the working directory here", NULL, NULL,
      IN_SCRATCH},
     {"pathlib.Path.home() / 'a'", NO_FILE("@/a/b"), "~ is the working directory here", NULL, NULL,
      IN_SCRATCH},
     {"os.chdir(x)", NO_FILE("@/a/b"), NULL, NULL, NULL, IN_SCRATCH},
     {"os.path.expanduser('~/a')", NO_FILE("a/b"), "To write there, make it first"},
     {"os.path.expanduser('~/a')", DENIED("@/a"), NULL, NULL, NULL, IN_SCRATCH})

SHOW(test_what_is_said_at_a_terminal, //
     {"x", GAIERROR, "This environment has no network. The configuration can open it (network",
      IN_HELD, NULL, AT_TERMINAL},
     {"x", "WARNING: Retrying (Retry(total=4", "To have packages, add --with PACKAGE.", IN_HELD,
      NULL, AT_TERMINAL},
     {"x", DENIED("/home/me"), "of the system. The configuration can show more (read, write).",
      IN_HELD, NULL, AT_TERMINAL},
     {"x", READ_ONLY("/usr/a"), "The configuration can open more (write).", IN_HELD, NULL,
      AT_TERMINAL},
     {"x", NO_FILE("/tmp/a"), "/tmp is each run's own", IN_HELD, NULL, AT_TERMINAL},
     {"import nowhere", NO_MODULE("nowhere"), "To have packages, add --with PACKAGE.", NULL, NULL,
      AT_TERMINAL},
     {"import yaml", NO_MODULE("yaml"),
      "in the package pyyaml, which this environment does not "
      "have. To have it, add --with pyyaml.",
      NULL, NULL, AT_TERMINAL},
     {"6 * 7", NULL, NULL, SUCCESS, NULL, AT_TERMINAL})

#define CALLED "subprocess.CalledProcessError: Command 'a' returned non-zero exit status 1.\n"

SHOW(test_refused_calls_and_layers, //
     {"x", FRAME(1) "PermissionError: [Errno 1] Operation not permitted\n",
      "The sandbox refused that", IN_HELD},
     {"x", NULL, "The sandbox refused that", "{\"signal\": \"SIGSYS\", " HELD "}"},
     {"x", FRAME(1) "PermissionError: [Errno 1] Operation not permitted\n", NULL,
      "{" LAYERS("enforced", "enforced", "enforced", "not asked for") "}"},
     {"x", FRAME(1) "PermissionError: [Errno 1] Operation not permitted\n", NULL},
     {"x", NULL, NULL, "{\"signal\": \"SIGTERM\", " HELD "}"},
     {"x", FRAME(1) "OSError: [Errno 38] Function not implemented\n",
      "The sandbox, or the kernel, does not have that system call", IN_HELD},
     {"x", FRAME(1) "OSError: [Errno 38] Function not implemented\n", NULL, "{" FREE "}"},
     {"x", FRAME(1) "OSError: [Errno 36] File name too long\n", NULL, IN_HELD},
     {"x", "unshare: failed: Operation not permitted\n" FRAME(1) CALLED, "The sandbox refused that",
      IN_HELD},
     {"x", "cat: a: Permission denied\n" FRAME(1) CALLED, NULL, IN_HELD},
     {"x", "E: Could not open lock file /var/lib/dpkg/lock-frontend - open (2)\n",
      "Scripts here cannot install programs", IN_HELD},
     {"x", "E: Could not open lock file /var/lib/dpkg/lock-frontend - open (2)\n", NULL,
      "{" FREE "}"},
     {"x", "E: Unable to locate package a\n", NULL, IN_HELD},
     {"x", NULL,
      "This run had no sandbox: own root directory (this machine does not have it), file rules "
      "(this "
      "machine does not have it).",
      "{\"success\": true, \"isolation\": \"none\", " LAYERS("absent", "absent", "absent",
                                                             "absent") "}"},
     {"x = 1", NULL, NULL,
      "{\"success\": true, \"isolation\": \"none\", " LAYERS("not asked for", "not asked for",
                                                             "not asked for", "not asked for") "}"},
     {"x", NULL,
      "The sandbox of this run was without: own network (needs user namespaces), system calls "
      "(this machine does not have it).",
      "{\"success\": true, " LAYERS("enforced", "absent", "enforced", "absent") "}"},
     {"x = 1", NULL, NULL, "{\"success\": true, " HELD "}"})

int main(void)
{
    static const struct CMUnitTest tests[] = {
        TEST(test_the_closed_network),
        TEST(test_a_network_of_listed_hosts),
        TEST(test_a_loopback_of_its_own),
        TEST(test_what_libraries_say_without_a_network),
        TEST(test_containers),
        TEST(test_what_a_sandbox_does_not_show),
        TEST(test_a_script_that_left_its_directory),
        TEST(test_a_database_in_a_sandbox),
        TEST_FILES(test_one_word_about_a_path),
        TEST_FILES(test_what_is_closed_gets_one_line),
        TEST(test_a_tmp_of_its_own),
        TEST(test_the_home_of_scripts),
        TEST(test_what_is_said_at_a_terminal),
        TEST(test_refused_calls_and_layers),
    };

    setvbuf(stdout, NULL, _IOLBF, 0);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
