#include "base/starter/starter.h"

#include "base/memory.h"
#include "base/starter/starter_archive.h"

#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define SEARCH_PATH  "PYTHONPATH="
#define STARTER_PATH "/proc/self/fd/100"

#define GATE_VARIABLE    "PYEXECD_GATE="
#define TOOLS_VARIABLE   "PYEXECD_TOOLS="
#define LIBRARY_VARIABLE "LD_PRELOAD="
#define HOME_VARIABLE    "HOME="
#define LATER_HOME       "PYEXECD_HOME=" /* sitecustomize.py takes both, and gives HOME back */
#define NO_HOME          "HOME=/nonexistent"

enum {
    STARTER_FD = 100, /* above all descriptors that a program is started with */
    STARTER_SEALS = F_SEAL_SEAL | F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_WRITE,
};

int starter_open(void)
{
    int file = memfd_create("starter", MFD_CLOEXEC | MFD_ALLOW_SEALING);

    if (file < 0)
        return -1;
    if (write(file, starter_archive, starter_archive_length) == (ssize_t)starter_archive_length &&
        fcntl(file, F_ADD_SEALS, STARTER_SEALS) == 0)
        return file;
    close(file);
    return -1;
}

/* VARIABLE with the starter before what else is searched. */
static char *starter_search_first(const char *variable)
{
    const char *theirs = variable + strlen(SEARCH_PATH);

    return memory_format(SEARCH_PATH STARTER_PATH "%s%s", *theirs ? ":" : "", theirs);
}

char **starter_lend(int file, char **variables)
{
    char **copy;
    size_t count = 0;
    size_t place;

    while (variables[count])
        count++;
    if (file < 0 || dup2(file, STARTER_FD) < 0)
        return variables;
    copy = memory_new(count + 2, sizeof *copy);
    memcpy(copy, variables, count * sizeof *copy);
    for (place = 0; place < count; place++)
        if (strncmp(copy[place], SEARCH_PATH, strlen(SEARCH_PATH)) == 0)
            break;
    copy[place] = starter_search_first(place < count ? copy[place] : SEARCH_PATH);
    return copy;
}

/* A starting Python would execute files that scripts have left in its home. */
static bool starter_hide_home(char **variables, size_t end)
{
    const size_t length = strlen(HOME_VARIABLE);

    for (char **variable = variables; *variable; variable++) {
        if (strncmp(*variable, HOME_VARIABLE, length) != 0)
            continue;
        variables[end] = memory_format(LATER_HOME "%s", *variable + length);
        *variable = (char *)NO_HOME; /* only read */
        return true;
    }
    return false;
}

/* A copy of VARIABLES with room for two more at *RET_END. */
static char **starter_copy(char *const *variables, size_t *ret_end)
{
    size_t count = 0;
    char **copy;

    while (variables[count])
        count++;
    copy = memory_new(count + 3, sizeof *copy);
    memcpy(copy, variables, count * sizeof *copy);
    *ret_end = count;
    return copy;
}

/* A copy of VARIABLES with ADDED (taken) and without a home. */
static char **starter_add(char **variables, char *added)
{
    size_t end;
    char **copy = starter_copy(variables, &end);

    end += starter_hide_home(copy, end);
    copy[end] = added;
    return copy;
}

char **starter_lend_gate(int gate, char **variables)
{
    if (dup2(gate, STARTER_GATE) < 0)
        return variables;
    return starter_add(variables, memory_format(GATE_VARIABLE "%d", STARTER_GATE));
}

char **starter_lend_tools(int tools, char **variables)
{
    size_t end;
    char **copy;

    if (dup2(tools, STARTER_TOOLS) < 0)
        return variables;
    copy = starter_copy(variables, &end);
    copy[end] = memory_format(TOOLS_VARIABLE "%d", STARTER_TOOLS);
    return copy;
}

char **starter_lend_library(const char *path, char **variables)
{
    return starter_add(variables, memory_format(LIBRARY_VARIABLE "%s", path));
}
