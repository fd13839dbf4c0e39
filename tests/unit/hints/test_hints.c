/* Each hint about Python, packages and files with a case where it is said, and one or more where it
 * nearly is. Those about what a sandbox closes: test_hints_sandbox.c. */
#include "base/cleanup.h"
#include "tests/unit/hints/hint_stage.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

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
     {"import sklearn", NO_MODULE("sklearn"),
      "To have that, begin the program with the lines `# /// script`, "
      "`# dependencies = [\"scikit-learn\"]` and `# ///`.",
      NULL, NULL, MAY_DEFINE | CODE_ALONE},
     {"import sklearn", NO_MODULE("sklearn"), "Calls cannot ask for packages here", NULL,
      "{\"blocks\": []}", MAY_DEFINE | CODE_ALONE},
     {BLOCK "import sklearn", NO_MODULE("sklearn"),
      "Add \"scikit-learn\" to the dependencies in the script's block", NULL, NULL,
      MAY_DEFINE | CODE_ALONE},
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
      "nor as a file of yours. To have packages, call with environment_definition: {\"type\": "
      "\"venv\", \"pip_packages\": [\"PACKAGE\"]}",
      NULL, NULL, MAY_DEFINE},
     {"import helpers", NO_MODULE("helpers"), "a file of yours. Calls cannot ask"},
     {"import google.generativeai", NO_MODULE("google"), "\"pip_packages\": [\"PACKAGE\"]", NULL,
      NULL, MAY_DEFINE},
     {"import mysql.connector", NO_MODULE("mysql"), "in the package mysql-connector-python, which",
      NULL, NULL, MAY_DEFINE},
     {"import dns.resolver", NO_MODULE("dns"), "[\"dnspython\"]", NULL, NULL, MAY_DEFINE},
     {"from tools import files", NO_MODULE("tools"),
      "Scripts in this environment cannot call tools: its engine is far away.", NULL, NULL,
      HAS_TOOLS | MAY_DEFINE},
     {"from tools import files", NO_MODULE("tools"),
      "Scripts in this environment cannot call tools: they run without isolation", NULL, NULL,
      HAS_TOOLS | WITHOUT_SANDBOX | AT_TERMINAL},
     {"from tools import files", NO_MODULE("tools"), "Calls cannot ask"},
     {"from tools import files", NO_MODULE("tools"), "add --with PACKAGE", NULL, NULL,
      WITHOUT_SANDBOX | AT_TERMINAL},
     {"import helpers", NO_MODULE("helpers"), "Calls cannot ask", NULL, NULL, HAS_TOOLS},
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
     {"open('x/script.py', 'w')",
      FRAME(1) "OSError: [Errno 16] Device or resource busy: '@/script.py'\n",
      "script.py is the program that runs", NULL, NULL, IN_SCRATCH},
     {"os.rename('a', 'script.py')",
      FRAME(1) "OSError: [Errno 16] Device or resource busy: 'a' -> 'script.py'\n",
      "script.py is the program that runs"},
     {"open('my_script.py', 'w')",
      FRAME(1) "OSError: [Errno 30] Read-only file system: 'my_script.py'\n", NULL},
     {"open('/usr/lib/script.py', 'w')",
      FRAME(1) "OSError: [Errno 30] Read-only file system: '/usr/lib/script.py'\n", NULL},
     {"os.chdir('/usr'); open('script.py', 'w')",
      FRAME(1) "OSError: [Errno 30] Read-only file system: 'script.py'\n", NULL},
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
    {"while True: pass", NULL, "seconds are the most there are: do the work in several calls",
     TIMED_OUT, NULL, CODE_ALONE},
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
     {"df.to_csv('/tmp/report.csv')", NULL,
      "Gone with this run: /tmp/report.csv. /tmp is each run's own. Write files that should stay, "
      "and "
      "pictures that should be shown, into the working directory: use relative paths.",
      "{\"success\": true, \"left_files\": {\"count\": 1, \"names\": [\"report.csv\"]}}"},
     {"write()", NULL, "/tmp/a, /tmp/<U+001B>[31m and 9 more. ",
      "{\"success\": true, \"left_files\": {\"count\": 11, \"names\": [\"a\", \"\\u001b[31m\"]}}"},
     {"write(); 1/0", NULL, NULL, "{\"left_files\": {\"count\": 1, \"names\": [\"a\"]}}"},
     {"plt.show()", NULL, NULL, "{\"success\": true, \"files\": [{\"path\": \"figure-1.png\"}]}"},
     {"6 * 7", NULL, "Line 1 is a bare expression", SUCCESS},
     {"import os\nx = 7\nx # the answer\n\n", NULL, "Line 3 is a bare expression", SUCCESS},
     {"df.head(\n  2)", NULL, "Line 1 is a bare expression", SUCCESS},
     {"len(x) if x in (1, 2) else min(x)[0]", NULL, "Line 1 is a bare", SUCCESS},
     {"x[1].y", NULL, "Line 1 is a bare", SUCCESS}, {"'f(x)'", NULL, "Line 1 is a", SUCCESS},
     {"x and (y or z)", NULL, "Line 1 is a bare", SUCCESS}, {"main()", NULL, NULL, SUCCESS},
     {"os.makedirs('a')", NULL, NULL, SUCCESS}, {"logging.info('a')", NULL, NULL, SUCCESS},
     {"f.write('a')", NULL, NULL, SUCCESS}, {"plt.savefig('a')", NULL, NULL, SUCCESS},
     {"f(a,\n  b=c)", NULL, NULL, SUCCESS}, {"f2(x)", NULL, NULL, SUCCESS},
     {"x.head()()", NULL, NULL, SUCCESS}, {"x[0](1)", NULL, NULL, SUCCESS},
     {"main (1)", NULL, NULL, SUCCESS}, {"plt.title('len')", NULL, NULL, SUCCESS},
     {"obj.list()", NULL, NULL, SUCCESS}, {"len(f(x))", NULL, NULL, SUCCESS},
     {"[print(y) for y in x]", NULL, NULL, SUCCESS}, {"(x := f)", NULL, NULL, SUCCESS},
     {"a >> b", NULL, NULL, SUCCESS}, {"exit", NULL, NULL, SUCCESS},
     {"(f\n(x))", NULL, NULL, SUCCESS}, {"'' f('", NULL, NULL, SUCCESS},
     {"a == b", NULL, "Line 1 is a bare expression", SUCCESS},
     {"6 * 7", NULL, NULL, "{\"success\": true, \"stdout\": \"x\"}"},
     {"6 * 7", NULL, NULL, "{\"success\": false}"}, {"x = 7", NULL, NULL, SUCCESS},
     {"x: int = 7", NULL, NULL, SUCCESS}, {"x += 7", NULL, NULL, SUCCESS},
     {"if x:\n  x", NULL, NULL, SUCCESS}, {"if x: x", NULL, NULL, SUCCESS},
     {"import x", NULL, NULL, SUCCESS}, {"print(file=f)", NULL, NULL, SUCCESS},
     {"\"\"\"the end\"\"\"", NULL, NULL, SUCCESS}, {"...", NULL, NULL, SUCCESS},
     {"", NULL, NULL, SUCCESS}, {"del x", NULL, NULL, SUCCESS}, {"# 6 * 7", NULL, NULL, SUCCESS},
     {"x = '''\n6 * 7\n'''", NULL, NULL, SUCCESS})

