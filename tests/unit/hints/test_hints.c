/* Each hint with a case where it is said, and one or more where it nearly is. */
#include "server/tools/hints/hints.h"

#include "base/json.h"
#include "base/memory.h"
#include "environments/callers/caller_rules.h"
#include "environments/environment.h"
#include "environments/packages/python_facts.h"
#include "tests/unit/environments/scratch.h"

#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <cmocka.h>

#define FRAME(LINE)  "Traceback (most recent call last):\n  File \"/w/script.py\", line " #LINE "\n"
#define SYNTAX(LINE) "  File \"/w/script.py\", line " #LINE "\n    x\n    ^\nSyntaxError: "
#define NO_FILE(NAME)                                                                              \
    FRAME(1) "FileNotFoundError: [Errno 2] No such file or directory: '" NAME "'\n"
#define NO_MODULE(NAME) FRAME(1) "ModuleNotFoundError: No module named '" NAME "'\n"
#define TIMED_OUT       "{\"timed_out\": true}"
#define AT(LINE, NAME)                                                                             \
    "{\"file\": \"/w/script.py\", \"line\": " #LINE ", \"function\": \"" NAME "\"}"
#define IN_PYTHON                                                                                  \
    "{\"file\": \"/usr/lib/python3.11/threading.py\", \"line\": 3, \"function\": \"g\"}"
#define STACK(MAIN, COUNT, FRAMES)                                                                 \
    "{\"main\": " MAIN ", \"threads\": " #COUNT ", \"frames\": [" FRAMES "]}"
#define STACKS(LIST) "{\"timed_out\": true, \"stacks\": [" LIST "]}"
#define SUCCESS      "{\"success\": true}"

#define BLOCK "# /// script\n# dependencies = ['rich']\n# ///\n"

#define LAYERS(ROOT, NETWORK, FILES, CALLS)                                                        \
    "\"containment\": {\"missing\": [\"own network: needs user namespaces\"], \"layers\": {"       \
    "\"own root directory\": \"" ROOT "\", \"own network\": \"" NETWORK "\", "                     \
    "\"file rules\": \"" FILES "\", \"system calls\": \"" CALLS "\"}}"
#define HELD            LAYERS("enforced", "enforced", "enforced", "enforced")
#define FREE            LAYERS("not asked for", "not asked for", "not asked for", "not asked for")
#define IN_HELD         "{" HELD "}"
#define ONLY_FILES      "{" LAYERS("not asked for", "enforced", "enforced", "enforced") "}"
#define GAIERROR        FRAME(1) "socket.gaierror: [Errno -3] Temporary failure in name resolution\n"
#define DENIED(NAME)    FRAME(1) "PermissionError: [Errno 13] Permission denied: '" NAME "'\n"
#define READ_ONLY(NAME) FRAME(1) "OSError: [Errno 30] Read-only file system: '" NAME "'\n"

/* What is given to all of them: an environment of the least, and a larger one with packages. */
struct stage {
    char *scratch;
    struct environment small;
    struct environment large;
    struct caller_rules *rules;
    json_t *nothing;
};

static const char *const *hints_needs(const struct environment *environment)
{
    static const char *const needs[] = {"/opt/python", NULL};

    (void)environment;
    return needs;
}

static const struct environment_kind hints_kind = {.isolation = ISOLATION_NONE};
static const struct environment_ops hints_ops = {.kind = &hints_kind, .needs = hints_needs};

static char *hints_read[] = {(char *)"/srv/data", NULL};
static char *hints_write[] = {(char *)"/srv/out", NULL};

static char *hints_hosts[] = {(char *)"packages.example.org:443", (char *)"10.0.0.5:80", NULL};

static struct python_facts *facts_of_large(void)
{
    AUTO_JSON json_t *answer = json_pack("{s:s, s:{s:b, s:b}}", "version", "3.11.2", "packages",
                                         "python-dateutil", 1, "found-tool", 0);

    return python_facts_read(answer);
}

