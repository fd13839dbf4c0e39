/* What --help prints: a page for the program, and one for each command. */
#pragma once

/* The page of COMMAND, the name of a command, or of the program for NULL; static storage. */
const char *help_page(const char *command);
