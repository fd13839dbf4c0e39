#include "environments/pictures/gallery.h"

#include "base/base64.h"
#include "base/cleanup.h"
#include "base/json.h"
#include "base/list.h"
#include "base/log.h"
#include "base/memory.h"
#include "base/untrusted.h"
#include "environments/pictures/picture_reading.h"

#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>

#define GALLERY_SECONDS 5.0 /* that a result may wait for all pictures */

#define REASON_MANY   "no more are shown of one run"
#define REASON_TIME   "there was no time to read it"
#define REASON_BROKEN "broken, or no picture that can be read"
#define REASON_CLOSED "it cannot be opened"
#define REASON_UNSEEN "it could not be looked at"

/* True if the name of FILE is one for a picture that clients take: other files are not opened. */
static bool gallery_is_picture(const json_t *file)
{
    static const char *const types[] = {"image/png", "image/jpeg", "image/gif", "image/webp"};
    const char *type = json_object_get_string(file, "mimeType");

    for (size_t i = 0; type && i < ARRAY_SIZE(types); i++)
        if (strcmp(type, types[i]) == 0)
            return true;
    return false;
}

/* The file that is read now, or would be. Borrowed. */
static json_t *gallery_path(const struct gallery *gallery)
{
    return json_object_get(json_array_get(gallery->files, gallery->next), "path");
}

static void gallery_leave_out(struct gallery *gallery, json_t *reason)
{
    json_array_append_new(gallery->pictures,
                          json_pack("{s:O, s:o}", "path", gallery_path(gallery), "reason", reason));
    gallery->next++;
}

static json_t *gallery_explain_size(const struct picture_answer *answer)
{
    if (answer->file_width == 0)
        return json_string_format("too large: more than %d MiB", PICTURE_FILE_BYTES >> 20);
    return json_string_format("too large: %ux%u pixels", answer->file_width, answer->file_height);
}

/* ANSWER, NULL for none, does not lead to a picture that can be shown. */
static json_t *gallery_explain(const struct picture_answer *answer)
{
    if (!answer)
        return json_string(REASON_UNSEEN);
    if (answer->verdict == PICTURE_TOO_LARGE)
        return gallery_explain_size(answer);
    return json_string(answer->verdict == PICTURE_SHOWN ? REASON_MANY : REASON_BROKEN);
}

static void gallery_show(struct gallery *gallery, const struct picture_answer *answer,
                         const char *bytes)
{
    AUTO_FREE char *data = base64_encode(BASE64_STANDARD, bytes, answer->length);

    json_array_append_new(
        gallery->pictures,
        json_pack("{s:O, s:s, s:s, s:I, s:I, s:I, s:I}", "path", gallery_path(gallery), //
                  "mimeType", picture_format_mime_type(answer->format), "data", data,   //
                  "width", (json_int_t)answer->width, "height", (json_int_t)answer->height,
                  "fileWidth", (json_int_t)answer->file_width, //
                  "fileHeight", (json_int_t)answer->file_height));
    gallery->shown++;
    gallery->shown_bytes += answer->length;
    gallery->next++;
}

static enum outcome gallery_go_on(struct gallery *gallery);

/* The one way out. */
static void gallery_end(struct gallery *gallery)
{
    ev_timer_stop(gallery->loop, &gallery->deadline);
    json_decref(STEAL_PTR(gallery->files));
}

static void gallery_on_read(void *data, const struct picture_answer *answer, const char *bytes)
{
    struct gallery *gallery = data;

    gallery->reading = NULL;
    if (answer && answer->verdict == PICTURE_SHOWN &&
        gallery->shown_bytes + answer->length <= GALLERY_BYTES)
        gallery_show(gallery, answer, bytes);
    else
        gallery_leave_out(gallery, gallery_explain(answer));
    if (gallery_go_on(gallery) == OUTCOME_READY)
        gallery->done(gallery);
}

/* Begins to read the next file. False: it is left out. */
static bool gallery_read(struct gallery *gallery)
{
    const char *path = json_string_value(gallery_path(gallery));
    struct error err = ERROR_INIT;
    AUTO_CLOSE int file = untrusted_open(gallery->directory, path, O_RDONLY, &err);
    struct stat status;

    if (file < 0 || fstat(file, &status) < 0) {
        gallery_leave_out(gallery, json_string(REASON_CLOSED));
        return false;
    }
    if (status.st_size > PICTURE_FILE_BYTES) {
        gallery_leave_out(gallery, gallery_explain_size(&(struct picture_answer){0}));
        return false;
    }
    gallery->reading = picture_reading_start(
        &(struct picture_reading_settings){
            .host = gallery->host,
            .helper = gallery->helper,
            .file = file,
            .data = gallery,
            .done = gallery_on_read,
        },
        &err);
    if (!gallery->reading) {
        log_warning("cannot read a picture: %s", err.message);
        gallery_leave_out(gallery, gallery_explain(NULL));
    }
    return gallery->reading;
}

/* READY: nothing is left to read. */
static enum outcome gallery_go_on(struct gallery *gallery)
{
    while (gallery->next < json_array_size(gallery->files)) {
        if (!gallery_is_picture(json_array_get(gallery->files, gallery->next)))
            gallery->next++;
        else if (gallery->shown == GALLERY_PICTURES)
            gallery_leave_out(gallery, json_string(REASON_MANY));
        else if (gallery_read(gallery))
            return OUTCOME_PENDING;
    }
    gallery_end(gallery);
    return OUTCOME_READY;
}

/* Pictures that have not been read by now are left out. */
static void gallery_on_deadline(struct ev_loop *loop, ev_timer *timer, int events)
{
    struct gallery *gallery = CONTAINER_OF(timer, struct gallery, deadline);

    (void)loop;
    (void)events;
    picture_reading_cancel(STEAL_PTR(gallery->reading));
    while (gallery->next < json_array_size(gallery->files)) {
        if (gallery_is_picture(json_array_get(gallery->files, gallery->next)))
            gallery_leave_out(gallery, json_string(REASON_TIME));
        else
            gallery->next++;
    }
    gallery_end(gallery);
    gallery->done(gallery);
}

enum outcome gallery_start(struct gallery *gallery, int directory, json_t *files)
{
    gallery->pictures = json_array();
    gallery->files = json_incref(files);
    gallery->directory = directory;
    gallery->next = gallery->shown = gallery->shown_bytes = 0;
    ev_now_update(gallery->loop);
    ev_timer_init(&gallery->deadline, gallery_on_deadline, GALLERY_SECONDS, 0.);
    ev_timer_start(gallery->loop, &gallery->deadline);
    return gallery_go_on(gallery);
}

void gallery_cancel(struct gallery *gallery)
{
    if (!gallery->reading)
        return;
    picture_reading_cancel(STEAL_PTR(gallery->reading));
    gallery_end(gallery);
}

void gallery_deinit(struct gallery *gallery)
{
    gallery_cancel(gallery);
    json_decref(STEAL_PTR(gallery->pictures));
}
