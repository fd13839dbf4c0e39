#include "tests/unit/configuration/reading.h"

#include "base/cleanup.h"
#include "base/memory.h"
#include "server/configuration/config.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

char *errors_of(const char *text)
{
    struct config *config = config_parse("", text, strlen(text));
    AUTO_FREE char *errors = config_error_text(config);
    char *result = memory_copy_string("");

    assert_int_equal(config_has_errors(config), *errors != '\0');
    config_free(config);
    for (const char *line = errors; *line; line = strchr(line, '\n') + 1) {
        AUTO_FREE char *before = result;

        assert_int_equal(*line, ':');
        result = memory_format("%s%.*s", before, (int)strcspn(line + 1, "\n") + 1, line + 1);
    }
    return result;
}

void check_readings(const struct reading *readings, size_t count)
{
    size_t wrong = 0;

    setenv("HOME", "/home/me", true); /* messages have it */
    for (size_t i = 0; i < count; i++) {
        AUTO_FREE char *errors = errors_of(readings[i].text);

        if (strcmp(errors, readings[i].errors) == 0)
            continue;
        print_error("%s--- has the errors\n%s--- not\n%s\n", readings[i].text, errors,
                    readings[i].errors);
        wrong++;
    }
    assert_int_equal(wrong, 0);
}
