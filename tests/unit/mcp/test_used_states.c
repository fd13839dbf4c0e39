#include "server/mcp/used_states.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <cmocka.h>

enum { SECONDS = 600, NOW = 1000000 };

static bool take(struct used_states *states, const char *principal, unsigned number, int64_t made)
{
    char nonce[USED_STATES_NONCE_DIGITS + 1];

    snprintf(nonce, sizeof nonce, "%032u", number);
    return used_states_take(states, principal, nonce, made, NOW);
}

static void a_state_is_used_once(void **state)
{
    struct used_states *states = used_states_new(SECONDS);

    (void)state;
    assert_true(take(states, "p", 1, NOW));
    assert_false(take(states, "p", 1, NOW));
    assert_true(take(states, "p", 2, NOW));
    assert_false(take(states, "p", 3, NOW - SECONDS - 1));
    used_states_free(states);
}

/* Its own states that are as old as a forgotten one are refused, those of others are not. */
static void who_uses_too_many_forgets_its_own(void **state)
{
    struct used_states *states = used_states_new(SECONDS);

    (void)state;
    assert_true(take(states, "q", 1, NOW - 10));
    for (unsigned i = 0; i < USED_STATES; i++)
        assert_true(take(states, "p", i, NOW - 5 + (i > 0)));
    assert_false(take(states, "p", 0, NOW - 5));
    assert_false(take(states, "p", USED_STATES, NOW - 5));
    assert_true(take(states, "p", USED_STATES, NOW));
    assert_false(take(states, "q", 1, NOW - 10));
    assert_true(take(states, "q", 2, NOW - 10));
    used_states_free(states);
}

static void what_has_expired_makes_room(void **state)
{
    struct used_states *states = used_states_new(SECONDS);

    (void)state;
    for (unsigned i = 0; i < USED_STATES; i++)
        assert_true(take(states, "p", i, NOW));
    assert_true(used_states_take(states, "q", "later", NOW + SECONDS, NOW + SECONDS + 1));
    assert_true(used_states_take(states, "p", "old", NOW + 1, NOW + SECONDS + 1));
    used_states_free(states);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_state_is_used_once),
        cmocka_unit_test(who_uses_too_many_forgets_its_own),
        cmocka_unit_test(what_has_expired_makes_room),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
