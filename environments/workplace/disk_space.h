/* The bytes of a file system: those in use and those that are free. */
#pragma once

#include <stdint.h>

/* Bytes in use on the file system that FD is on; 0 where it does not tell. */
uint64_t disk_space_used(int fd);

/* Bytes that everybody may still use there; UINT64_MAX where it does not tell. */
uint64_t disk_space_free(int fd);
