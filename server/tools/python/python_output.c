#include "server/tools/python/python_output.h"

#include "base/list.h"
#include "environments/notebook/notebook.h"
#include "server/tools/invocation.h"

#define LOOK_SECONDS 0.05 /* between two looks at the output: with its size, the rate of pieces */

static const char *const stream_names[PROCESS_STREAMS] = {
    [PROCESS_STDOUT] = "stdout",
    [PROCESS_STDERR] = "stderr",
};

/* Sends the newest piece of STREAM. */
static void python_output_send(struct python_output *output, int stream)
{
    const struct capture_piece *piece = &output->sent[stream];
    struct invocation *invocation = output->invocation;

    invocation->output(invocation, invocation_next_progress(invocation),
                       json_pack("{s:s, s:I, s:I, s:o}", "stream", stream_names[stream], //
                                 "offset", (json_int_t)piece->offset,                    //
                                 "length", (json_int_t)piece->length, "text", piece->text));
}

static const struct capture *python_output_streams(const struct python_output *output)
{
    return output->run ? run_streams(output->run) : cell_streams(output->cell);
}

/* Each piece of one stream may fill the client's connection: the next waits for room again. */
static void python_output_on_timer(struct ev_loop *loop, struct ev_timer *timer, int events)
{
    struct python_output *output = CONTAINER_OF(timer, struct python_output, timer);
    const struct capture *streams = python_output_streams(output);

    (void)loop;
    (void)events;
    for (int i = 0; streams && i < PROCESS_STREAMS; i++) {
        if (output->invocation->has_room(output->invocation) &&
            capture_next_piece(&streams[i], &output->sent[i]))
            python_output_send(output, i);
    }
}

void python_output_init(struct python_output *output, struct invocation *invocation,
                        struct ev_loop *loop)
{
    *output = (struct python_output){.invocation = invocation, .loop = loop};
    ev_timer_init(&output->timer, python_output_on_timer, LOOK_SECONDS, LOOK_SECONDS);
}

void python_output_start(struct python_output *output, const struct run *run,
                         const struct cell *cell)
{
    output->run = run;
    output->cell = cell;
    if (output->invocation->wants_output)
        ev_timer_start(output->loop, &output->timer);
}

/* Nothing is sent from the place of the last piece to the end of the stream, at TOTAL. */
static void python_output_leave_out(struct python_output *output, int stream, uint64_t total)
{
    output->sent[stream] = (struct capture_piece){.offset = total, .text = json_string("")};
    python_output_send(output, stream);
}

/* The last pieces do not wait for room: a stream has one, and the answer follows. */
void python_output_finish(struct python_output *output, const struct capture *streams)
{
    for (int i = 0; output->invocation->wants_output && i < PROCESS_STREAMS; i++) {
        struct capture_piece *sent = &output->sent[i];

        if (capture_last_piece(&streams[i], sent))
            python_output_send(output, i);
        if (sent->offset + sent->length < streams[i].total)
            python_output_leave_out(output, i, streams[i].total);
    }
}

void python_output_deinit(struct python_output *output)
{
    ev_timer_stop(output->loop, &output->timer);
}
