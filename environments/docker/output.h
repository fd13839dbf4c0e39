/* The output of a script in a container, and what its pyexecd-init says about it
 * (engine/init_protocol.h).
 */
#pragma once

#include "base/wire_reader.h"
#include "environments/engine/frames.h"
#include "environments/engine/init_protocol.h"

#include <stdbool.h>

struct execution_listener;

struct docker_output {
    struct execution_listener *listener; /* borrowed: gets the output; NULL: nobody does */

    /* May be NULL: there are no cells. One has ended, and all its output has come. */
    void (*cell_ended)(struct docker_output *output, const struct last_words *words);

    bool is_mute;        /* nothing of the wire is passed on before the script begins ... */
    char complaint[256]; /* ... but the engine's own words are kept here */
    bool has_begun;      /* the init says that the script begins ... */
    bool has_not_begun;  /* ... or that no script has run, and none will */
    bool has_words;
    struct last_words words; /* there is no more output */

    /* Private. */
    struct wire_reader reader;
};

void docker_output_init(struct docker_output *output, struct execution_listener *listener);

/* Takes what the engine sends. STREAM is stdout, the wire, or stderr, where only the engine itself
 * has something to say. */
void docker_output_feed(struct docker_output *output, enum frame_stream stream, const char *data,
                        size_t length);

/* Takes what the script has printed to STREAM, stdout or stderr, past the wire. It may come before
 * the message that the script begins. */
void docker_output_print(struct docker_output *output, enum frame_stream stream, const char *data,
                         size_t length);

/* There is no more. Returns the last words, borrowed, or NULL. */
const struct last_words *docker_output_end(struct docker_output *output);
