#include "environments/packages/package_installer.h"

#include "base/cleanup.h"
#include "base/json.h"
#include "base/memory.h"
#include "environments/interpreter/base_python.h"
#include "environments/interpreter/tool_sandbox.h"
#include "environments/packages/package_index.h"
#include "environments/packages/package_run.h"
#include "environments/packages/requirements.h"
#include "tests/unit/environments/scratch.h"
#include "tests/unit/environments/workbench.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>
#include <sys/stat.h>
#include <unistd.h>

static const struct {
    const char *line;
    const char *step;
} lines[] = {
    {"Collecting numpy>=1.26 (from -r requirements.txt (line 1))", "finding numpy>=1.26"},
    {"  Downloading numpy-2.0-py3-none-any.whl (18.0 MB)",
     "downloading numpy-2.0-py3-none-any.whl"},
    {"  Building wheel for slow (pyproject.toml): started", "building slow"},
    {"Installing collected packages: numpy, pandas", "installing numpy, pandas"},
    {PACKAGE_RUN_OPEN, "it has this machine's network, since neither settings nor a Python in /usr "
                       "name the index"},
    {"Looking in links: wheels", NULL},
    {"", NULL},
};

static void test_what_pip_says_is_a_step(void **state)
{
    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(lines); i++) {
        AUTO_FREE char *step = package_installation_step(lines[i].line);

        if (lines[i].step)
            assert_string_equal(step, lines[i].step);
        else
            assert_null(step);
    }
}

static void test_the_host_of_an_index_without_tls_is_trusted(void **state)
{
    static const struct {
        const char *url;
        const char *host;
    } indexes[] = {
        {"http://10.0.0.1:8080/simple/", "10.0.0.1:8080"},
        {"http://name:secret@mirror/simple", "mirror"},
        {"http://mirror/a@b", "mirror"},
        {"https://mirror/simple", NULL},
        {NULL, NULL},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(indexes); i++) {
        AUTO_FREE char *host = package_index_plain_host(indexes[i].url);

        if (indexes[i].host)
            assert_string_equal(host, indexes[i].host);
        else
            assert_null(host);
    }
}

/* An installer that writes how it was started, with "@" for the scratch directory and without the
 * program of pip, and with what variables. */
static const char INSTALLER[] = "#!/bin/sh\n"
                                "test \"$1\" = -ISc && shift 2 && set -- code \"$@\"\n"
                                "echo \"${0##*/}\" \"$@\" | /usr/bin/sed \"s|${PWD%/left}|@|g\"\n"
                                "/usr/bin/env\n";

struct trial {
    struct workbench *bench;
    struct requirements requirements;
    struct package_installation installation;
    char *search_path;  /* owned: what PATH was */
    char *command_line; /* owned, as the next */
    char *variables;    /* "\nNAME=VALUE\n..." */
    bool is_done;
    struct error err;
};

static const struct tool_holding nothing = {0};

static void forget_variables(void)
{
    static const char *const names[] = {"PIP_NO_INDEX",        "PIP_FIND_LINKS", "UV_FIND_LINKS",
                                        "PIP_EXTRA_INDEX_URL", "PIP_INDEX_URL",  "UV_INDEX_URL",
                                        "UV_DEFAULT_INDEX",    "PIP_CERT",       "SSL_CERT_FILE"};

    for (size_t i = 0; i < ARRAY_SIZE(names); i++)
        unsetenv(names[i]);
}

static const struct base_python with_pip = {.executable = (char *)"/nothing",
                                            .packages = (char *)"lib/packages",
                                            .folder = (char *)"/kept",
                                            .pip = (char *)"23.0"};

