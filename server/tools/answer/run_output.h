/* The output of a run as a model reads it. Streams that are cut are in files of the working
 * directory, where the next script finds them. */
#pragma once

#include "environments/execution.h"

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

enum { RUN_OUTPUT_CHARACTERS = 18000 }; /* of both streams; a whole text has about 20,000 */

struct run_facts;

struct run_output_stream {
    char *text; /* owned */
    size_t length;
    bool is_cut;    /* a part of the stream is not in the text */
    size_t untold;  /* states of lines that are not in it, and say something of their own */
    char *file;     /* owned: the name of the file that has it all; NULL: none was written */
    char *obstacle; /* owned: why there is no file; or NULL */
};

struct run_output {
    struct run_output_stream streams[PROCESS_STREAMS];
};

/* Reads the streams from FACTS, and cuts them to ROOM characters; DIRECTORY is the working
 * directory as the script saw it. */
void run_output_init(struct run_output *output, const struct run_facts *facts,
                     const char *directory, size_t room);
void run_output_deinit(struct run_output *output);

/* Puts cut streams into files of the directory of the run, and adds these files to FACTS. */
void run_output_keep(struct run_output *output, struct run_facts *facts);