static int setup(void **state)
{
    struct stage *stage = NEW(struct stage);
    struct error err = ERROR_INIT;
    size_t index;

    stage->scratch = scratch_new();
    stage->small.name = memory_copy_string("small");
    stage->small.definition = json_pack("{s:s}", "type", "system");
    stage->small.settings.limits = (struct process_limits){.memory = 512 << 20, .processes = 64};
    stage->small.settings.max_timeout = 60;
    stage->small.settings.sandbox =
        (struct sandbox_settings){.is_wanted = true, .read = hints_read, .write = hints_write};
    stage->small.ops = &hints_ops;
    stage->large.ops = &hints_ops;
    stage->large.name = memory_copy_string("large");
    stage->large.definition = json_pack("{s:s, s:[s,s,s]}", "type", "venv", "pip_packages",
                                        "Opencv_Python>=4", "scikit.learn", "my-tool[x]");
    stage->large.settings.limits = (struct process_limits){.memory = 1024 << 20, .processes = 64};
    stage->large.settings.max_timeout = 600;
    stage->large.facts = facts_of_large();
    stage->nothing = json_array();
    stage->rules =
        caller_rules_new(stage->nothing, stage->nothing, &stage->small.settings, &index, &err);
    *state = stage;
    return 0;
}

static int teardown(void **state)
{
    struct stage *stage = *state;

    caller_rules_free(stage->rules);
    json_decref(stage->nothing);
    free(stage->small.name);
    free(stage->large.name);
    json_decref(stage->small.definition);
    json_decref(stage->large.definition);
    python_facts_free(stage->large.facts);
    scratch_free(stage->scratch);
    free(stage);
    return 0;
}

/* What a case may change in the facts. */
enum {
    MAY_DEFINE = 1 << 0,
    HAS_LARGE = 1 << 1,
    HAD_FENCE = 1 << 2,
    HAD_ALL = 1 << 3, /* the time that there is */
    HAD_MAGIC = 1 << 4,
    AT_TERMINAL = 1 << 5,
    IN_SCRATCH = 1 << 6, /* each "@" in the errors is the working directory */
    HAS_HOSTS = 1 << 7,  /* that it reaches */
};

struct hint_case {
    const char *code;
    const char *errors;
    const char *said;      /* the hints with "|" between them; a part; NULL: none */
    const char *changes;   /* of a result that failed; NULL: none */
    const char *arguments; /* of the call, in JSON; NULL: none but the code */
    unsigned flags;
};

static json_t *object_of(const char *text)
{
    json_t *object = text ? json_loads(text, 0, NULL) : json_object();

    assert_non_null(object);
    return object;
}

/* Owned by the caller. */
static char *errors_of(const struct stage *stage, const struct hint_case *each)
{
    const char *errors = each->errors ? each->errors : "";
    const char *place = each->flags & IN_SCRATCH ? strchr(errors, '@') : NULL;

    return place
               ? memory_format("%.*s%s%s", (int)(place - errors), errors, stage->scratch, place + 1)
               : memory_copy_string(errors);
}

/* Joined by "|", owned by the caller. */
static char *hints_of(struct stage *stage, const struct hint_case *each)
{
    AUTO_FREE char *errors = errors_of(stage, each);
    AUTO_JSON json_t *result = json_pack("{s:b, s:i, s:s, s:s, s:n}", "success", 0, "returncode", 1,
                                         "stdout", "", "stderr", errors, "error");
    AUTO_JSON json_t *changes = object_of(each->changes);
    AUTO_JSON json_t *arguments = object_of(each->arguments);
    AUTO_JSON json_t *earlier = json_pack("{s:b, s:b}", "df", 1, "np", 1);
    const struct environment *const offered[] = {
        &stage->small, each->flags & HAS_LARGE ? &stage->large : NULL, NULL};
    AUTO_JSON json_t *hints = NULL;
    char *joined = memory_copy_string("");
    const json_t *hint;
    size_t i;

    json_object_update(result, changes);
    stage->small.settings.sandbox.hosts = each->flags & HAS_HOSTS ? hints_hosts : NULL;
    hints = hints_find(&(struct hint_facts){
        .structured = result,
        .arguments = arguments,
        .code = each->code,
        .code_length = strlen(each->code),
        .had_fence = each->flags & HAD_FENCE,
        .had_magic = each->flags & HAD_MAGIC,
        .directory = stage->scratch,
        .timeout = each->flags & HAD_ALL ? 60 : 5,
        .earlier = earlier,
        .environment = &stage->small,
        .offered = offered,
        .rules = each->flags & MAY_DEFINE ? stage->rules : NULL,
        .is_at_terminal = each->flags & AT_TERMINAL,
    });
    json_array_foreach (hints, i, hint) {
        char *longer = memory_format("%s%s%s", joined, i ? "|" : "", json_string_value(hint));

        free(joined);
        joined = longer;
    }
    return joined;
}

