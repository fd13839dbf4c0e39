/* Which files of a run are shown as pictures, with the real helper and with ones that misbehave. */
#include "environments/pictures/gallery.h"

#include "base/base64.h"
#include "base/cleanup.h"
#include "base/fd.h"
#include "base/json.h"
#include "base/list.h"
#include "base/memory.h"
#include "environments/pictures/picture_answer.h"
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

/* 2x1 pixels, red and blue. */
#define TINY_PNG                                                                                   \
    "iVBORw0KGgoAAAANSUhEUgAAAAIAAAABCAIAAAB7QOjdAAAADUlEQVR4nGP4zwAE/wEHAAH/4iOeWQAAAABJRU5E"     \
    "rkJggg=="

struct exhibition {
    struct gallery gallery;
    struct workbench *bench;
    json_t *files; /* owned */
    int directory; /* owned */
    bool is_done;
};

static void on_done(struct gallery *gallery)
{
    struct exhibition *exhibition = CONTAINER_OF(gallery, struct exhibition, gallery);

    assert_false(exhibition->is_done);
    exhibition->is_done = true;
}

static void exhibition_open(struct exhibition *exhibition, struct workbench *bench,
                            const char *helper)
{
    *exhibition = (struct exhibition){
        .gallery = {.loop = bench->loop, .host = bench->host, .helper = helper, .done = on_done},
        .bench = bench,
        .files = json_array(),
        .directory = open_directory(bench->scratch),
    };
}

static void exhibition_close(struct exhibition *exhibition)
{
    gallery_deinit(&exhibition->gallery);
    json_decref(exhibition->files);
    close(exhibition->directory);
}

/* NAME is among the files of the run. */
static void exhibition_list(struct exhibition *exhibition, const char *name, const char *type)
{
    json_array_append_new(exhibition->files,
                          json_pack("{s:s, s:s, s:i}", "path", name, "mimeType", type, "size", 1));
}

static void exhibition_add(struct exhibition *exhibition, const char *name, const void *data,
                           size_t length)
{
    AUTO_FREE char *path = memory_format("%s/%s", exhibition->bench->scratch, name);
    struct error err = ERROR_INIT;

    assert_int_equal(fd_replace_file(path, 0600, data, length, &err), 0);
    exhibition_list(exhibition, name, "image/png");
}

static void exhibition_add_picture(struct exhibition *exhibition, const char *name)
{
    size_t length;
    AUTO_FREE char *png = base64_decode(BASE64_STANDARD, TINY_PNG, strlen(TINY_PNG), &length);

    assert_non_null(png);
    exhibition_add(exhibition, name, png, length);
}

static void exhibition_show(struct exhibition *exhibition)
{
    if (gallery_start(&exhibition->gallery, exhibition->directory, exhibition->files) ==
        OUTCOME_PENDING)
        workbench_wait(exhibition->bench, &exhibition->is_done);
}

/* What is told of the picture at INDEX: the type that it is shown as, or why it is not. */
static const char *told(const struct exhibition *exhibition, size_t index)
{
    const json_t *picture = json_array_get(exhibition->gallery.pictures, index);
    const char *reason = json_object_get_string(picture, "reason");

    return reason ? reason : json_object_get_string(picture, "mimeType");
}

static const char *helper_path(void)
{
    return getenv("PICTURE_HELPER");
}

static void test_a_picture_is_shown(void **state)
{
    struct exhibition exhibition;
    const json_t *picture;

    exhibition_open(&exhibition, *state, helper_path());
    exhibition_list(&exhibition, "notes.txt", "text/plain");
    exhibition_add_picture(&exhibition, "plot.png");
    exhibition_show(&exhibition);
    picture = json_array_get(exhibition.gallery.pictures, 0);
    assert_int_equal(json_array_size(exhibition.gallery.pictures), 1);
    assert_string_equal(json_object_get_string(picture, "path"), "plot.png");
    assert_string_equal(json_object_get_string(picture, "mimeType"), "image/png");
    assert_string_equal(json_object_get_string(picture, "data"), TINY_PNG);
    assert_int_equal(json_integer_value(json_object_get(picture, "width")), 2);
    assert_int_equal(json_integer_value(json_object_get(picture, "fileWidth")), 2);
    exhibition_close(&exhibition);
}

