/* Executes a program under a filter of system calls, and without new privileges.
 *
 *     under_filter sandbox|offline PROGRAM [ARGUMENT]...
 */
#include "environments/process/filter/filter.h"

#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

int main(int argc, char **argv)
{
    enum filter filter;

    if (argc < 3)
        return 2;
    filter = strcmp(argv[1], "offline") == 0 ? FILTER_SANDBOX_OFFLINE : FILTER_SANDBOX;
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0 || filter_install(filter) < 0) {
        perror("filter");
        return 2;
    }
    execvp(argv[2], argv + 2);
    perror(argv[2]);
    return 2;
}