static void assert_hints(struct stage *stage, const struct hint_case *cases, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        AUTO_FREE char *hints = hints_of(stage, &cases[i]);

        assert_null(strchr(hints, '\n'));
        if (cases[i].said ? !strstr(hints, cases[i].said) : *hints != '\0')
            fail_msg("case %zu: %s\nsaid: %s\nexpected: %s", i, cases[i].code, hints,
                     cases[i].said ? cases[i].said : "nothing");
    }
}

#define SHOW(NAME, ...)                                                                            \
    static void NAME(void **state)                                                                 \
    {                                                                                              \
        static const struct hint_case cases[] = {__VA_ARGS__};                                     \
                                                                                                   \
        assert_hints(*state, cases, ARRAY_SIZE(cases));                                            \
    }

SHOW(test_what_is_no_python, //
     {"print(1)", NULL, "came in a Markdown fence", SUCCESS, NULL, HAD_FENCE},
     {"print(1)", NULL, "what began with % was left out", SUCCESS, NULL, HAD_MAGIC},
     {"Text\n```python\nx", SYNTAX(2) "invalid syntax\n", "Line 2 is a Markdown fence"},
     {"x = '''\n```\n'''; y z", SYNTAX(3) "invalid syntax\n", NULL},
     {"!pip install -q 'rich>=1' tqdm", SYNTAX(1) "invalid syntax\n",
      "Line 1 is a command of notebooks, not Python. Leave it out. To have that, call with "
      "environment_definition: {\"type\": \"venv\", \"pip_packages\": [\"rich>=1\", \"tqdm\"]}",
      NULL, NULL, MAY_DEFINE},
     {"%pip install rich", SYNTAX(1) "invalid syntax\n", "Calls cannot ask for packages here"},
     {"!pip install -r x.txt", SYNTAX(1) "invalid syntax\n", "[\"PACKAGE\"]", NULL, NULL,
      MAY_DEFINE},
     {"!pip install my_tool", SYNTAX(1) "invalid syntax\n",
      "Environment \"large\" has my_tool: call with environment: \"large\".", NULL, NULL,
      HAS_LARGE},
     {"!ls -l", SYNTAX(1) "invalid syntax\n", "subprocess.run("},
     {"x = 7\n%timeit x", SYNTAX(2) "invalid syntax\n", "Line 2 is a magic command"},
     {"x = (7\n%d e)", SYNTAX(2) "invalid syntax\n", NULL},
     {"x =", SYNTAX(1) "invalid syntax\n", NULL},
     {"import asyncio\nawait f()", SYNTAX(2) "'await' outside function\n",
      "Put line 2 into `async def main():`"},
     {"import m",
      FRAME(1) "  File \"/w/m.py\", line 3\n    await f()\nSyntaxError: 'await' outside "
               "function\n",
      NULL},
     {"def f():\n  await g()", SYNTAX(2) "'await' outside async function\n", "async def"})

SHOW(test_what_was_found_in_an_environment, //
     {"import dateutil", NO_MODULE("dateutil"),
      "Environment \"large\" has python-dateutil: call with environment: \"large\".", NULL, NULL,
      MAY_DEFINE | HAS_LARGE},
     {"import found_tool", NO_MODULE("found_tool"), "Environment \"large\" has found_tool", NULL,
      NULL, HAS_LARGE},
     {"import found", NO_MODULE("found"), "Calls cannot ask for packages here", NULL, NULL,
      HAS_LARGE})

