#include "base/cleanup.h"
#include "base/memory.h"
#include "server/configuration/config.h"
#include "server/configuration/tool_checks.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

static void test_servers_of_tools_are_checked(void **state)
{
    static const struct {
        const char *text;
        const char *errors;
    } cases[] = {
        {"tools: {a: {command: [x]}, b: {url: \"unix:///s#/mcp\"}}\n"
         "environments: {e: {type: system, tools: [a, b]}}\n",
         ""},
        {"tools: {map: {command: [x]}}\n",
         "1:9: tools.map: must be a name of letters, digits, - and _ that begins with a letter, "
         "and is not call, help, map or search, not \"map\"\n"},
        {"tools: {a: {command: [x]}}\n"
         "environments: {e: {type: docker, image: \"python:3\", tools: [a]}}\n",
         ""},
        {"tools: {a: {command: [x]}}\n"
         "environments: {e: {type: docker, host: \"unix:///s\", tools: [a]}}\n",
         ""},
        {"tools: {a: {command: [x]}}\n"
         "environments: {e: {type: docker, host: \"tcp://h:1\", tools: [a]}}\n",
         "2:60: environments.e.tools: scripts in containers of an engine that is reached by TCP "
         "cannot call tools\n"},
        {"tools: {a: {command: [x]}}\nnodes: {n: {launcher: [x]}}\n"
         "environments: {e: {type: system, node: n, tools: [a]}}\n",
         "3:50: environments.e.tools: scripts on nodes cannot call tools\n"},
        {"tools: {a: {}}\n", "1:12: tools.a: needs command (a program) or url (an address)\n"},
        {"tools:\n  a:\n    command: [x]\n    url: http://x/\n",
         "4:10: tools.a.url: contradicts command; give one of the two\n"},
        {"tools: {a: {command: [x], headers: {A: b}}}\n",
         "1:36: tools.a.headers: is for a server with url; command has environment\n"},
        {"tools: {a: {url: http://x/, environment: {A: b}}}\n",
         "1:42: tools.a.environment: is for a server with command; url has headers\n"},
        {"tools: {github: {url: http://x/}}\n"
         "environments: {e: {type: system, tools: [githb]}}\n",
         "2:42: environments.e.tools.0: there is no server \"githb\" in tools, did you mean "
         "\"github\"?\n"},
        {"tools: {a: {url: ftp://x/}}\n",
         "1:18: tools.a.url: must be http://HOST/PATH, https://HOST/PATH or unix:///SOCKET#/PATH, "
         "not \"ftp://x/\"\n"},
        {"tools: {a: {command: npx}}\n", "1:22: tools.a.command: must be a list: [npx]\n"},
        {"tools: {a: {url: http://x/, approval: maybe}}\n",
         "1:39: tools.a.approval: must be never, writes or always, or a mapping of tools to one of "
         "these, not \"maybe\"\n"},
        {"tools: {a.b: {url: http://x/}}\n",
         "1:9: tools.a.b: must be a name of letters, digits, - and _ that begins with a letter, "
         "and is not call, help, map or search, not \"a.b\"\n"},
        {"tools: {a: {url: http://x/, alow: [x]}}\n",
         "1:29: tools.a.alow: unknown key \"alow\", did you mean \"allow\"?\n"},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        struct config *config = config_parse("f", cases[i].text, strlen(cases[i].text));
        AUTO_FREE char *errors = NULL;
        AUTO_FREE char *expected =
            *cases[i].errors ? memory_format("f:%s", cases[i].errors) : memory_copy_string("");

        if (!config_has_errors(config))
            tool_checks_keys(config, config_tree(config));
        errors = config_error_text(config);
        assert_string_equal(errors, expected);
        config_free(config);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_servers_of_tools_are_checked),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
