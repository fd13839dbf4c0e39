/* A command by which an operator gives runs the layers that they lack. */
#pragma once

/* The command to type, or NULL where none is known. Owned by the caller. */
char *remedy_find(void);
