#include "server/commands/step_display.h"

#include "base/log.h"
#include "base/memory.h"

#include <fcntl.h>
#include <poll.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <termios.h>
#include <unistd.h>
#include <cmocka.h>

enum { QUIET_MILLISECONDS = 30 };

/* stderr is a terminal of our own meanwhile, or a pipe. */
struct screen {
    int reading;
    int before; /* what stderr was */
    struct step_display display;
    char text[16384]; /* what was written last */
};

static void replace_stderr(struct screen *screen, int fd)
{
    screen->before = dup(STDERR_FILENO);
    dup2(fd, STDERR_FILENO);
    close(fd);
    fcntl(screen->reading, F_SETFL, O_NONBLOCK);
    step_display_init(&screen->display, ev_default_loop(0));
}

static void open_terminal(struct screen *screen, unsigned short columns, unsigned short rows)
{
    struct winsize size = {.ws_col = columns, .ws_row = rows};
    struct termios raw;
    int fd;

    screen->reading = posix_openpt(O_RDWR | O_NOCTTY);
    assert_int_equal(grantpt(screen->reading), 0);
    assert_int_equal(unlockpt(screen->reading), 0);
    fd = open(ptsname(screen->reading), O_RDWR | O_NOCTTY);
    assert_int_equal(tcgetattr(fd, &raw), 0);
    cfmakeraw(&raw);
    assert_int_equal(tcsetattr(fd, TCSANOW, &raw), 0);
    assert_int_equal(ioctl(fd, TIOCSWINSZ, &size), 0);
    replace_stderr(screen, fd);
}

static void open_pipe(struct screen *screen)
{
    int ends[2];

    assert_int_equal(pipe(ends), 0);
    screen->reading = ends[0];
    replace_stderr(screen, ends[1]);
}

static void close_screen(struct screen *screen)
{
    step_display_deinit(&screen->display);
    dup2(screen->before, STDERR_FILENO);
    close(screen->before);
    close(screen->reading);
}

/* What was written since the last time; a terminal hands it over in pieces, a little later. */
static const char *look(struct screen *screen)
{
    struct pollfd ready = {.fd = screen->reading, .events = POLLIN};
    size_t used = 0;

    while (used < sizeof screen->text - 1 && poll(&ready, 1, QUIET_MILLISECONDS) == 1) {
        ssize_t length = read(screen->reading, screen->text + used, sizeof screen->text - 1 - used);

        if (length <= 0)
            break;
        used += (size_t)length;
    }
    screen->text[used] = '\0';
    for (char *at = screen->text; (at = strstr(at, " s\033")); at++)
        memcpy(at - 5, "  N.N", 5); /* seconds */
    return screen->text;
}

/* The loop goes on until the next drawing, if there is one. */
static const char *look_at_next(struct screen *screen)
{
    ev_run(ev_default_loop(0), EVRUN_ONCE);
    return look(screen);
}

static void show(struct screen *screen, struct step_line *line, const char *name, double fraction,
                 const char *text)
{
    struct preparation_step step = {.fraction = fraction};

    snprintf(step.text, sizeof step.text, "%s", text);
    if (!line->name) {
        step_line_init(line, name);
        step_display_add(&screen->display, line);
    }
    step_display_update(&screen->display, line, &step);
}

static void use(const char *terminal, const char *no_colour)
{
    if (terminal)
        setenv("TERM", terminal, 1);
    else
        unsetenv("TERM");
    setenv("NO_COLOR", no_colour, 1);
}

static void test_a_step_is_drawn_in_one_line_with_its_bar(void **state)
{
    struct step_line line = {0};
    struct screen screen;

    (void)state;
    use("xterm", "1");
    open_terminal(&screen, 81, 24);
    show(&screen, &line, "science", 0.5, "pulling layer 3 of 7");
    assert_string_equal(look(&screen), ""); /* what is done at once is not drawn */
    assert_string_equal(look_at_next(&screen), "science  pulling layer 3 of 7            "
                                               "  [##########----------]  50 %    N.N s\033[J\r");
    show(&screen, &line, "science", -1, "installing numpy");
    assert_string_equal(look_at_next(&screen), "science  installing numpy                "
                                               "                                  N.N s\033[J\r");
    step_display_remove(&screen.display, &line);
    assert_string_equal(look(&screen), "\033[J");
    close_screen(&screen);
    assert_string_equal(look(&screen), "");
}

static void test_several_are_drawn_one_below_the_other(void **state)
{
    struct step_line a = {0};
    struct step_line b = {0};
    struct screen screen;

    (void)state;
    use("xterm", "1");
    open_terminal(&screen, 41, 24);
    show(&screen, &a, "a", -1, "");
    show(&screen, &b, "longer", -1, "creating venv");
    assert_string_equal(look_at_next(&screen), "a       preparing                  N.N s\033[K\r\n"
                                               "longer  creating venv              N.N s\033[J"
                                               "\033[1F");
    step_display_remove(&screen.display, &a);
    assert_string_equal(look(&screen), "\033[J");
    step_display_remove(&screen.display, &b);
    close_screen(&screen);
}

static void test_no_line_is_wider_than_the_terminal(void **state)
{
    static const unsigned short widths[] = {1, 2, 5, 10, 20, 24, 30, 63, 64, 65, 66, 80, 200};

    (void)state;
    use("xterm", "1");
    for (size_t i = 0; i < ARRAY_SIZE(widths); i++) {
        struct step_line line = {0};
        struct screen screen;

        open_terminal(&screen, widths[i], 24);
        show(&screen, &line, "an-environment-with-a-long-name", 1,
             "installing a-package-whose-name-alone-fills-more-than-the-line-has-room-for-in-it");
        look_at_next(&screen);
        assert_in_range(strcspn(screen.text, "\033"), 0, widths[i] - 1u);
        step_display_remove(&screen.display, &line);
        close_screen(&screen);
    }
}

