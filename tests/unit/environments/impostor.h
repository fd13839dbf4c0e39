/* What a script can put where the server expects a file: a FIFO, links, a directory, a file without
 * end, a file that it holds a lease on. */
#pragma once

enum { IMPOSTORS = 6 };

/* Puts the impostor NUMBER, from 0, into the place of PATH. A link in it leads to TARGET. Static
 * storage: what it is. */
const char *impostor_put(unsigned number, const char *path, const char *target);

/* Takes away what impostor_put has put there. */
void impostor_remove(const char *path);
