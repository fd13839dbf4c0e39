#include "environments/docker/output.h"

#include "base/list.h"
#include "environments/execution.h"

static void docker_output_on_out(struct last_words_reader *reader, const char *data, size_t length)
{
    struct docker_output *output = CONTAINER_OF(reader, struct docker_output, out);

    output->listener->output(output->listener, PROCESS_STDOUT, data, length);
}

static void docker_output_on_errors(struct last_words_reader *reader, const char *data,
                                    size_t length)
{
    struct docker_output *output = CONTAINER_OF(reader, struct docker_output, errors);

    output->listener->output(output->listener, PROCESS_STDERR, data, length);
}

void docker_output_init(struct docker_output *output, const char *nonce,
                        struct execution_listener *listener)
{
    output->listener = listener;
    output->out.output = docker_output_on_out;
    output->errors.output = docker_output_on_errors;
    last_words_reader_init(&output->out, nonce);
    last_words_reader_init(&output->errors, nonce);
}

static struct last_words_reader *docker_output_reader(struct docker_output *output,
                                                      enum frame_stream stream)
{
    return stream == FRAME_STDERR ? &output->errors : &output->out;
}

void docker_output_feed(struct docker_output *output, enum frame_stream stream, const char *data,
                        size_t length)
{
    last_words_reader_feed(docker_output_reader(output, stream), data, length);
}

void docker_output_release(struct docker_output *output, enum frame_stream stream)
{
    struct last_words none;

    (void)last_words_reader_end(docker_output_reader(output, stream), &none);
}

bool docker_output_peek(const struct docker_output *output, struct last_words *ret_words)
{
    return last_words_reader_peek(&output->out, ret_words) &&
           last_words_reader_peek(&output->errors, ret_words);
}

bool docker_output_end(struct docker_output *output, struct last_words *ret_words)
{
    (void)last_words_reader_end(&output->out, ret_words);
    return last_words_reader_end(&output->errors, ret_words);
}