static void test_one_that_is_started_again_begins_anew(void **state)
{
    struct exhibition exhibition;

    exhibition_open(&exhibition, *state, helper_path());
    exhibition_add_picture(&exhibition, "plot.png");
    for (int i = 0; i < GALLERY_PICTURES + 2; i++) {
        json_decref(exhibition.gallery.pictures);
        exhibition.gallery.pictures = NULL;
        exhibition.is_done = false;
        exhibition_show(&exhibition);
        assert_int_equal(json_array_size(exhibition.gallery.pictures), 1);
        assert_string_equal(told(&exhibition, 0), "image/png");
    }
    exhibition_close(&exhibition);
}

static void test_without_pictures_nothing_is_started(void **state)
{
    struct exhibition exhibition;

    exhibition_open(&exhibition, *state, "/nonexistent");
    exhibition_list(&exhibition, "notes.txt", "text/plain");
    assert_int_equal(gallery_start(&exhibition.gallery, exhibition.directory, exhibition.files),
                     OUTCOME_READY);
    assert_int_equal(json_array_size(exhibition.gallery.pictures), 0);
    exhibition_close(&exhibition);
}

/* What a script puts in the place of a picture, and what it does to it after the run. */
static void test_what_only_looks_like_a_picture_is_not_shown(void **state)
{
    struct exhibition exhibition;

    exhibition_open(&exhibition, *state, helper_path());
    exhibition_add(&exhibition, "text.png", "hello", 5);
    shell(exhibition.bench->scratch, "mkfifo fifo.png; ln -s /etc/passwd link.png; mkdir d.png;"
                                     "mkdir real; ln -s real folder; truncate -s 1T sparse.png");
    exhibition_list(&exhibition, "fifo.png", "image/png");
    exhibition_list(&exhibition, "link.png", "image/png");
    exhibition_list(&exhibition, "d.png", "image/png");
    exhibition_list(&exhibition, "folder/a.png", "image/png");
    exhibition_list(&exhibition, "../a.png", "image/png");
    exhibition_list(&exhibition, "sparse.png", "image/png");
    exhibition_list(&exhibition, "gone.png", "image/png");
    exhibition_add_picture(&exhibition, "plot.png");
    exhibition_show(&exhibition);
    assert_string_equal(told(&exhibition, 0), "broken, or no picture that can be read");
    for (size_t i = 1; i < 6; i++)
        assert_string_equal(told(&exhibition, i), "it cannot be opened");
    assert_string_equal(told(&exhibition, 6), "too large: more than 32 MiB");
    assert_string_equal(told(&exhibition, 7), "it cannot be opened");
    assert_string_equal(told(&exhibition, 8), "image/png");
    exhibition_close(&exhibition);
}

static void test_the_first_few_are_shown(void **state)
{
    struct exhibition exhibition;

    exhibition_open(&exhibition, *state, helper_path());
    for (int i = 0; i < GALLERY_PICTURES + 2; i++) {
        AUTO_FREE char *name = memory_format("%d.png", i);

        exhibition_add_picture(&exhibition, name);
    }
    exhibition_show(&exhibition);
    assert_int_equal(json_array_size(exhibition.gallery.pictures), GALLERY_PICTURES + 2);
    assert_string_equal(told(&exhibition, GALLERY_PICTURES - 1), "image/png");
    assert_string_equal(told(&exhibition, GALLERY_PICTURES), "no more are shown of one run");
    assert_string_equal(told(&exhibition, GALLERY_PICTURES + 1), "no more are shown of one run");
    exhibition_close(&exhibition);
}

/* Shows a picture by a helper of this shell script; returns what is told of it. */
static char *told_by(struct workbench *bench, const char *script)
{
    AUTO_FREE char *text = memory_format("#!/bin/sh\n%s\n", script);
    AUTO_FREE char *helper = workbench_program(bench, "helper", text);
    struct exhibition exhibition;
    char *said;

    exhibition_open(&exhibition, bench, helper);
    exhibition_add_picture(&exhibition, "plot.png");
    exhibition_show(&exhibition);
    said = memory_copy_string(told(&exhibition, 0));
    exhibition_close(&exhibition);
    return said;
}