#define VALUE_ERROR         FRAME(1) "ValueError: invalid literal for int() with base 10: ''\n"
#define NO_ITEM             "IndexError: list index out of range\n"
#define FAILED_WITH(NUMBER) "{\"returncode\": " #NUMBER "}"
#define NO_KEY                                                                                     \
    FRAME(2) "  File \"<frozen os>\", line 679, in __getitem__\nKeyError: 'OPENAI_API_KEY'\n"

SHOW(test_values_from_outside, //
     {"n = int(sys.stdin.readline())", VALUE_ERROR, "Standard input is empty here"},
     {"a = sys.stdin.read().split()\nb = a[0]", FRAME(2) NO_ITEM, "Standard input is empty here"},
     {"for line in sys.stdin: print(line)", NULL, "Standard input is empty here", SUCCESS},
     {"json.load(sys.stdin)",
      FRAME(1) "json.decoder.JSONDecodeError: Expecting value: line 1 column 1 (char 0)\n",
      "Standard input is empty here"},
     {"n = int(x)", VALUE_ERROR, NULL}, {"# sys.stdin\nn = int(x)", VALUE_ERROR, NULL},
     {"x = 'sys.stdin'\nn = int(x)", VALUE_ERROR, NULL},
     {"for line in sys.stdin: print(line)\nprint(7)", NULL, NULL,
      "{\"success\": true, \"stdout\": \"7\\n\"}"},
     {"sys.stdin.read(); 1/0", FRAME(1) "ZeroDivisionError: division by zero\n", NULL},
     {"import argparse",
      "usage: script.py [-h] x\nscript.py: error: the following arguments are required: x\n",
      "Scripts get no arguments here. Pass them in the code: parse_args([\"VALUE\"]).",
      FAILED_WITH(2)},
     {"import click", "Usage: script.py [OPTIONS] NAME\n\nError: Missing argument 'NAME'.\n",
      "Pass them in the code: main([\"VALUE\"]).", FAILED_WITH(2)},
     {"import argparse", "script.py: error: the following arguments are required: x\n", NULL,
      FAILED_WITH(1)},
     {"import argparse", "script.py: error: argument x: invalid int value: 'a'\n", NULL,
      FAILED_WITH(2)},
     {"x = sys.argv[1]", FRAME(1) NO_ITEM, "Scripts get no arguments here: write"},
     {"_, x = sys.argv", FRAME(1) "ValueError: not enough values to unpack (expected 2, got 1)\n",
      "Scripts get no arguments here: write"},
     {"if len(sys.argv) < 2:\n    sys.exit('Usage: a.py FILE')", "Usage: a.py FILE\n",
      "Scripts get no arguments here: write"},
     {"print(len(sys.argv))\nprint('Memory usage: 1')", NULL, NULL,
      "{\"success\": true, \"stdout\": \"1\\nMemory usage: 1\\n\"}"},
     {"print(len(sys.argv))\nprint('Usage: a')", NULL, "Scripts get no arguments here",
      "{\"success\": true, \"stdout\": \"1\\nUsage: a\\n\"}"},
     {"x = [][1]\nprint(sys.argv)", FRAME(1) NO_ITEM, NULL},
     {"print('Usage: a.py FILE')", NULL, NULL, "{\"success\": true, \"stdout\": \"Usage: x\\n\"}"},
     {"import os\nos.environ['OPENAI_API_KEY']", NO_KEY,
      "Scripts have none of your environment variables, so OPENAI_API_KEY is not set. If"},
     {"x",
      FRAME(1) "openai.OpenAIError: The api_key client option must be set either by passing "
               "api_key to the client or by setting the OPENAI_API_KEY environment variable\n",
      "so OPENAI_API_KEY is not set"},
     {"x",
      FRAME(1) "openai.OpenAIError: Missing credentials. Please pass an `api_key`, or set the "
               "`OPENAI_API_KEY` or `OPENAI_ADMIN_KEY` environment variable.\n",
      "so OPENAI_API_KEY is not set"},
     {"x", FRAME(1) "botocore.exceptions.NoCredentialsError: Unable to locate credentials\n",
      "Scripts have none of your credentials"},
     {"x['OPENAI_API_KEY']", FRAME(1) "KeyError: 'OPENAI_API_KEY'\n", NULL},
     {"x", FRAME(1) "ValueError: bad environment variable\n", NULL}, {"x", NO_KEY, NULL, SUCCESS})