SHOW(test_what_is_not_installed, //
     {"import cv2", NO_MODULE("cv2"),
      "Module \"cv2\" is in the package opencv-python, which this environment does not have. "
      "Environment \"large\" has opencv-python: call with environment: \"large\".",
      NULL, NULL, MAY_DEFINE | HAS_LARGE},
     {"import sklearn", NO_MODULE("sklearn"),
      "scikit-learn, which this environment does not have. To have that, call with "
      "environment_definition: {\"type\": \"venv\", \"pip_packages\": [\"scikit-learn\"]}",
      NULL, NULL, MAY_DEFINE},
     {"import yaml", NO_MODULE("yaml"),
      "{\"type\": \"venv\", \"pip_packages\": [\"rich\", \"pyyaml\"], \"python_version\": \"3\"}",
      NULL,
      "{\"environment_definition\": {\"type\": \"venv\", \"pip_packages\": [\"rich\"], "
      "\"python_version\": \"3\"}}",
      MAY_DEFINE},
     {BLOCK "import yaml", NO_MODULE("yaml"),
      "Add \"pyyaml\" to the dependencies in the script's block.", NULL, NULL, MAY_DEFINE},
     {"import numpy", NO_MODULE("numpy"), "Calls cannot ask for packages here"},
     {"import helpers", NO_MODULE("helpers"),
      "nor as a file of yours. If helpers is a package: To have that, call", NULL, NULL,
      MAY_DEFINE},
     {"import helpers", NO_MODULE("helpers"), "a file of yours. Calls cannot ask"},
     {"import telnetlib", NO_MODULE("telnetlib"), "Python 3.13 has no telnetlib"},
     {"import numpy.foo", NO_MODULE("numpy.foo"), NULL, NULL, NULL, MAY_DEFINE},
     {"try:\n import cv2\nexcept: pass", NO_MODULE("cv2"), NULL, SUCCESS, NULL, MAY_DEFINE},
     {"raise ImportError", FRAME(1) "ImportError: No module named 'cv2'\n", NULL},
     {"import subprocess", "error: externally-managed-environment\n\nx This\n",
      "A script cannot install packages into this Python. To have packages, call with", NULL, NULL,
      MAY_DEFINE},
     {"import subprocess", NULL, "A script cannot install packages",
      "{\"stdout\": \"error: externally-managed-environment\"}"},
     {"import subprocess", "externally managed\n", NULL},
     {"import subprocess", "/usr/bin/python3.13: No module named pip\n",
      "A script cannot install packages"},
     {"import subprocess", "/usr/bin/python3: No module named pip2\n", NULL},
     {BLOCK "1/0", FRAME(4) "ZeroDivisionError: division by zero\n",
      "block (# /// script) was passed over: calls cannot"},
     {BLOCK "1/0", FRAME(4) "ZeroDivisionError: division by zero\n",
      "because the call names an environment", NULL, "{\"environment\": \"small\"}", MAY_DEFINE},
     {BLOCK "1/0", FRAME(4) "ZeroDivisionError: division by zero\n", NULL, NULL, NULL, MAY_DEFINE},
     {BLOCK "print(1)", NULL, NULL, "{\"success\": true, \"stdout\": \"1\\n\"}"})

SHOW(test_files_and_names, //
     {"open('sale.csv')", NO_FILE("sale.csv"),
      "The working directory has no sale.csv, but it has sales.csv."},
     {"open('Sales.txt')", NO_FILE("Sales.txt"), "but it has sales.csv."},
     {"open('zebra')", NO_FILE("zebra"), "has no zebra; it has deep, notes.md, sales.csv."},
     {"open('/mnt/data/sales.csv')", NO_FILE("/mnt/data/sales.csv"),
      "The file is in the working directory: open it as \"sales.csv\"."},
     {"open('out/a', 'w')", NO_FILE("out/a"), "has no directory out. To write there"},
     {"open('deep/a')", NO_FILE("deep/a"), NULL}, {"open('.env')", NO_FILE(".env"), NULL},
     {"open('sales.csv')", NO_FILE("sales.csv"), NULL},
     {"os.chdir('deep'); open('sale.csv')", NO_FILE("sale.csv"), NULL},
     {"subprocess.run('sale.csv')",
      FRAME(1) "  File \"/usr/lib/python3.11/subprocess.py\", line 1955, in _execute_child\n    "
               "raise\nFileNotFoundError: [Errno 2] No such file or directory: 'sale.csv'\n",
      NULL},
     {"open('sale.csv')", NO_FILE("sale.csv"), NULL, SUCCESS},
     {"open('script.py', 'w')",
      FRAME(1) "OSError: [Errno 16] Device or resource busy: 'script.py'\n",
      "script.py is the program that runs"},
     {"open('a.py', 'w')", FRAME(1) "OSError: [Errno 16] Device or resource busy: 'a.py'\n", NULL},
     {"print(df)", FRAME(1) "NameError: name 'df' is not defined\n",
      "An earlier call has defined \"df\""},
     {"print(dg)", FRAME(1) "NameError: name 'dg' is not defined. Did you mean: 'df'?\n", NULL})