static int trial_setup(void **state)
{
    struct trial *trial = NEW(struct trial);
    struct package_installation *installation = &trial->installation;
    struct error err = ERROR_INIT;
    AUTO_JSON json_t *packages = json_pack("[s]", "gadget==1.0");

    assert_int_equal(workbench_setup((void **)&trial->bench), 0);
    shell(trial->bench->scratch, "mkdir -p bin venv runner/bin left");
    assert_int_equal(requirements_add_packages(&trial->requirements, packages, &err), 0);
    installation->host = trial->bench->host;
    installation->venv = memory_format("%s/venv", trial->bench->scratch);
    installation->runner = memory_format("%s/runner", trial->bench->scratch);
    installation->scratch = memory_format("%s/left", trial->bench->scratch);
    installation->requirements = &trial->requirements;
    installation->base = &with_pip;
    installation->holding = &nothing;
    free(workbench_program(trial->bench, "runner/bin/python", INSTALLER));
    trial->search_path = memory_copy_string(getenv("PATH"));
    forget_variables();
    *state = trial;
    return 0;
}

static int trial_teardown(void **state)
{
    struct trial *trial = *state;

    forget_variables();
    setenv("PATH", trial->search_path, 1);
    workbench_teardown((void **)&trial->bench);
    requirements_deinit(&trial->requirements);
    free((char *)trial->installation.venv);
    free((char *)trial->installation.runner);
    free((char *)trial->installation.scratch);
    free(trial->search_path);
    free(trial->command_line);
    free(trial->variables);
    free(trial);
    return 0;
}

/* From now on PATH has uv. */
static void provide_uv(struct trial *trial)
{
    free(workbench_program(trial->bench, "bin/uv", INSTALLER));
}

static void on_ended(void *data, const char *output, const struct error *err)
{
    struct trial *trial = data;

    if (err)
        fail_msg("%s", err->message);
    trial->command_line = memory_copy_string(output);
    trial->command_line[strcspn(output, "\n")] = '\0';
    trial->variables = memory_copy_string(strchr(output, '\n'));
    trial->is_done = true;
}

/* Returns whether there is an installer. */
static bool install_with_path(struct trial *trial, const char *path)
{
    AUTO_FREE char *file = memory_format("%s/requirements.txt", trial->installation.scratch);

    unlink(file);
    free(trial->command_line);
    free(trial->variables);
    trial->command_line = NULL;
    trial->variables = NULL;
    trial->is_done = false;
    trial->err = (struct error)ERROR_INIT;
    setenv("PATH", path, 1);
    if (!package_installation_start(&trial->installation, trial, NULL, on_ended, &trial->err))
        return false;
    workbench_wait(trial->bench, &trial->is_done);
    return true;
}

static bool install(struct trial *trial)
{
    AUTO_FREE char *bin = memory_format("%s/bin", trial->bench->scratch);

    return install_with_path(trial, bin);
}

static void assert_command_line(struct trial *trial, const char *expected)
{
    assert_true(install(trial));
    assert_string_equal(trial->command_line, expected);
}

static bool has_variable(const struct trial *trial, const char *variable)
{
    AUTO_FREE char *line = memory_format("\n%s\n", variable);

    return strstr(trial->variables, line);
}

static void test_uv_installs_where_there_is_one(void **state)
{
    struct trial *trial = *state;

    provide_uv(trial);
    assert_command_line(trial, "uv pip install --python @/runner/bin/python --prefix @/venv"
                               " --only-binary :all: -r @/left/requirements.txt");
}

/* It does not look into a parent. */
static void test_uv_installs_beside_a_parent_only_where_there_is_no_pip(void **state)
{
    struct trial *trial = *state;
    const struct base_python none = {.executable = (char *)"/nothing",
                                     .packages = (char *)"lib/packages"};

    provide_uv(trial);
    trial->installation.parent = "/parent/lib/packages";
    assert_command_line(trial, "python code @/venv @/venv/lib/packages /kept/site-packages"
                               " /parent/lib/packages install --only-binary :all:"
                               " -r @/left/requirements.txt");
    trial->installation.base = &none;
    assert_command_line(trial, "uv pip install --python @/runner/bin/python --prefix @/venv"
                               " --only-binary :all: -r @/left/requirements.txt");
}