SHOW(test_text_that_was_sent_wrongly, //
     {"import os\\nprint(1)", SYNTAX(1) "unexpected character after line continuation character\n",
      "The code is one line with \\n in it: it was escaped twice. Send real line ends."},
     {"x = 1\nprint(\\\"a\\\")",
      SYNTAX(2) "unexpected character after line continuation character\n",
      "Line 2 has a backslash outside of a string."},
     {"x = 1\ny = 2 \\ 3", SYNTAX(2) "unexpected character after line continuation character\n",
      NULL},
     {"x = y\\n", SYNTAX(1) "invalid syntax\n", NULL},
     {"Here it is:\n```python\nprint(1)\n```", SYNTAX(1) "invalid syntax\n",
      "Line 1 is text, not Python: the code begins behind the fence (```) in line 2. Send the code "
      "alone."},
     {"x = = 1\ny = '''\n```\n'''", SYNTAX(1) "invalid syntax\n", NULL},
     {"print 1\nx = 2", SYNTAX(1) "Missing parentheses in call to 'print'\n", NULL})

SHOW(test_paths_of_elsewhere, //
     {"open('C:\\\\Users\\\\a.csv')", NO_FILE("C:\\\\Users\\\\a.csv"),
      "That is a path of Windows, and scripts here run on Linux: use a relative path, and pass "
      "data in `files`."},
     {"open('D:/a.csv')", NO_FILE("D:/a.csv"), "a relative path.", NULL, "{\"blocks\": []}"},
     {"open('D:/a.csv')", NO_FILE("D:/a.csv"), "a relative path.", NULL, NULL, CODE_ALONE},
     {"open('C:\\Users')",
      SYNTAX(1) "(unicode error) 'unicodeescape' codec can't decode bytes in position 2-3: "
                "truncated \\UXXXXXXXX escape\n",
      "That is a path of Windows"},
     {"open(name, 'w')", NULL,
      "C:\\Users\\a.csv is a file of the working directory with just that name",
      "{\"success\": true, \"files\": [{\"path\": \"b.csv\"}, {\"path\": "
      "\"C:\\\\Users\\\\a.csv\"}]}"},
     {"open(name, 'w')", NULL, NULL,
      "{\"success\": true, \"files\": [{\"path\": \"C:\"}, {\"path\": \"a\\\\b.csv\"}]}"},
     {"'\\U1'", SYNTAX(1) "(unicode error) 'unicodeescape' codec can't decode bytes\n", NULL},
     {"run('git log')", "fatal: not a git repository (or any parent up to mount point /x)\n",
      "The working directory is not a project: it has only what calls have put there. Pass data "
      "in `files`.",
      SUCCESS},
     {"run('git log')", "fatal: not a git repository\n", NULL, SUCCESS, NULL, IN_PROJECT},
     {"run(['git', 'log'])",
      FRAME(1) "subprocess.CalledProcessError: Command '['git', 'log']' returned non-zero exit "
               "status 128.\n",
      "The working directory is not a project"},
     {"run('git clone x')",
      FRAME(1) "subprocess.CalledProcessError: Command 'git clone x' returned non-zero exit status "
               "128.\n",
      NULL},
     {"run('git log')", "fatal: not a git repository\n",
      "there. Scripts here can also read /srv/data: use absolute paths for that.", IN_HELD},
     {"print(os.listdir('.'))", NULL, "The working directory is not a project",
      "{\"success\": true, \"stdout\": \"['script.py']\\n\"}"},
     {"print(glob.glob('*.csv'))", NULL, "it has only what calls have put there",
      "{\"success\": true, \"stdout\": \"[]\\n\"}"},
     {"print([])", NULL, NULL, "{\"success\": true, \"stdout\": \"[]\\n\"}"},
     {"print(os.listdir('.'))", NULL, NULL, "{\"success\": true, \"stdout\": \"['a']\\n\"}"})

