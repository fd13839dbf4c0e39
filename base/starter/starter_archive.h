/* The Python files of the starter, as a zip archive. Made by embed.py. */
#pragma once

#include <stddef.h>

extern const unsigned char starter_archive[];
extern const size_t starter_archive_length;
