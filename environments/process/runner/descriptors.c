#include "environments/process/runner/runner.h"

#include <unistd.h>

enum { DESCRIPTORS = 65536 }; /* more than any caller has */

void descriptors_close(int first, int last)
{
    if (last < first || close_range((unsigned)first, (unsigned)last, 0) == 0)
        return;
    for (int fd = first; fd <= last && fd < DESCRIPTORS; fd++)
        close(fd);
}
