/* What tests of hints have in common: errors as Python writes them, environments, and cases. */
#pragma once

#include "base/memory.h"
#include "environments/environment.h"

#include <jansson.h>
#include <stddef.h>

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
    IN_CELL = 1 << 8,    /* of a session */
    IN_CONTAINER = 1 << 9,
    IN_PROJECT = 1 << 10,   /* the working directory is the operator's */
    HAS_PACKAGES = 1 << 11, /* the environment is a venv with some */
    CODE_ALONE = 1 << 12,   /* the model has written no other argument */
    HAS_TOOLS = 1 << 13, /* the environment has some, whose socket does not come to its scripts */
    WITHOUT_SANDBOX = 1 << 14, /* and then they could */
};

struct hint_case {
    const char *code;
    const char *errors;
    const char *said;      /* the hints with "|" between them; a part; NULL: none */
    const char *changes;   /* of a result that failed; NULL: none */
    const char *arguments; /* of the call, in JSON; NULL: none but the code */
    unsigned flags;
};

int stage_setup(void **state);
int stage_teardown(void **state);

/* Likewise, with some files in the working directory. */
int stage_setup_files(void **state);

/* Joined by "|", owned by the caller. */
char *stage_hints(struct stage *stage, const struct hint_case *each);

void stage_assert_hints(struct stage *stage, const struct hint_case *cases, size_t count);

#define SHOW(NAME, ...)                                                                            \
    static void NAME(void **state)                                                                 \
    {                                                                                              \
        static const struct hint_case cases[] = {__VA_ARGS__};                                     \
                                                                                                   \
        stage_assert_hints(*state, cases, ARRAY_SIZE(cases));                                      \
    }

#define TEST(NAME)       cmocka_unit_test_setup_teardown(NAME, stage_setup, stage_teardown)
#define TEST_FILES(NAME) cmocka_unit_test_setup_teardown(NAME, stage_setup_files, stage_teardown)
