#include "environments/docker/output.h"

#include "base/list.h"
#include "environments/execution.h"

void docker_output_print(struct docker_output *output, enum frame_stream stream, const char *data,
                         size_t length)
{
    if (!output->is_mute || output->has_begun)
        output->listener->output(output->listener,
                                 stream == FRAME_STDERR ? PROCESS_STDERR : PROCESS_STDOUT, data,
                                 length);
}

static void docker_output_on_printed(struct wire_reader *reader, enum wire_type type,
                                     const char *data, size_t length)
{
    docker_output_print(CONTAINER_OF(reader, struct docker_output, reader),
                        type == WIRE_ERRORS ? FRAME_STDERR : FRAME_STDOUT, data, length);
}

/* The engine prints why it could not start the init. */
static void docker_output_on_foreign(struct wire_reader *reader, const char *data, size_t length)
{
    docker_output_print(CONTAINER_OF(reader, struct docker_output, reader), FRAME_STDOUT, data,
                        length);
}

static void docker_output_end_cell(struct docker_output *output, const char *payload)
{
    const struct last_words words = last_words_decode(payload);

    if (output->cell_ended)
        output->cell_ended(output, &words);
}

static void docker_output_on_message(struct wire_reader *reader, enum wire_type type,
                                     const char *payload)
{
    struct docker_output *output = CONTAINER_OF(reader, struct docker_output, reader);

    switch (type) {
    case WIRE_BEGUN:
        output->has_begun = true;
        break;
    case WIRE_NOT_BEGUN:
        output->has_not_begun = true;
        break;
    case WIRE_CELL:
        docker_output_end_cell(output, payload);
        break;
    case WIRE_ENDED:
        output->words = last_words_decode(payload);
        output->has_words = true;
        break;
    case WIRE_OUT:
    case WIRE_ERRORS:
    case WIRE_GO:
    case WIRE_CODE:
    case WIRE_CELLS:
    case WIRE_DISMISSAL:
    case WIRE_TYPES:
        break; /* an init does not say them */
    }
}

void docker_output_init(struct docker_output *output, struct execution_listener *listener)
{
    *output = (struct docker_output){
        .listener = listener,
        .reader = {.piece = docker_output_on_printed,
                   .message = docker_output_on_message,
                   .foreign = docker_output_on_foreign},
    };
}

void docker_output_feed(struct docker_output *output, enum frame_stream stream, const char *data,
                        size_t length)
{
    if (stream == FRAME_STDERR)
        docker_output_print(output, FRAME_STDERR, data, length);
    else
        wire_reader_feed(&output->reader, data, length);
}

const struct last_words *docker_output_end(struct docker_output *output)
{
    wire_reader_end(&output->reader);
    return output->has_words ? &output->words : NULL;
}