static void test_a_helper_that_misbehaves_shows_nothing(void **state)
{
    static const struct {
        const char *script;
        const char *said;
    } cases[] = {
        {"exit 1", "it could not be looked at"},
        {"kill -9 $$", "broken, or no picture that can be read"},
        {"echo hello", "broken, or no picture that can be read"},
        {"while :; do echo yyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyy; done",
         "broken, or no picture that can be read"},
        {"exec sleep 1000", "there was no time to read it"},
    };

    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        AUTO_FREE char *said = told_by(*state, cases[i].script);

        assert_string_equal(said, cases[i].said);
    }
}

/* A good picture is not called a broken one. */
static void test_a_helper_that_cannot_run_says_nothing_of_the_picture(void **state)
{
    struct workbench *bench = *state;
    struct exhibition exhibition;

    exhibition_open(&exhibition, bench, "/nonexistent");
    exhibition_add_picture(&exhibition, "plot.png");
    exhibition_show(&exhibition);
    assert_string_equal(told(&exhibition, 0), "it could not be looked at");
    exhibition_close(&exhibition);

    process_host_stop(bench->host);
    exhibition_open(&exhibition, bench, helper_path());
    exhibition_add_picture(&exhibition, "plot.png");
    exhibition_show(&exhibition);
    assert_string_equal(told(&exhibition, 0), "it could not be looked at");
    exhibition_close(&exhibition);
}

/* Each of three pictures has the size that leaves no room for a third. */
static void test_all_together_have_a_limit(void **state)
{
    struct workbench *bench = *state;
    AUTO_FREE char *text =
        memory_format("#!/bin/sh\nprintf '\\002\\0\\0\\0\\0\\0\\0\\0\\001\\0\\0\\0\\001\\0\\0\\0"
                      "\\0\\270\\013\\0\\001\\0\\0\\0\\001\\0\\0\\0'\nexec head -c %d /dev/zero\n",
                      PICTURE_BYTES);
    AUTO_FREE char *helper = workbench_program(bench, "helper", text);
    struct exhibition exhibition;

    exhibition_open(&exhibition, bench, helper);
    exhibition_add_picture(&exhibition, "a.png");
    exhibition_add_picture(&exhibition, "b.png");
    exhibition_add_picture(&exhibition, "c.png");
    exhibition_show(&exhibition);
    assert_string_equal(told(&exhibition, 0), "image/png");
    assert_string_equal(told(&exhibition, 1), "image/png");
    assert_string_equal(told(&exhibition, 2), "no more are shown of one run");
    exhibition_close(&exhibition);
}

static void test_what_is_cancelled_says_nothing(void **state)
{
    struct workbench *bench = *state;
    AUTO_FREE char *helper = workbench_program(bench, "helper", "#!/bin/sh\nexec sleep 1000\n");
    struct exhibition exhibition;

    exhibition_open(&exhibition, bench, helper);
    exhibition_add_picture(&exhibition, "plot.png");
    assert_int_equal(gallery_start(&exhibition.gallery, exhibition.directory, exhibition.files),
                     OUTCOME_PENDING);
    gallery_cancel(&exhibition.gallery);
    exhibition_close(&exhibition);
    process_host_stop(bench->host);
    while (!process_host_is_idle(bench->host))
        ev_run(bench->loop, EVRUN_ONCE);
    assert_false(exhibition.is_done);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_a_picture_is_shown, workbench_setup,
                                        workbench_teardown),
        cmocka_unit_test_setup_teardown(test_one_that_is_started_again_begins_anew, workbench_setup,
                                        workbench_teardown),
        cmocka_unit_test_setup_teardown(test_without_pictures_nothing_is_started, workbench_setup,
                                        workbench_teardown),
        cmocka_unit_test_setup_teardown(test_what_only_looks_like_a_picture_is_not_shown,
                                        workbench_setup, workbench_teardown),
        cmocka_unit_test_setup_teardown(test_the_first_few_are_shown, workbench_setup,
                                        workbench_teardown),
        cmocka_unit_test_setup_teardown(test_a_helper_that_misbehaves_shows_nothing,
                                        workbench_setup, workbench_teardown),
        cmocka_unit_test_setup_teardown(test_a_helper_that_cannot_run_says_nothing_of_the_picture,
                                        workbench_setup, workbench_teardown),
        cmocka_unit_test_setup_teardown(test_all_together_have_a_limit, workbench_setup,
                                        workbench_teardown),
        cmocka_unit_test_setup_teardown(test_what_is_cancelled_says_nothing, workbench_setup,
                                        workbench_teardown),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
