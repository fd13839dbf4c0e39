/* The code blocks that a call of run_code_blocks brings: and whether each is run or saved. */
#pragma once

#include "base/error.h"

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

struct block_language;
struct code_cleaning;

enum {
    CODE_BLOCKS_MOST = 32,
    CODE_BLOCKS_MESSAGE_BYTES = 256 * 1024,
};

struct code_block {
    const struct block_language *language;
    const char *code; /* borrowed from the blocks */
    size_t length;
    size_t number; /* its number among the given blocks, from 1 */
    char *file;    /* owned: its name below the working directory; NULL: a program without one */
    bool is_run;   /* else it is saved */
};

struct code_blocks {
    json_t *given; /* owned: array of {language, code} */
    struct code_block *blocks;
    size_t count;
};

/* Reads BLOCKS from the `blocks` or the `message` of ARGUMENTS, which fit the schema. RULES is the
 * operator's `code_blocks`. -1 with ERROR_INVALID_ARGUMENTS, and then nothing is to be run; BLOCKS
 * is to be released in either case. */
int code_blocks_read(struct code_blocks *blocks, const json_t *arguments, const json_t *rules,
                     struct error *err);
void code_blocks_deinit(struct code_blocks *blocks);

/* All of them for a person: a line that begins each, and its code, indented, so that no code can
 * look like another block. Owned by the caller. */
char *code_blocks_text(const struct code_blocks *blocks);

/* BLOCK as a file for the run that executes or saves it: an entry of its `files`. New reference, or
 * NULL when it needs none. */
json_t *code_block_file(const struct code_block *block);

/* The program of the run that executes or saves BLOCK. Owned by the caller. */
char *code_block_program(const struct code_block *block);

/* The Python that has run for BLOCK, whose program ran as RAN: none of a block in another language,
 * nor of one that was only saved. Borrowed from RAN. */
struct code_cleaning code_block_python(const struct code_block *block,
                                       const struct code_cleaning *ran);