SHOW(
    test_limits, //
    {"f()", FRAME(1) "RuntimeError: can't start new thread\n", "64 processes and threads"},
    {"import numpy", "OpenBLAS blas_thread_init: pthread_create failed for thread 3 of 8: x\n",
     "64 processes and threads"},
    {"f()", FRAME(1) "RuntimeError: can't start new day\n", NULL},
    {"f()", FRAME(1) "MemoryError\n", "limit of memory is 512 MiB. Work in smaller pieces"},
    {"f()", NULL, "limit of memory is 512 MiB; environment \"large\" has 1 GiB.",
     "{\"out_of_memory\": true}", NULL, HAS_LARGE},
    {"f()", FRAME(1) "numpy.core._exceptions._ArrayMemoryError: Unable to allocate\n",
     "limit of memory"},
    {"f()", NULL, NULL, "{\"out_of_memory\": true, \"success\": true, \"stdout\": \"x\"}"},
    {"import time\n\ntime.sleep(9)", FRAME(3) "KeyboardInterrupt\n",
     "When the time was over, it was at line 3 (time.sleep(9)). `timeout` may be up to 60.",
     TIMED_OUT},
    {"while True: pass", NULL, "`timeout` may be up to 60.", TIMED_OUT},
    {"def f():\n  while 1: pass\nf()", NULL,
     "When the time was over, it was at line 2 (while 1: pass) in f, called from line 3. `timeout`",
     STACKS(STACK("true", 1, IN_PYTHON ", " AT(2, "f") ", " AT(3, "<module>")))},
    {"def f():\n  while 1: pass\nf()", FRAME(2) "KeyboardInterrupt\n",
     "it was at line 2 (while 1: pass). `timeout`",
     STACKS(STACK("true", 1, AT(2, "f") ", " AT(3, "<module>")))},
    {"a()\nb()", NULL,
     "it was at line 2 (b()); 3 other threads were at line 1 (a()) in a; 1 other thread was at "
     "line "
     "2 (b()) in b. `timeout`",
     STACKS(STACK("true", 1, AT(2, "<module>")) ", " STACK("false", 9, IN_PYTHON) ", " STACK(
         "false", 3, AT(1, "a")) ", " STACK("false", 1, AT(2, "b")))},
    {"a()", NULL, "When the time was over, 2 threads were at line 1 (a()) in a. `timeout`",
     STACKS(STACK("true", 1, IN_PYTHON) ", " STACK("false", 2, AT(1, "a")))},
    {"a()", NULL, "`timeout` may be up to 60.", STACKS(STACK("true", 1, IN_PYTHON))},
    {"while True: pass", NULL, "Environment \"large\" allows a `timeout` of up to 600.", TIMED_OUT,
     NULL, HAD_ALL | HAS_LARGE},
    {"while True: pass", NULL, "60 seconds are the most there are", TIMED_OUT, NULL, HAD_ALL},
    {"raise KeyboardInterrupt", FRAME(1) "KeyboardInterrupt\n", NULL})

