/* Text from outside, made fit for a terminal and for a log. */
#pragma once

#include <stddef.h>

/* Replaces in TEXT, in place, every byte of a control character (C0, DEL, C1: commands to a
 * terminal) and of ill-formed UTF-8 by '?'. */
void printable_clean(char *text);

/* The same for a text of several lines that goes to no terminal yet: newlines, tabs and ill-formed
 * bytes stay. */
void printable_clean_lines(char *text);

/* How many bytes at the start of clean TEXT take at most COLUMNS of a terminal, and how many they
 * take, in *RET_USED. A character that may be wide counts as two columns: a column too many is
 * better than a line that wraps. */
size_t printable_fit(const char *text, size_t columns, size_t *ret_used);
