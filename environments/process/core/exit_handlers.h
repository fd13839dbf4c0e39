/* The functions that libraries register for the end of the process: atexit(3), and destructors of
 * C++. The core's __cxa_atexit stands before the C library's.
 *
 * The functions of a library that is imported ahead take apart memory that a copy shares with its
 * zygote. The kernel has to copy each page first, and then the process ends. With torch imported
 * ahead (27,000 destructors, 4,500 functions of CUDA) the end of each script copied 26,000 pages in
 * 0.3 s of the processor, even if the script did not import torch. */
#pragma once

#include <stdbool.h>

/* While ON in the zygote, these are not registered:
 * - destructors of C++, but for those of its standard library, which flush std::cout;
 * - the function of OpenSSL, and the functions of a library that registers more than 32.
 *
 * Other functions of atexit(3) are registered: HDF5 flushes files by one. A static object of C++
 * that writes a file in its destructor does not write it if its library was imported ahead.
 * Libraries that a script loads itself register all their functions. Without this a warm call of
 * 4.3 ms takes 0.6 ms more (tests/bench/core_parts.py build exit_handlers). */
void exit_handlers_spare(bool on);
