/* The output of a script in a container: both streams, without the last words of its pyexecd-init.
 */
#pragma once

#include "environments/engine/frames.h"
#include "environments/engine/last_words.h"

struct execution_listener;

struct docker_output {
    struct execution_listener *listener; /* borrowed: gets the output */
    struct last_words_reader out;
    struct last_words_reader errors;
};

/* NONCE is the nonce of the last words. */
void docker_output_init(struct docker_output *output, const char *nonce,
                        struct execution_listener *listener);

void docker_output_feed(struct docker_output *output, enum frame_stream stream, const char *data,
                        size_t length);

/* Passes on the bytes of STREAM that were held back because they might begin the last words. */
void docker_output_release(struct docker_output *output, enum frame_stream stream);

/* True with *RET_WORDS when the last words have come on both streams: there is no more output. */
bool docker_output_peek(const struct docker_output *output, struct last_words *ret_words);

/* There is no more output. True with *RET_WORDS when it ended with last words. */
bool docker_output_end(struct docker_output *output, struct last_words *ret_words);
