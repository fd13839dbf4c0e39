#include "tests/unit/base/listening.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <unistd.h>
#include <cmocka.h>

struct listening listen_to_stderr(void)
{
    struct listening listening = {.file = tmpfile(), .before = dup(STDERR_FILENO)};

    assert_non_null(listening.file);
    dup2(fileno(listening.file), STDERR_FILENO);
    return listening;
}

void assert_heard(struct listening *listening, const char *expected)
{
    char text[8192] = "";

    dup2(listening->before, STDERR_FILENO);
    close(listening->before);
    rewind(listening->file);
    text[fread(text, 1, sizeof text - 1, listening->file)] = '\0';
    fclose(listening->file);
    assert_string_equal(text, expected);
}
