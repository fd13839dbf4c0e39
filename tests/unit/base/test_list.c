#include "base/list.h"

#include "base/memory.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <cmocka.h>

struct item {
    int number;
    struct list link;
};

static struct item *item_of(struct list *link)
{
    return CONTAINER_OF(link, struct item, link);
}

static void test_elements_come_in_the_order_they_were_appended(void **state)
{
    struct item items[5];
    struct list list;
    int expected = 0;

    (void)state;
    list_init(&list);
    assert_true(list_is_empty(&list));
    for (int i = 0; i < 5; i++) {
        items[i].number = i;
        list_append(&list, &items[i].link);
    }
    assert_false(list_is_empty(&list));
    LIST_FOR_EACH (&list, link)
        assert_int_equal(item_of(link)->number, expected++);
    assert_int_equal(expected, 5);
}

static void test_removing_may_be_done_twice_and_in_any_place(void **state)
{
    struct item items[3] = {{1}, {2}, {3}};
    struct list list;
    int sum = 0;

    (void)state;
    list_init(&list);
    for (int i = 0; i < 3; i++)
        list_append(&list, &items[i].link);
    list_remove(&items[1].link);
    LIST_FOR_EACH (&list, link)
        sum += item_of(link)->number;
    assert_int_equal(sum, 4);
    list_remove(&items[0].link);
    list_remove(&items[1].link);
    list_remove(&items[2].link);
    assert_true(list_is_empty(&list));
}

static void test_the_safe_loop_may_free_what_it_visits(void **state)
{
    struct list list;
    int seen = 0;

    (void)state;
    list_init(&list);
    for (int i = 0; i < 10; i++) {
        struct item *item = NEW(struct item);

        item->number = i;
        list_append(&list, &item->link);
    }
    LIST_FOR_EACH_SAFE (&list, link) {
        struct item *item = item_of(link);

        assert_int_equal(item->number, seen++);
        list_remove(link);
        free(item);
    }
    assert_int_equal(seen, 10);
    assert_true(list_is_empty(&list));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_elements_come_in_the_order_they_were_appended),
        cmocka_unit_test(test_removing_may_be_done_twice_and_in_any_place),
        cmocka_unit_test(test_the_safe_loop_may_free_what_it_visits),
    };

    setvbuf(stdout, NULL, _IOLBF, 0);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
