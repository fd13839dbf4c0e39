#include "base/coding_line.h"

#include "base/cleanup.h"
#include "base/memory.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

static const struct {
    const char *code;
    const char *correct; /* NULL: it stays as it is */
} cases[] = {
    {"# -*- coding: cp1252 -*-\nx", "# -*- coding: utf-8 -*-\nx"},
    {"# coding=latin-1", "# coding=utf-8"},
    {"# coding:gbk\r\nx", "# coding:utf-8\r\nx"},
    {"# coding: \t ascii\nx", "# coding: \t utf-8\nx"},
    {"# vim: set fileencoding=iso-8859-15 :\nx", "# vim: set fileencoding=utf-8 :\nx"},
    {"\t\f #coding: there.is_none-such\n", "\t\f #coding: utf-8\n"},
    {"#!/usr/bin/python\n# coding: big5\nx", "#!/usr/bin/python\n# coding: utf-8\nx"},
    {"\n# coding: big5\nx", "\n# coding: utf-8\nx"},
    {"\r# coding: big5\rx", "\r# coding: utf-8\rx"},
    {"# decoding and coding: big5 coding: gbk\n", "# decoding and coding: utf-8 coding: gbk\n"},
    {"# coding coding: utf-16\n", "# coding coding: utf-8\n"},

    {"", NULL},
    {"print(1)", NULL},
    {"# coding: utf-8\n", NULL},
    {"# coding: UTF8\n", NULL},
    {"# coding: utf_8\n# coding: gbk\n", NULL},
    {"\n\n# coding: gbk\n", NULL},
    {"x\n# coding: gbk\n", NULL},
    {"x # coding: gbk\n", NULL},
    {"# coding\n# coding gbk\n", NULL},
    {"# coding:", NULL},
    {"# coding: \xC3\xA9\n", NULL},
    {"# Coding: gbk\n", NULL},
};

static void test_code_in_utf8_says_so(void **state)
{
    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        size_t length = 0;
        AUTO_FREE char *correct =
            coding_line_correct(cases[i].code, strlen(cases[i].code), &length);

        if (!cases[i].correct) {
            assert_null(correct);
            continue;
        }
        assert_non_null(correct);
        assert_string_equal(correct, cases[i].correct);
        assert_int_equal(length, strlen(cases[i].correct));
    }
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_code_in_utf8_says_so),
    };

    setvbuf(stdout, NULL, _IOLBF, 0);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
