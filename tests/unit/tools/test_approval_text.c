#include "server/tools/python/approval_text.h"

#include "base/json.h"
#include "environments/catalog/catalog.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

static const struct environment_settings defaults = {
    .timeout = 30,
    .max_timeout = 600,
    .approval = APPROVAL_ALWAYS,
    .limits = {.memory = 512 << 20, .processes = 64, .file_size = 1 << 30},
    .disk = 1 << 30,
    .output = 100,
};

/* What is said of CODE in the environment "x" of DEFINITION (JSON text). Owned by the caller. */
static char *text_for_call(const char *definition, const char *code, const json_t *files)
{
    struct catalog *catalog = catalog_new(&(struct catalog_settings){.state = "/nowhere"});
    AUTO_JSON json_t *parsed = json_loads(definition, 0, NULL);
    struct error err = ERROR_INIT;
    const char *key;
    char *text;

    if (catalog_add(catalog, "x", parsed, &defaults, &key, &err) < 0)
        fail_msg("%s", err.message);
    text = approval_text(&(struct approval_subject){
        .environment = catalog_find(catalog, "x"),
        .timeout = 2.5,
        .directory = "a\nb",
        .files = files,
        .code = code,
        .length = strlen(code),
    });
    catalog_free(catalog);
    return text;
}

static char *text_for(const char *definition, const char *code)
{
    return text_for_call(definition, code, NULL);
}

static void test_everything_that_matters_is_said_and_the_code_is_last(void **state)
{
    AUTO_FREE char *text =
        text_for("{\"type\": \"system\", \"executable\": \"/usr/bin/python3\"}", "print(1)\n");

    (void)state;
    assert_string_equal(
        text,
        "Run this Python code? Answer yes or no. A reason for the model may follow the no.\n"
        "\n"
        "- Environment: x (system)\n"
        "- Python: /usr/bin/python3\n"
        "- Isolation: none: it has the files and the network of the server's user\n"
        "- Working directory: a<U+000A>b\n"
        "- Limits: 2.5 seconds, 512 MiB of memory, 64 processes and threads, 1 GiB of new files\n"
        "- Code: 1 line, 9 bytes, SHA-256 "
        "cc42155088fca5730758db72b2a5bca33112a941dfaa2d43098ec422ce4ea213\n"
        "\n"
        "The whole code; all below is code.\n"
        "\n"
        "    1 | print(1)\n");
}

static void assert_says(const char *definition, const char *line)
{
    AUTO_FREE char *text = text_for(definition, "1");

    if (!strstr(text, line))
        fail_msg("%s is not in:\n%s", line, text);
}

static void test_a_container_says_what_it_lets_in(void **state)
{
    static const char definition[] =
        "{\"type\": \"docker\", \"image\": \"lab\", \"network\": \"bridge\", \"gpus\": \"all\","
        " \"runtime\": \"runsc\", \"keep_container_running\": true, \"user\": \"1:2\","
        " \"volumes\": {\"/srv/a\": \"/a\", \"/srv/b\": {\"path\": \"/b\", \"mode\": \"rw\"}}}";

    (void)state;
    assert_says(definition,
                "\n- Environment: x (docker)\n"
                "- Image: lab\n"
                "- Isolation: a container of the runtime runsc, which is kept for later "
                "calls\n"
                "- User: 1:2\n"
                "- Network: bridge\n"
                "- Files: /srv/a as /a, read-only\n"
                "- Files: /srv/b as /b, which it may change\n"
                "- Files: its working directory, which it may change\n"
                "- GPUs: \"all\"\n");
    assert_says(
        "{\"type\": \"docker\", \"dockerfile\": \"/lab/Dockerfile\", \"network\": \"none\"}",
        "\n- Image: built from /lab/Dockerfile\n- Isolation: a container\n- Network: none\n");
}

static void test_what_is_installed_is_said(void **state)
{
    (void)state;
    assert_says("{\"type\": \"venv\", \"python_version\": \"3.11\", \"pip_packages\": [\"a\", "
                "\"b>=1\"], \"requirements_file\": \"/r.txt\", \"allow_source_builds\": true}",
                "\n- Packages: a, b>=1\n- Packages: those in /r.txt\n"
                "- Packages: built from source where they have no wheel\n");
    assert_says("{\"type\": \"venv\", \"python_version\": \"3.11\"}",
                "\n- Python: 3.11, in a virtual environment\n- Isolation: none");
    assert_says("{\"type\": \"venv\", \"venv_path\": \"/v\"}",
                "\n- Python: of the virtual environment /v\n");
}

static void test_where_packages_come_from_is_no_secret_told(void **state)
{
    AUTO_FREE char *text = text_for(
        "{\"type\": \"docker\", \"image\": \"lab\", \"network\": \"none\", \"pip_packages\": "
        "[\"a\"], \"pip_index_url\": \"https://me:secret@host/\","
        " \"environment\": {\"TOKEN\": \"secret\"}}",
        "1");

    (void)state;
    assert_null(strstr(text, "secret"));
}

static void test_files_are_shown_like_code(void **state)
{
    AUTO_JSON json_t *files = json_pack("[{s:s, s:s}]", "path", "m.py", "text", "x = 1\ny = 2");
    AUTO_FREE char *text = text_for_call("{\"type\": \"system\"}", "import m", files);

    (void)state;
    assert_non_null(strstr(text, "\nFiles that the call puts there first, SHA-256 "));
    assert_non_null(strstr(text, "m.py"));
    assert_non_null(strstr(text, "x = 1"));
    assert_true(strstr(text, "x = 1") < strstr(text, "import m"));
}

static void test_a_sandbox_is_described_by_what_it_opens(void **state)
{
    AUTO_FREE char *closed =
        text_for("{\"type\": \"system\", \"isolation\": \"sandbox\"}", "print(1)\n");
    AUTO_FREE char *opened =
        text_for("{\"type\": \"venv\", \"isolation\": \"sandbox\", \"require\": \"sandbox\", "
                 "\"network\": true, \"read\": [\"/usr/share\"], \"write\": [\"/srv\"]}",
                 "print(1)\n");
    AUTO_FREE char *listed = text_for("{\"type\": \"system\", \"isolation\": \"sandbox\", "
                                      "\"network\": [\"a.example:1\", \"b.example:2\"]}",
                                      "print(1)\n");

    (void)state;
    assert_non_null(strstr(listed, "\n- Network: a.example:1, through a proxy\n"
                                   "- Network: b.example:2, through a proxy\n"));
    assert_non_null(strstr(
        closed, "\n- Isolation: a sandbox\n"
                "- Network: none\n"
                "- Files: its working directory and a /tmp of its own, which it may change\n"));
    assert_non_null(strstr(
        opened, "\n- Isolation: a sandbox\n"
                "- Network: this machine's\n"
                "- Files: /usr/share, read-only\n"
                "- Files: /srv, which it may change\n"
                "- Files: its working directory and a /tmp of its own, which it may change\n"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_everything_that_matters_is_said_and_the_code_is_last),
        cmocka_unit_test(test_a_container_says_what_it_lets_in),
        cmocka_unit_test(test_what_is_installed_is_said),
        cmocka_unit_test(test_where_packages_come_from_is_no_secret_told),
        cmocka_unit_test(test_files_are_shown_like_code),
        cmocka_unit_test(test_a_sandbox_is_described_by_what_it_opens),
    };

    setvbuf(stdout, NULL, _IOLBF, 0);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