static void test_uv_is_told_what_pip_is_set_up_with(void **state)
{
    struct trial *trial = *state;

    provide_uv(trial);
    setenv("PIP_NO_INDEX", "Yes", 1);
    setenv("PIP_FIND_LINKS", "/wheels", 1);
    trial->installation.allow_source_builds = true;
    assert_command_line(trial, "uv pip install --python @/runner/bin/python --prefix @/venv "
                               "--no-index -r @/left/requirements.txt");
    assert_true(has_variable(trial, "UV_FIND_LINKS=/wheels"));

    setenv("PIP_NO_INDEX", "0", 1);
    setenv("UV_FIND_LINKS", "/other", 1);
    assert_command_line(
        trial,
        "uv pip install --python @/runner/bin/python --prefix @/venv -r @/left/requirements.txt");

    setenv("PIP_NO_INDEX", "1", 1);
    assert_command_line(trial, "uv pip install --python @/runner/bin/python --prefix @/venv "
                               "--no-index -r @/left/requirements.txt");

    unsetenv("UV_FIND_LINKS");
    trial->installation.index_url = "https://mirror/simple";
    assert_command_line(
        trial,
        "uv pip install --python @/runner/bin/python --prefix @/venv -r @/left/requirements.txt");
}

static const struct {
    const char *name;
    const char *value;
    bool is_secret;
} passwords[] = {
    {"PIP_INDEX_URL", "https://name:secret@mirror/simple", true},
    {"PIP_EXTRA_INDEX_URL", "https://one/ https://token@two/simple", true},
    {"UV_INDEX_PRIVATE_PASSWORD", "secret", true},
    {"HTTPS_PROXY", "http://name:secret@proxy:3128", false},
    {"PIP_CLIENT_CERT", "/home/alice/key.pem", true},
    {"PIP_INDEX_URL", "https://mirror/simple/@latest", false},
    {"UV_INDEX", "https://one/ https://two/a@b", false},
};

static void test_code_of_packages_gets_no_password(void **state)
{
    static const struct tool_holding held = {.is_held = true};
    struct trial *trial = *state;

    trial->installation.allow_source_builds = true;
    for (size_t i = 0; i < ARRAY_SIZE(passwords); i++) {
        setenv(passwords[i].name, passwords[i].value, 1);
        trial->installation.holding = &nothing;
        assert_true(install(trial));
        trial->installation.holding = &held;
        if (passwords[i].is_secret) {
            assert_false(install(trial));
            assert_non_null(strstr(trial->err.message, "the password in "));
            assert_null(strstr(trial->err.message, "name:secret"));
        }
        unsetenv(passwords[i].name);
    }
    trial->installation.index_url = "https://name:secret@mirror/simple";
    assert_false(install(trial));
}

static void test_pip_of_the_base_installs_otherwise(void **state)
{
    struct trial *trial = *state;
    const struct base_python own = {.executable = (char *)"/nothing",
                                    .packages = (char *)"lib/packages",
                                    .own_pip = (char *)"9.0"};

    trial->installation.find_links = "/wheels";
    assert_command_line(trial, "python code @/venv @/venv/lib/packages /kept/site-packages  install"
                               " --only-binary :all: --find-links /wheels"
                               " -r @/left/requirements.txt");
    trial->installation.find_links = NULL;
    trial->installation.base = &own;
    assert_command_line(trial, "python code @/venv @/venv/lib/packages   install"
                               " --only-binary :all: -r @/left/requirements.txt");
}

static void test_a_base_without_pip_says_what_to_install(void **state)
{
    struct trial *trial = *state;
    const struct base_python none = {.executable = (char *)"/nothing",
                                     .version = (char *)"3.11.2",
                                     .packages = (char *)"lib/packages"};

    trial->installation.base = &none;
    assert_false(install(trial));
    assert_int_equal(trial->err.code, ERROR_UNAVAILABLE);
    assert_non_null(strstr(trial->err.message, "install python3.11-venv "));
}