SHOW(test_what_nobody_sees, //
     {"matplotlib.use('TkAgg')",
      FRAME(1) "ImportError: Cannot load backend 'TkAgg' which requires the 'tk' interactive "
               "framework, as 'headless' is currently running\n",
      "leave matplotlib.use() out"},
     {"cv2.imshow('a', b)",
      FRAME(1) "cv2.error: OpenCV(4.8.0) error: (-2:Unspecified error) The function is not "
               "implemented. Rebuild the library with Windows, GTK+ 2.x or Cocoa support.\n",
      "cv2.imwrite("},
     {"f()", "qt.qpa.xcb: could not connect to display\n", "windows cannot be opened"},
     {"fig.show()", FRAME(1) "webbrowser.Error: could not locate runnable browser\n",
      "There is no browser and no screen here"},
     {"webbrowser.open('a')\nprint(1)", NULL, "nobody has seen what webbrowser.open()",
      "{\"success\": true, \"stdout\": \"1\\n\"}"},
     {"print('webbrowser.open')", NULL, NULL, "{\"success\": true, \"stdout\": \"1\\n\"}"},
     {"import plotly.express as px\nfig.show()", NULL, "figure.write_html(", SUCCESS},
     {"from PIL import Image\nimage.show()", NULL, "image.save(", SUCCESS},
     {"import matplotlib.pyplot as plt\nfrom PIL import Image\nplt.show()\nprint(1)", NULL, NULL,
      "{\"success\": true, \"stdout\": \"1\\n\"}"},
     {"import plotly.express as px\nfig.show()", NULL, NULL,
      "{\"success\": true, \"files\": [{\"path\": \"a.html\"}]}"},
     {"df.show()\nprint(1)", NULL, NULL, "{\"success\": true, \"stdout\": \"1\\n\"}"})

