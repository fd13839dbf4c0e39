/* Input: a requirements file. What is taken of it is understood by installers as packages and
 * hashes and nothing else: no other options, no URLs, paths, variables, comments or joined lines;
 * and read again it is the same. */
#undef NDEBUG
#include "base/cleanup.h"
#include "environments/packages/requirements.h"

#include <assert.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define TAKEN                                                                                      \
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789[]()<>=~!,;._-*+'\": \n"

static void check_option(const char *option)
{
    assert(strncmp(option, "--hash=sha", strlen("--hash=sha")) == 0);
}

static void check_text(const char *text)
{
    assert(strspn(text, TAKEN) == strlen(text));
    assert(*text != '-' && !strstr(text, "\n-"));
    for (const char *option = strstr(text, " -"); option; option = strstr(option + 1, " -"))
        check_option(option + 1);
    for (const char *colon = strchr(text, ':'); colon; colon = strchr(colon + 1, ':'))
        assert(colon - text > 6 && memcmp(colon - 6, "sha", 3) == 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct requirements requirements = {0};
    struct requirements again = {0};
    struct error err = ERROR_INIT;

    if (requirements_add_text(&requirements, (const char *)data, size, &err) == 0) {
        AUTO_FREE char *text = requirements_text(&requirements);
        AUTO_FREE char *names = requirements_names(&requirements);
        AUTO_FREE char *same = NULL;

        check_text(text);
        assert(strspn(names, TAKEN) == strlen(names));
        assert(requirements_add_text(&again, text, strlen(text), &err) == 0);
        same = requirements_text(&again);
        assert(strcmp(text, same) == 0);
    }
    requirements_deinit(&requirements);
    requirements_deinit(&again);
    return 0;
}
