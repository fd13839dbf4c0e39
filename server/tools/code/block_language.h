/* The languages of code blocks. */
#pragma once

#include <stddef.h>

struct block_language {
    const char *name;
    const char *extension; /* of the file that a block is saved in, without the dot */
    const char *program;   /* the program that runs that file; NULL: a block is saved and never
                              run */
};

/* The language that WORD means, an alias or a name in any case; NULL: an unknown word. */
const struct block_language *block_language_find(const char *word);

/* The language of a block that names none: a shell's for a line that runs Python or pip, else
 * Python, whose error then explains other text. */
const struct block_language *block_language_infer(const char *code);

/* The names of all, for a message: "python, bash, sh". Owned by the caller. */
char *block_language_list(void);