static void test_no_program_of_the_venv_takes_part(void **state)
{
    struct trial *trial = *state;
    AUTO_FREE char *bin = memory_format("%s/venv/bin", trial->bench->scratch);
    AUTO_FREE char *path = memory_format("%s:/usr/bin", bin);

    shell(trial->bench->scratch, "mkdir venv/bin");
    free(workbench_program(trial->bench, "venv/bin/uv", INSTALLER));
    install_with_path(trial, path);
    assert_ptr_equal(strstr(trial->command_line, "python code"), trial->command_line);
    assert_true(has_variable(trial, "PATH=/usr/bin"));
}

/* Where packages come from, as the definition says. */
enum {
    SAYS_NOTHING = 1 << 0,
    SAYS_INDEX = 1 << 1,
    SAYS_LINKS = 1 << 2,
    ALWAYS = SAYS_NOTHING | SAYS_INDEX | SAYS_LINKS,
};

static const struct {
    const char *variable;
    unsigned handed_on; /* in which cases */
} handed_on[] = {
    {"PIP_RETRIES=2", ALWAYS},
    {"UV_HTTP_TIMEOUT=2", ALWAYS},
    {"https_proxy=http://proxy", ALWAYS},
    {"XDG_CONFIG_HOME=/config", ALWAYS},
    {"PIP_TARGET=/elsewhere", 0},
    {"pip_user=1", 0},
    {"UV_PROJECT_ENVIRONMENT=/elsewhere", 0},
    {"SECRET=1", 0},
    {"PIP_EXTRA_INDEX_URL=http://extra", SAYS_NOTHING | SAYS_LINKS},
    {"UV_DEFAULT_INDEX=http://own", SAYS_NOTHING | SAYS_LINKS},
    {"PIP_FIND_LINKS=/wheels", SAYS_NOTHING},
    {"UV_FIND_LINKS=/wheels", SAYS_NOTHING},
};

static void assert_handed_on(struct trial *trial, unsigned says)
{
    trial->installation.index_url = says == SAYS_INDEX ? "https://mirror/simple" : NULL;
    trial->installation.find_links = says == SAYS_LINKS ? "/wheels" : NULL;
    assert_true(install(trial));
    for (size_t i = 0; i < ARRAY_SIZE(handed_on); i++)
        if (has_variable(trial, handed_on[i].variable) != !!(handed_on[i].handed_on & says))
            fail_msg("%s, case %u", handed_on[i].variable, says);
}

static void test_an_installer_gets_what_the_operator_set_it_up_with(void **state)
{
    for (size_t i = 0; i < ARRAY_SIZE(handed_on); i++)
        putenv((char *)handed_on[i].variable);
    assert_handed_on(*state, SAYS_NOTHING);
    assert_handed_on(*state, SAYS_INDEX);
    assert_handed_on(*state, SAYS_LINKS);
    for (size_t i = 0; i < ARRAY_SIZE(handed_on); i++) {
        AUTO_FREE char *name = memory_copy_string(handed_on[i].variable);

        *strchr(name, '=') = '\0';
        unsetenv(name);
    }
}

static void test_the_index_of_the_definition_is_the_only_one(void **state)
{
    struct trial *trial = *state;

    setenv("PIP_INDEX_URL", "http://operator/simple", 1);
    trial->installation.index_url = "http://mirror/simple";
    assert_true(install(trial));
    assert_true(has_variable(trial, "PIP_INDEX_URL=http://mirror/simple"));
    assert_true(has_variable(trial, "UV_DEFAULT_INDEX=http://mirror/simple"));
    assert_true(has_variable(trial, "PIP_TRUSTED_HOST=mirror"));
    assert_true(has_variable(trial, "UV_INSECURE_HOST=mirror"));
    assert_null(strstr(trial->variables, "operator"));
}

