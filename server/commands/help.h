/* The output of --help: a page for the program, and a page for each command. */
#pragma once

/* The page of COMMAND, the name of a command, or of the program for NULL; static storage. */
const char *help_page(const char *command);
