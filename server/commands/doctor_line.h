/* What `pyexecd doctor` prints, line by line. */
#pragma once

/* MARK is "yes", "no", "?" or "". Further lines of TEXT go below its first one; other control
 * characters are replaced. */
void doctor_line(const char *mark, const char *name, const char *text);
