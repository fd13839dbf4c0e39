/* Files that a script has left in a /tmp of its tree's own, which goes with the tree. */
#pragma once

/* Tells the server the names of some, and how many there are: regular files with something in them
 * that are no temporary files of Python's. No process of the tree is left, so they do not change
 * meanwhile. */
void left_files_tell(void);
