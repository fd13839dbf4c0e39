/* What an operator can do so that runs get the layers that they are without. */
#pragma once

/* The one command that gives more than there is, or NULL where none is known. Owned by the caller.
 */
char *remedy_find(void);