#define NO_OPTION(NAME)                                                                            \
    FRAME(1)                                                                                       \
    "ImportError: Missing optional dependency '" NAME "'.  Use pip or conda to "                   \
    "install.\n"

SHOW(test_what_a_library_needs_for_more, //
     {"df.to_markdown()", NO_OPTION("tabulate"),
      "That needs the package tabulate, which this environment does not have. To have that, call "
      "with environment_definition: {\"type\": \"venv\", \"pip_packages\": [\"pandas>=2\", "
      "\"numpy\", \"tabulate\"]}",
      NULL, NULL, MAY_DEFINE | HAS_PACKAGES},
     {"import pandas\nimport yaml", NO_MODULE("yaml"), "[\"pandas>=2\", \"numpy\", \"pyyaml\"]",
      NULL, NULL, MAY_DEFINE | HAS_PACKAGES},
     {"import dateutil.tz\nimport nowhere", NO_OPTION("lxml"), "\"pip_packages\": [\"lxml\"]", NULL,
      NULL, MAY_DEFINE},
     {"df.to_parquet('a')",
      FRAME(1) "ImportError: Unable to find a usable engine; tried using: 'pyarrow', "
               "'fastparquet'.\n",
      "needs the package pyarrow", NULL, NULL, MAY_DEFINE},
     {"df.to_markdown()",
      FRAME(1) "ImportError: `Import tabulate` failed.  Use pip, conda, or your preferred package "
               "management tool to install the tabulate package.\n",
      "needs the package tabulate"},
     {"df.to_sql('a', 'sqlite:///a')",
      FRAME(1) "ImportError: Using a URI string requires 'sqlalchemy' version '2.0.42' or newer.\n",
      "needs the package sqlalchemy"},
     {"x", FRAME(1) "ImportError: `Import of_nobody` failed.\n", NULL},
     {"df.plot()",
      FRAME(1) "ImportError: matplotlib is required for plotting when the default backend "
               "\"matplotlib\" is selected.\n",
      "needs the package matplotlib"},
     {"x", FRAME(1) "ImportError: cannot import name 'a' from 'b'\n", NULL})