static void test_the_index_of_pip_is_that_of_uv(void **state)
{
    struct trial *trial = *state;

    setenv("PIP_INDEX_URL", "http://operator/simple", 1);
    setenv("PIP_EXTRA_INDEX_URL", "http://extra/simple", 1);
    assert_true(install(trial));
    assert_true(has_variable(trial, "UV_DEFAULT_INDEX=http://operator/simple"));
    assert_true(has_variable(trial, "UV_INDEX=http://extra/simple"));

    setenv("UV_INDEX_URL", "http://own/simple", 1);
    assert_true(install(trial));
    assert_false(has_variable(trial, "UV_DEFAULT_INDEX=http://operator/simple"));

    unsetenv("UV_INDEX_URL");
    setenv("UV_DEFAULT_INDEX", "http://own/simple", 1);
    assert_true(install(trial));
    assert_true(has_variable(trial, "UV_DEFAULT_INDEX=http://own/simple"));
    assert_false(has_variable(trial, "UV_DEFAULT_INDEX=http://operator/simple"));
}

static void test_an_installer_keeps_to_its_scratch_directory(void **state)
{
    struct trial *trial = *state;
    AUTO_FREE char *expected = memory_format("TMPDIR=%s", trial->installation.scratch);

    assert_true(install(trial));
    assert_true(has_variable(trial, expected));
}

static void test_certificates_of_pip_are_those_of_uv(void **state)
{
    struct trial *trial = *state;

    setenv("PIP_CERT", "/certificates", 1);
    assert_true(install(trial));
    assert_true(has_variable(trial, "SSL_CERT_FILE=/certificates"));
}

static void test_what_is_ours_goes_before_what_the_operator_says(void **state)
{
    struct trial *trial = *state;

    setenv("PIP_NO_INPUT", "0", 1);
    setenv("PIP_NO", "0", 1); /* not that one */
    assert_true(install(trial));
    assert_true(has_variable(trial, "PIP_NO_INPUT=1"));
    assert_false(has_variable(trial, "PIP_NO_INPUT=0"));
    assert_true(has_variable(trial, "PIP_NO=0"));
    unsetenv("PIP_NO_INPUT");
    unsetenv("PIP_NO");
}

static void test_packages_with_hashes_are_held_to_them(void **state)
{
    static const char LINE[] = "widget==2.0 --hash=sha256:"
                               "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef";
    struct trial *trial = *state;
    AUTO_FREE char *file = memory_format("%s/requirements.txt", trial->installation.scratch);
    AUTO_FREE char *text = NULL;

    requirements_deinit(&trial->requirements);
    trial->requirements = (struct requirements){0};
    assert_int_equal(requirements_add_text(&trial->requirements, LINE, strlen(LINE), &trial->err),
                     0);
    assert_true(install(trial));
    assert_non_null(strstr(trial->command_line, " --require-hashes -r "));
    text = read_text(file);
    assert_memory_equal(text, LINE, strlen(LINE));
}

#define TRIAL(NAME) cmocka_unit_test_setup_teardown(NAME, trial_setup, trial_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_what_pip_says_is_a_step),
        cmocka_unit_test(test_the_host_of_an_index_without_tls_is_trusted),
        TRIAL(test_uv_installs_where_there_is_one),
        TRIAL(test_uv_installs_beside_a_parent_only_where_there_is_no_pip),
        TRIAL(test_uv_is_told_what_pip_is_set_up_with),
        TRIAL(test_code_of_packages_gets_no_password),
        TRIAL(test_pip_of_the_base_installs_otherwise),
        TRIAL(test_a_base_without_pip_says_what_to_install),
        TRIAL(test_no_program_of_the_venv_takes_part),
        TRIAL(test_an_installer_gets_what_the_operator_set_it_up_with),
        TRIAL(test_the_index_of_the_definition_is_the_only_one),
        TRIAL(test_the_index_of_pip_is_that_of_uv),
        TRIAL(test_an_installer_keeps_to_its_scratch_directory),
        TRIAL(test_certificates_of_pip_are_those_of_uv),
        TRIAL(test_what_is_ours_goes_before_what_the_operator_says),
        TRIAL(test_packages_with_hashes_are_held_to_them),
    };

    setvbuf(stdout, NULL, _IOLBF, 0);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
