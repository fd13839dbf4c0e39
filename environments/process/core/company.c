#include "environments/process/core/company.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { COMPANY_FIRST = 1, COMPANY_STATUS_BYTES = 4096 };

/* proc_pid_status(5) of process NAME; empty when it is gone. */
static void company_read(const char *name, char text[COMPANY_STATUS_BYTES])
{
    char path[64];
    ssize_t length = -1;
    int fd;

    snprintf(path, sizeof path, "/proc/%.20s/status", name);
    fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd >= 0)
        length = read(fd, text, COMPANY_STATUS_BYTES - 1);
    if (fd >= 0)
        close(fd);
    text[length < 0 ? 0 : length] = '\0';
}

/* The text behind the NAME of a field in TEXT, or "". */
static const char *company_field(const char *text, const char *name)
{
    const char *field = strstr(text, name);

    return field ? field + strlen(name) : "";
}

/* True if the process of TEXT has a number in a namespace below ours as well. */
static bool company_is_below(const char *text)
{
    const char *numbers = company_field(text, "\nNSpid:\t");

    return numbers[strspn(numbers, "0123456789")] == '\t';
}

/* True for an earlier stand-in, which nobody has reaped yet: it has no memory any more, and no
 * parent in our namespace. */
static bool company_has_ended(const char *text, int parent)
{
    return parent == 0 && !*company_field(text, "\nVmSize:");
}

/* Workers and their supervisors are in namespaces of their own, and the supervisors are children of
 * the server. A process that a library has left is a child of the zygote or, once its parent has
 * ended, of the first process. */
static bool company_is_strange(const char *name)
{
    const int number = (int)strtol(name, NULL, 10);
    char text[COMPANY_STATUS_BYTES];
    int parent;

    if (number == 0 || number == COMPANY_FIRST || number == (int)getpid())
        return false;
    company_read(name, text);
    parent = (int)strtol(company_field(text, "\nPPid:\t"), NULL, 10);
    return *text && !company_has_ended(text, parent) &&
           (!company_is_below(text) || parent == COMPANY_FIRST || parent == (int)getpid());
}

bool company_is_left(pid_t stand_in)
{
    DIR *list = opendir("/proc");
    const struct dirent *entry;
    bool is_left = !list;

    while (list && !is_left && (entry = readdir(list)))
        is_left = strtol(entry->d_name, NULL, 10) != stand_in && company_is_strange(entry->d_name);
    if (list)
        closedir(list);
    return is_left;
}
