#include "server/transport/socket/departure.h"

#include "server/transport/socket/far_end.h"

bool departure_is_certain(int fd)
{
    struct far_end ignored;

    return far_end_find(fd, &ignored) == FAR_END_CLOSED;
}
