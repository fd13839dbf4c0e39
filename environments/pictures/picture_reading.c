#include "environments/pictures/picture_reading.h"

#include "base/buffer.h"
#include "base/list.h"
#include "base/log.h"
#include "base/memory.h"
#include "environments/process/process.h"

#include <stdlib.h>
#include <string.h>

/* The output of the helper */

static const char *const picture_mime_types[] = {
    [PICTURE_PNG] = "image/png",
    [PICTURE_JPEG] = "image/jpeg",
    [PICTURE_WEBP] = "image/webp",
};

static bool picture_answer_is_side(uint32_t side)
{
    return side > 0 && side <= PICTURE_SIDE_PIXELS;
}

bool picture_answer_read(struct picture_answer *ret, const char *data, size_t length)
{
    if (length < sizeof *ret)
        return false;
    memcpy(ret, data, sizeof *ret);
    if (ret->verdict != PICTURE_SHOWN)
        return ret->verdict < PICTURE_SHOWN;
    return ret->format < PICTURE_FORMATS && picture_answer_is_side(ret->width) &&
           picture_answer_is_side(ret->height) && ret->length > 0 && ret->length <= PICTURE_BYTES &&
           ret->length == length - sizeof *ret;
}

const char *picture_format_mime_type(enum picture_format format)
{
    return picture_mime_types[format];
}

/* The helper */

/* Room for the pixels of the largest picture, and for a codec's own data. */
static const struct process_limits picture_limits = {
    .memory = 640ULL << 20,
    .processes = 1,
    .file_size = 2ULL * PICTURE_FILE_BYTES, /* it writes none; its input may have been deleted */
};

struct picture_reading {
    struct picture_reading_settings settings; /* `done` is NULL once it is cancelled */
    struct process process;
    struct buffer output;
};

static void picture_reading_free(struct picture_reading *reading)
{
    buffer_deinit(&reading->output);
    free(reading);
}

static void picture_reading_on_output(struct process *process, enum process_stream stream,
                                      const char *data, size_t length)
{
    struct picture_reading *reading = CONTAINER_OF(process, struct picture_reading, process);
    struct error ignored = ERROR_INIT; /* too much is no answer */

    if (stream == PROCESS_STDOUT && buffer_append(&reading->output, data, length, &ignored) < 0)
        process_kill(process);
}

/* True if the helper could not run, or its end is unknown: no fault of the picture. False also if
 * the picture got the helper killed, or kept it from answering. */
static bool picture_reading_is_lost(const struct process_end *end)
{
    if (end->failure[0])
        return true;
    if (end->reported)
        return end->returncode > 0;
    return !end->killed && !end->out_of_memory && !end->out_of_disk;
}

static struct picture_answer picture_reading_answer(const struct picture_reading *reading,
                                                    const struct process_end *end)
{
    struct picture_answer answer;

    if (end->returncode == 0 && picture_answer_read(&answer, buffer_bytes(&reading->output),
                                                    buffer_length(&reading->output)))
        return answer;
    return (struct picture_answer){.verdict = PICTURE_UNREADABLE};
}

static void picture_reading_tell(const struct picture_reading *reading,
                                 const struct process_end *end)
{
    const struct picture_answer answer = picture_reading_answer(reading, end);
    const char *bytes =
        answer.verdict == PICTURE_SHOWN ? buffer_bytes(&reading->output) + sizeof answer : NULL;

    if (picture_reading_is_lost(end)) {
        log_warning("cannot read a picture: %s",
                    end->failure[0] ? end->failure : "the helper could not work");
        reading->settings.done(reading->settings.data, NULL, NULL);
    } else {
        reading->settings.done(reading->settings.data, &answer, bytes);
    }
}

static void picture_reading_on_ended(struct process *process, const struct process_end *end)
{
    struct picture_reading *reading = CONTAINER_OF(process, struct picture_reading, process);

    if (reading->settings.done)
        picture_reading_tell(reading, end);
    picture_reading_free(reading);
}

struct picture_reading *picture_reading_start(const struct picture_reading_settings *settings,
                                              struct error *err)
{
    static const char *const variables[] = {NULL};
    const char *const arguments[] = {settings->helper, NULL};
    const struct process_command command = {
        .arguments = arguments,
        .environment = variables,
        .directory = "/",
        .input = settings->file,
        .limits = picture_limits,
    };
    struct picture_reading *reading = NEW(struct picture_reading);

    reading->settings = *settings;
    reading->process.output = picture_reading_on_output;
    reading->process.ended = picture_reading_on_ended;
    buffer_init(&reading->output, sizeof(struct picture_answer) + PICTURE_BYTES);
    if (process_start(settings->host, &reading->process, &command, err) == 0)
        return reading;
    picture_reading_free(reading);
    return NULL;
}

void picture_reading_cancel(struct picture_reading *reading)
{
    reading->settings.done = NULL;
    process_kill(&reading->process);
}
