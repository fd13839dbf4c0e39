#include "environments/docker/output.h"

#include "base/list.h"
#include "environments/engine/init_protocol.h"
#include "environments/execution.h"

#include <stdio.h>
#include <string.h>

void docker_output_print(struct docker_output *output, enum frame_stream stream, const char *data,
                         size_t length)
{
    if (output->listener)
        output->listener->output(output->listener,
                                 stream == FRAME_STDERR ? PROCESS_STDERR : PROCESS_STDOUT, data,
                                 length);
}

static void docker_output_show(struct docker_output *output, enum frame_stream stream,
                               const char *data, size_t length)
{
    if (!output->is_mute || output->has_begun)
        docker_output_print(output, stream, data, length);
}

/* The engine prints why it could not start the init. */
static void docker_output_complain(struct docker_output *output, enum frame_stream stream,
                                   const char *data, size_t length)
{
    const size_t used = strlen(output->complaint);

    docker_output_show(output, stream, data, length);
    if (output->is_mute && !output->has_begun)
        snprintf(output->complaint + used, sizeof output->complaint - used, "%.*s", (int)length,
                 data);
}

static void docker_output_on_foreign(struct wire_reader *reader, const char *data, size_t length)
{
    docker_output_complain(CONTAINER_OF(reader, struct docker_output, reader), FRAME_STDOUT, data,
                           length);
}

static void docker_output_end_cell(struct docker_output *output, const char *payload)
{
    const struct last_words words = last_words_decode(payload);

    if (output->cell_ended)
        output->cell_ended(output, &words);
}

static void docker_output_on_frame(struct wire_reader *reader, uint32_t type, const char *data,
                                   size_t length)
{
    struct docker_output *output = CONTAINER_OF(reader, struct docker_output, reader);

    switch ((enum init_frame)type) {
    case INIT_OUT:
        docker_output_show(output, FRAME_STDOUT, data, length);
        break;
    case INIT_ERRORS:
        docker_output_show(output, FRAME_STDERR, data, length);
        break;
    case INIT_BEGUN:
        output->has_begun = true;
        break;
    case INIT_NOT_BEGUN:
        output->has_not_begun = true;
        break;
    case INIT_CELL:
        docker_output_end_cell(output, data);
        break;
    case INIT_ENDED:
        output->words = last_words_decode(data);
        output->has_words = true;
        break;
    case INIT_GO:
    case INIT_CODE:
    case INIT_TOOLS:
    case INIT_CELLS:
    case INIT_DISMISSAL:
    case INIT_FRAMES:
        break; /* an init does not say them */
    }
}

void docker_output_init(struct docker_output *output, struct execution_listener *listener)
{
    *output = (struct docker_output){
        .listener = listener,
        .reader = {.protocol = &init_protocol,
                   .frame = docker_output_on_frame,
                   .foreign = docker_output_on_foreign},
    };
}

void docker_output_feed(struct docker_output *output, enum frame_stream stream, const char *data,
                        size_t length)
{
    if (stream == FRAME_STDERR)
        docker_output_complain(output, FRAME_STDERR, data, length);
    else
        wire_reader_feed(&output->reader, data, length);
}

const struct last_words *docker_output_end(struct docker_output *output)
{
    wire_reader_end(&output->reader);
    return output->has_words ? &output->words : NULL;
}
