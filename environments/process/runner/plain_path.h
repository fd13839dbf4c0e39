/* Paths on which no link is followed: scripts could have put one wherever they can write. */
#pragma once

/* Opens PATH, which begins with a slash, below the directory ROOT; AT_FDCWD: below the root of this
 * process. The descriptor is for its place only (O_PATH). FLAGS: O_NOFOLLOW opens a link at the end
 * of PATH itself, 0 refuses it with ELOOP. -1 with errno set. */
int plain_path_open(int root, const char *path, int flags);
