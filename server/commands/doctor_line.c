#include "server/commands/doctor_line.h"

#include "base/cleanup.h"
#include "base/memory.h"
#include "base/printable.h"

#include <stdio.h>
#include <string.h>

enum { NAME_COLUMNS = 19 };

static void doctor_line_print(const char *mark, const char *name, char *text)
{
    printable_clean(text);
    printf("  %-4s %-*s%s\n", mark, *text ? NAME_COLUMNS : 0, name, text);
}

void doctor_line(const char *mark, const char *name, const char *text)
{
    AUTO_FREE char *copy = memory_copy_string(text);
    char *rest = copy;

    doctor_line_print(mark, name, strsep(&rest, "\n"));
    while (rest && *rest)
        doctor_line_print("", "", strsep(&rest, "\n"));
}
