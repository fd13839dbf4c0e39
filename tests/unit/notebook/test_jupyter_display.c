#include "base/cleanup.h"
#include "base/memory.h"
#include "environments/notebook/jupyter/display.h"
#include "tests/unit/environments/scratch.h"

#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <cmocka.h>

struct showing {
    char *scratch; /* owned: for files, and what is printed */
    struct jupyter_display display;
    int streams[2]; /* the real ones */
};

static int start_showing(void **state)
{
    struct showing *showing = NEW(struct showing);

    showing->scratch = scratch_new();
    showing->display.directory = open_directory(showing->scratch);
    *state = showing;
    return 0;
}

static int end_showing(void **state)
{
    struct showing *showing = *state;

    close(showing->display.directory);
    scratch_free(showing->scratch);
    free(showing);
    return 0;
}

static void redirect(struct showing *showing)
{
    fflush(NULL);
    for (int i = 0; i < 2; i++) {
        int fd = openat(showing->display.directory, i ? "err" : "out",
                        O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);

        showing->streams[i] = dup(i + 1);
        dup2(fd, i + 1);
        close(fd);
    }
}

static void restore(const struct showing *showing)
{
    for (int i = 0; i < 2; i++) {
        dup2(showing->streams[i], i + 1);
        close(showing->streams[i]);
    }
}

/* Shows what TEXT, JSON, stands for; OUT and ERR are what is printed then. */
static void assert_shows(struct showing *showing, const char *text, const char *out,
                         const char *err)
{
    AUTO_FREE char *out_path = memory_format("%s/out", showing->scratch);
    AUTO_FREE char *err_path = memory_format("%s/err", showing->scratch);
    AUTO_FREE char *printed = NULL;
    AUTO_FREE char *reported = NULL;
    json_t *data = json_loads(text, JSON_DECODE_ANY, NULL);

    redirect(showing);
    jupyter_display_show(&showing->display, data);
    restore(showing);
    json_decref(data);
    printed = read_text(out_path);
    reported = read_text(err_path);
    assert_string_equal(printed ? printed : "", out);
    assert_string_equal(reported ? reported : "", err);
}

static void assert_file(const struct showing *showing, const char *name, const char *text)
{
    AUTO_FREE char *path = memory_format("%s/%s", showing->scratch, name);
    AUTO_FREE char *found = read_text(path);

    assert_non_null(found);
    assert_string_equal(found, text);
}

static void a_text_is_a_line(void **state)
{
    assert_shows(*state, "{\"text/plain\": \"6\"}", "6\n", "");
    assert_shows(*state, "{\"text/plain\": \"x\", \"text/markdown\": \"# m\"}", "# m\n", "");
}

static void a_picture_is_a_file_and_its_name_is_printed(void **state)
{
    assert_shows(*state,
                 "{\"image/png\": \"aGVs\\nbG8=\\n\", \"text/plain\": \"<Figure size 1x1>\"}",
                 "[display-1.png]\n", "");
    assert_file(*state, "display-1.png", "hello");
    assert_shows(*state, "{\"image/svg+xml\": \"<svg/>\", \"text/plain\": \"a drawing\"}",
                 "[display-2.svg]\na drawing\n", "");
    assert_file(*state, "display-2.svg", "<svg/>");
}

static void a_page_is_for_what_has_no_text(void **state)
{
    assert_shows(*state, "{\"text/html\": \"<b>\", \"text/plain\": \"a frame\"}", "a frame\n", "");
    assert_shows(*state, "{\"text/html\": \"<b>\", \"text/plain\": \"<x.y object>\"}",
                 "[display-1.html]\n", "");
    assert_shows(*state, "{\"text/html\": \"<b>\"}", "[display-2.html]\n", "");
    assert_shows(*state, "{\"text/latex\": \"$x$\", \"text/plain\": \"<x at 0x1>\"}", "$x$\n", "");
    assert_file(*state, "display-1.html", "<b>");
}

/* A kernel may send anything. */
static void what_is_of_another_shape_shows_nothing(void **state)
{
    assert_shows(*state, "null", "", "");
    assert_shows(*state, "[1]", "", "");
    assert_shows(*state, "{}", "", "");
    assert_shows(*state, "{\"text/plain\": 1, \"text/html\": {}, \"image/png\": []}", "", "");
    assert_shows(*state, "{\"image/png\": \"no base64!\"}", "", "image/png is not base64\n");
}

static void a_file_that_is_there_is_left_alone(void **state)
{
    const struct showing *showing = *state;

    shell(showing->scratch, "echo mine > display-1.svg; ln -s /etc/passwd display-2.svg");
    assert_shows(*state, "{\"image/svg+xml\": \"<svg/>\"}", "[display-3.svg]\n", "");
    assert_file(showing, "display-1.svg", "mine\n");
}

static void a_cell_makes_so_many_files_and_no_more(void **state)
{
    struct showing *showing = *state;
    static const char picture[] = "{\"image/svg+xml\": \"<svg/>\"}";

    for (int i = 1; i <= 32; i++) {
        AUTO_FREE char *name = memory_format("[display-%d.svg]\n", i);

        assert_shows(showing, picture, name, "");
    }
    assert_shows(showing, picture, "",
                 "a cell saves at most 32 of what it displays; the others are lost\n");
    assert_shows(showing, picture, "", "");
    jupyter_display_begin(&showing->display);
    assert_shows(showing, picture, "[display-33.svg]\n", "");
}

int main(void)
{
#define TEST(NAME) cmocka_unit_test_setup_teardown(NAME, start_showing, end_showing)
    const struct CMUnitTest tests[] = {
        TEST(a_text_is_a_line),
        TEST(a_picture_is_a_file_and_its_name_is_printed),
        TEST(a_page_is_for_what_has_no_text),
        TEST(what_is_of_another_shape_shows_nothing),
        TEST(a_file_that_is_there_is_left_alone),
        TEST(a_cell_makes_so_many_files_and_no_more),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