#define CELL_FRAME(LINE)                                                                           \
    "Traceback (most recent call last):\n  File \"<cell 3>\", line " #LINE ", in <module>\n"

SHOW(test_cells, //
     {"import yaml", CELL_FRAME(1) "ModuleNotFoundError: No module named 'yaml'\n",
      "To have that, begin a cell with %pip install pyyaml", NULL, NULL, MAY_DEFINE | IN_CELL},
     {"import yaml", CELL_FRAME(1) "ModuleNotFoundError: No module named 'yaml'\n",
      "Calls cannot ask for packages here", NULL, NULL, IN_CELL},
     {"import found_tool", CELL_FRAME(1) "ModuleNotFoundError: No module named 'found_tool'\n",
      "call with environment: \"large\", session: \"new\".", NULL, NULL, HAS_LARGE | IN_CELL},
     {"import yaml",
      "----------\nModuleNotFoundError      Traceback (most recent call last)\nCell In[1], line "
      "1\n----> 1 import yaml\n\nModuleNotFoundError: No module named 'yaml'\n",
      "is in the package pyyaml", NULL, NULL, MAY_DEFINE | IN_CELL},
     {"x = sys.argv[1]", CELL_FRAME(1) NO_ITEM, "Scripts get no arguments here", NULL, NULL,
      IN_CELL},
     {"x = sys.argv[1]",
      "Traceback (most recent call last):\n  File \"<cell 1>\", line 1, in f\n" NO_ITEM, NULL, NULL,
      NULL, IN_CELL},
     {"import os\\nprint(1)",
      "  File \"<cell 3>\", line 1\n    x\n    ^\nSyntaxError: unexpected character after line "
      "continuation character\n",
      "it was escaped twice", NULL, NULL, IN_CELL},
     {"6 * 7", NULL, NULL, SUCCESS, NULL, IN_CELL},
     {"def read(): return sys.stdin.read()", NULL, NULL, SUCCESS, NULL, IN_CELL},
     {"print(df)", CELL_FRAME(1) "NameError: name 'df' is not defined\n", NULL, NULL, NULL,
      IN_CELL},
     {"display(1)", CELL_FRAME(1) "NameError: name 'display' is not defined\n", NULL, NULL, NULL,
      IN_CELL},
     {"Popen(['server'])", NULL, NULL,
      "{\"success\": true, \"stdout\": \"x\", \"ended_processes\": 1}", NULL, IN_CELL},
     {"import plotly.express as px\nfig.show()", NULL, NULL, SUCCESS, NULL, IN_CELL})

static void test_a_hint_has_no_endless_list_in_it(void **state)
{
    AUTO_FREE char *code = memory_format("!pip install %*s", 3000, "rich");

    memset(code + strlen("!pip install "), 'x', 2990);
    stage_assert_hints(
        *state, &(struct hint_case){code, SYNTAX(1) "invalid syntax\n", .flags = MAY_DEFINE}, 1);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        TEST(test_what_is_no_python),
        TEST(test_what_was_found_in_an_environment),
        TEST(test_what_is_not_installed),
        TEST_FILES(test_files_and_names),
        TEST(test_limits),
        TEST(test_habits),
        TEST(test_values_from_outside),
        TEST(test_text_that_was_sent_wrongly),
        TEST(test_paths_of_elsewhere),
        TEST(test_what_nobody_sees),
        TEST(test_what_a_library_needs_for_more),
        TEST(test_cells),
        TEST(test_a_hint_has_no_endless_list_in_it),
    };

    setvbuf(stdout, NULL, _IOLBF, 0);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
