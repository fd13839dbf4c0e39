/* The comment in which a source file says how its bytes are encoded (PEP 263):
 *
 *     # -*- coding: cp1252 -*-
 *
 * Code that came as text is UTF-8 when Python reads it, whatever it was in its author's files. */
#pragma once

#include <stddef.h>

/* The code in UTF-8 at TEXT, whose comment says something else, with "utf-8" in that place: owned
 * by the caller, *RET_LENGTH bytes and a NUL. NULL: the code says nothing else. */
char *coding_line_correct(const char *text, size_t length, size_t *ret_length);