static void test_no_more_lines_are_drawn_than_the_terminal_has(void **state)
{
    struct step_line lines[8] = {{{0}}};
    struct screen screen;
    size_t newlines = 0;

    (void)state;
    use("xterm", "1");
    open_terminal(&screen, 80, 5);
    for (int i = 0; i < 8; i++)
        show(&screen, &lines[i], "name", -1, "waiting");
    for (const char *text = look_at_next(&screen); *text; text++)
        newlines += *text == '\n';
    assert_int_equal(newlines, 3);
    assert_non_null(strstr(screen.text, "\033[3F"));
    for (int i = 0; i < 8; i++)
        step_display_remove(&screen.display, &lines[i]);
    close_screen(&screen);
}

static void test_the_log_is_written_where_the_lines_were(void **state)
{
    struct step_line line = {0};
    struct screen screen;

    (void)state;
    use("xterm", "1");
    open_terminal(&screen, 80, 24);
    show(&screen, &line, "science", -1, "installing");
    look_at_next(&screen);
    log_warning("something");
    log_warning("else");
    assert_string_equal(look(&screen), "\033[Jpyexecd: something\npyexecd: else\n");
    assert_non_null(strstr(look_at_next(&screen), "science  installing")); /* there again */
    step_display_remove(&screen.display, &line);
    close_screen(&screen);
}

static void test_a_terminal_that_was_stopped_holds_up_nobody(void **state)
{
    struct step_line line = {0};
    struct screen screen;

    (void)state;
    use("xterm", "1");
    open_terminal(&screen, 80, 24);
    show(&screen, &line, "science", -1, "installing");
    assert_int_equal(tcflow(STDERR_FILENO, TCOOFF), 0);
    assert_string_equal(look_at_next(&screen), "");
    assert_int_equal(tcflow(STDERR_FILENO, TCOON), 0);
    assert_non_null(strstr(look_at_next(&screen), "science  installing"));
    assert_int_equal(tcflow(STDERR_FILENO, TCOOFF), 0);
    step_display_hide(&screen.display);
    assert_int_equal(tcflow(STDERR_FILENO, TCOON), 0);
    assert_string_equal(look(&screen), "");
    step_display_remove(&screen.display, &line);
    assert_string_equal(look(&screen), "\033[J");
    close_screen(&screen);
}

static void test_nothing_is_drawn_over_output_that_is_not_whole(void **state)
{
    struct step_line line = {0};
    struct screen screen;

    (void)state;
    use("xterm", "1");
    open_terminal(&screen, 80, 24);
    show(&screen, &line, "science", -1, "installing");
    screen.display.is_held = true;
    assert_string_equal(look_at_next(&screen), "");
    screen.display.is_held = false;
    assert_non_null(strstr(look_at_next(&screen), "science  installing"));
    step_display_remove(&screen.display, &line);
    close_screen(&screen);
}

static void test_colour_is_left_out_where_it_is_not_wanted(void **state)
{
    static const struct {
        const char *no_colour;
        bool green;
    } cases[] = {{"", true}, {"1", false}};

    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        struct step_line line = {0};
        struct screen screen;

        use("xterm", cases[i].no_colour);
        open_terminal(&screen, 80, 24);
        show(&screen, &line, "science", 0.2, "building");
        assert_int_equal(strstr(look_at_next(&screen), "\033[32m####\033[m----") != NULL,
                         cases[i].green);
        assert_int_equal(strstr(screen.text, "####----") != NULL, !cases[i].green);
        step_display_remove(&screen.display, &line);
        close_screen(&screen);
    }
}

/* One line for each step, whatever else moves on. */
static void check_plain(struct screen *screen)
{
    struct step_line line = {0};

    show(screen, &line, "science", -1, "creating venv");
    show(screen, &line, "science", 0.1, "pulling");
    show(screen, &line, "science", 0.2, "pulling");
    show(screen, &line, "science", -1, "installing numpy");
    assert_false(ev_is_active(&screen->display.timer));
    assert_string_equal(look(screen),
                        "science: creating venv\nscience: pulling\nscience: installing numpy\n");
    step_display_remove(&screen->display, &line);
    assert_string_equal(look(screen), "");
    close_screen(screen);
}

static void test_without_a_terminal_each_step_is_a_line(void **state)
{
    struct screen screen;

    (void)state;
    use("xterm", "");
    open_pipe(&screen);
    check_plain(&screen);
}

static void test_a_terminal_that_cannot_move_its_cursor_gets_lines(void **state)
{
    struct screen screen;

    (void)state;
    use("dumb", "");
    open_terminal(&screen, 80, 24);
    check_plain(&screen);
    use(NULL, "");
    open_terminal(&screen, 80, 24);
    check_plain(&screen);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_step_is_drawn_in_one_line_with_its_bar),
        cmocka_unit_test(test_several_are_drawn_one_below_the_other),
        cmocka_unit_test(test_no_line_is_wider_than_the_terminal),
        cmocka_unit_test(test_no_more_lines_are_drawn_than_the_terminal_has),
        cmocka_unit_test(test_the_log_is_written_where_the_lines_were),
        cmocka_unit_test(test_a_terminal_that_was_stopped_holds_up_nobody),
        cmocka_unit_test(test_nothing_is_drawn_over_output_that_is_not_whole),
        cmocka_unit_test(test_colour_is_left_out_where_it_is_not_wanted),
        cmocka_unit_test(test_without_a_terminal_each_step_is_a_line),
        cmocka_unit_test(test_a_terminal_that_cannot_move_its_cursor_gets_lines),
    };

    setvbuf(stdout, NULL, _IOLBF, 0);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