SHOW(test_habits, //
     {"input()", FRAME(1) "EOFError: EOF when reading a line\n", "Nobody can answer input()"},
     {"1/0",
      FRAME(1) "ZeroDivisionError: division by zero\nException ignored in: <function f>\n" FRAME(
          2) "EOFError: EOF when reading a line\n",
      NULL},
     {"pickle.load(f)", FRAME(1) "EOFError: Ran out of input\n", NULL},
     {"plt.show()",
      "script.py:1: UserWarning: FigureCanvasAgg is non-interactive, and thus cannot be shown\n",
      "plt.savefig(", SUCCESS},
     {"plt.show()", "shown\n", NULL, SUCCESS},
     {"Tk()", FRAME(1) "_tkinter.TclError: no display name and no $DISPLAY environment variable\n",
      "There is no screen here"},
     {"display(x)", FRAME(1) "NameError: name 'display' is not defined\n",
      "display() is of notebooks"},
     {"displayed", FRAME(1) "NameError: name 'displayed' is not defined\n", NULL},
     {"crash()", NULL, "faulthandler.enable()", "{\"signal\": \"SIGSEGV\"}"},
     {"stop()", NULL, NULL, "{\"signal\": \"SIGTERM\"}"},
     {"Popen(['server'])", NULL, "1 process of it still ran and was ended",
      "{\"success\": true, \"stdout\": \"x\", \"ended_processes\": 1}"},
     {"Popen(['server']); 1/0", NULL, NULL, "{\"ended_processes\": 1}"},
     {"plt.show()", NULL, NULL, "{\"success\": true, \"files\": [{\"path\": \"figure-1.png\"}]}"},
     {"6 * 7", NULL, "Line 1 is a bare expression", SUCCESS},
     {"import os\nx = 7\nx # the answer\n\n", NULL, "Line 3 is a bare expression", SUCCESS},
     {"f(a,\n  b=c)", NULL, "Line 1 is a bare expression", SUCCESS},
     {"a == b", NULL, "Line 1 is a bare expression", SUCCESS},
     {"6 * 7", NULL, NULL, "{\"success\": true, \"stdout\": \"x\"}"},
     {"6 * 7", NULL, NULL, "{\"success\": false}"}, {"x = 7", NULL, NULL, SUCCESS},
     {"x: int = 7", NULL, NULL, SUCCESS}, {"x += 7", NULL, NULL, SUCCESS},
     {"if x:\n  x", NULL, NULL, SUCCESS}, {"if x: x", NULL, NULL, SUCCESS},
     {"import x", NULL, NULL, SUCCESS}, {"print(file=f)", NULL, NULL, SUCCESS},
     {"\"\"\"the end\"\"\"", NULL, NULL, SUCCESS}, {"...", NULL, NULL, SUCCESS},
     {"", NULL, NULL, SUCCESS}, {"del x", NULL, NULL, SUCCESS}, {"# 6 * 7", NULL, NULL, SUCCESS},
     {"x = '''\n6 * 7\n'''", NULL, NULL, SUCCESS})

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
        AUTO_FREE char *hints =
            hints_of(*state, &(struct hint_case){"x", errors[i], NULL, IN_HELD, NULL, IN_SCRATCH});

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
     {"x", "WARNING: Retrying (Retry(total=4", "Name them in pip_packages of an environment",
      IN_HELD, NULL, AT_TERMINAL},
     {"x", DENIED("/home/me"), "of the system. The configuration can show more (read, write).",
      IN_HELD, NULL, AT_TERMINAL},
     {"x", READ_ONLY("/usr/a"), "The configuration can open more (write).", IN_HELD, NULL,
      AT_TERMINAL},
     {"x", NO_FILE("/tmp/a"), "/tmp is each run's own", IN_HELD, NULL, AT_TERMINAL},
     {"import nowhere", NO_MODULE("nowhere"), NULL, NULL, NULL, AT_TERMINAL},
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

#define TEST(NAME) cmocka_unit_test_setup_teardown(NAME, setup, teardown)

static int setup_files(void **state)
{
    static const char *const names[] = {"sales.csv", "notes.md", ".hidden", "script.py"};
    struct stage *stage;

    setup(state);
    stage = *state;
    for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
        AUTO_FREE char *path = memory_format("%s/%s", stage->scratch, names[i]);

        close(open(path, O_CREAT | O_WRONLY | O_CLOEXEC, 0600));
    }
    {
        AUTO_FREE char *path = memory_format("%s/deep", stage->scratch);

        mkdir(path, 0700);
    }
    return 0;
}

static void test_a_hint_has_no_endless_list_in_it(void **state)
{
    AUTO_FREE char *code = memory_format("!pip install %*s", 3000, "rich");

    memset(code + strlen("!pip install "), 'x', 2990);
    assert_hints(*state,
                 &(struct hint_case){code, SYNTAX(1) "invalid syntax\n", .flags = MAY_DEFINE}, 1);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        TEST(test_what_is_no_python),
        TEST(test_what_was_found_in_an_environment),
        TEST(test_what_is_not_installed),
        cmocka_unit_test_setup_teardown(test_files_and_names, setup_files, teardown),
        TEST(test_limits),
        TEST(test_habits),
        TEST(test_the_closed_network),
        TEST(test_a_network_of_listed_hosts),
        TEST(test_a_loopback_of_its_own),
        TEST(test_what_a_sandbox_does_not_show),
        TEST(test_a_script_that_left_its_directory),
        TEST(test_a_database_in_a_sandbox),
        cmocka_unit_test_setup_teardown(test_one_word_about_a_path, setup_files, teardown),
        cmocka_unit_test_setup_teardown(test_what_is_closed_gets_one_line, setup_files, teardown),
        TEST(test_a_tmp_of_its_own),
        TEST(test_the_home_of_scripts),
        TEST(test_what_is_said_at_a_terminal),
        TEST(test_refused_calls_and_layers),
        TEST(test_a_hint_has_no_endless_list_in_it),
    };

    setvbuf(stdout, NULL, _IOLBF, 0);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
