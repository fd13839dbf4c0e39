/* Apart from the rest, since what a zygote starts (pyexecd-core) sends tools and no starter. */
#include "base/descriptors.h"
#include "base/starter/starter.h"

#include <stddef.h>

bool starter_send_tools(int gate, int tools)
{
    static const char mark = STARTER_TOOLS_FOLLOW;

    return descriptors_send(gate, &mark, 1, NULL, 0) == 1 &&
           descriptors_send(gate, "", 1, &tools, 1) == 1;
}
