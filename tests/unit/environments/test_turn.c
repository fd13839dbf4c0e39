#include "environments/turn.h"

#include "environments/environment.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <unistd.h>
#include <cmocka.h>

static void on_expired(struct turn *turn)
{
    ev_break(turn->loop, EVBREAK_ALL);
}

static void tools_begin(struct script_tools *tools, struct script_sender *sender)
{
    (void)tools;
    (void)sender;
}

static json_t *tools_end(struct script_tools *tools)
{
    (void)tools;
    return NULL;
}

static void tools_free(struct script_tools *tools)
{
    (void)tools;
}

/* A turn at work. */
struct work {
    struct turn turn;
    struct environment environment;
    struct script_tools tools;
};

static void work_begin(struct work *work, double seconds, double most)
{
    static const struct turn_ops ops = {.expired = on_expired};
    static const struct script_tools_ops tools_ops = {tools_begin, NULL, tools_end, tools_free};

    *work = (struct work){.tools.ops = &tools_ops};
    work->environment.settings.max_timeout = most;
    turn_init(&work->turn, &(struct turn_settings){
                               .ops = &ops,
                               .name = "turn",
                               .loop = ev_loop_new(0),
                               .environment = &work->environment,
                               .tools = &work->tools,
                           });
    work->turn.state = TURN_LOOKING;
    turn_work(&work->turn, seconds);
}

static void work_wait(struct work *work, enum script_wait wait)
{
    work->tools.waits(work->tools.data, wait);
}

/* The seconds until the deadline has come. */
static double work_expire(struct work *work)
{
    const double began = ev_time();

    ev_run(work->turn.loop, 0);
    return ev_time() - began;
}

static void work_end(struct work *work)
{
    struct ev_loop *loop = work->turn.loop;

    turn_leave(&work->turn);
    turn_deinit(&work->turn);
    ev_loop_destroy(loop);
}

static void code_is_not_at_work_for_ever_while_a_person_is_asked(void **state)
{
    struct work work;
    double seconds;

    (void)state;
    work_begin(&work, 0.5, 1);
    assert_true(work.turn.patience >= 600);
    work.turn.patience = 0.5;
    work_wait(&work, SCRIPT_WAITS_FOR_A_PERSON);
    seconds = work_expire(&work);
    assert_true(seconds > 1.4 && seconds < 10);
    work_end(&work);
}

static void questions_share_what_they_may_put_off(void **state)
{
    struct work work;
    double seconds = ev_time();

    (void)state;
    work_begin(&work, 0.5, 1);
    work.turn.patience = 0.5;
    for (int i = 0; i < 3; i++) {
        work_wait(&work, SCRIPT_WAITS_FOR_A_PERSON);
        usleep(300000);
        work_wait(&work, SCRIPT_WAITS_FOR_TOOLS);
    }
    assert_true(work.turn.patience == 0);
    work_expire(&work);
    seconds = ev_time() - seconds;
    assert_true(seconds > 1.4 && seconds < 10);
    work_end(&work);
}

static void a_deadline_that_has_passed_unseen_still_comes(void **state)
{
    struct work work;

    (void)state;
    work_begin(&work, 0.1, 10);
    usleep(200000);
    work_wait(&work, SCRIPT_WAITS_FOR_TOOLS);
    work_wait(&work, SCRIPT_WAITS_FOR_NOTHING);
    assert_true(work_expire(&work) < 5);
    work_end(&work);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(code_is_not_at_work_for_ever_while_a_person_is_asked),
        cmocka_unit_test(questions_share_what_they_may_put_off),
        cmocka_unit_test(a_deadline_that_has_passed_unseen_still_comes),
    };

    setvbuf(stdout, NULL, _IOLBF, 0);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
