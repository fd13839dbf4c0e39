#include "server/tools/answer/run_pictures.h"

#include "base/json.h"
#include "base/memory.h"
#include "base/visible.h"
#include "server/tools/invocation.h"

#include <string.h>

enum {
    NAMES_SHOWN = 5, /* of files that are not shown */
    NAME_SHOWN_BYTES = 200,
};

static json_int_t run_pictures_number(const json_t *picture, const char *key)
{
    return json_integer_value(json_object_get(picture, key));
}

/* The path of PICTURE, which a script has chosen, on one line. Owned by the caller. */
static char *run_pictures_name(const json_t *picture)
{
    const char *path = json_object_get_string(picture, "path");

    return visible_line(path, strlen(path), NAME_SHOWN_BYTES);
}

/* LIST (taken), then SEPARATOR unless LIST is empty, then WHAT. Owned by the caller. */
static char *run_pictures_join(char *list, const char *separator, const char *what)
{
    AUTO_FREE char *before = list;

    return memory_format("%s%s%s", before, *before ? separator : "", what);
}

/* "plot.png", and its sizes if it was scaled. Owned by the caller. */
static char *run_pictures_describe(const json_t *picture)
{
    AUTO_FREE char *name = run_pictures_name(picture);
    json_int_t width = run_pictures_number(picture, "width");
    json_int_t file_width = run_pictures_number(picture, "fileWidth");

    if (width == file_width)
        return STEAL_PTR(name);
    return memory_format("%s (scaled to %" JSON_INTEGER_FORMAT "x%" JSON_INTEGER_FORMAT
                         "; the file has %" JSON_INTEGER_FORMAT "x%" JSON_INTEGER_FORMAT " pixels)",
                         name, width, run_pictures_number(picture, "height"), file_width,
                         run_pictures_number(picture, "fileHeight"));
}

/* The names of the pictures that are shown; "" for none. Owned by the caller. */
static char *run_pictures_list_shown(const json_t *pictures)
{
    char *list = memory_copy_string("");
    const json_t *picture;
    size_t i;

    json_array_foreach (pictures, i, picture) {
        AUTO_FREE char *what = run_pictures_describe(picture);

        if (json_object_get(picture, "data"))
            list = run_pictures_join(list, ", ", what);
    }
    return list;
}

/* "a.png, b.png (REASON)", the pictures with REASON; "" for none. Owned by the caller. */
static char *run_pictures_list_reason(const json_t *pictures, const char *reason)
{
    AUTO_FREE char *list = memory_copy_string("");
    size_t count = 0;
    const json_t *picture;
    size_t i;

    json_array_foreach (pictures, i, picture) {
        const char *own = json_object_get_string(picture, "reason");
        AUTO_FREE char *name = run_pictures_name(picture);

        if (own && strcmp(own, reason) == 0 && count++ < NAMES_SHOWN)
            list = run_pictures_join(list, ", ", name);
    }
    if (count <= NAMES_SHOWN)
        return memory_format("%s (%s)", list, reason);
    return memory_format("%s and %zu more (%s)", list, count - NAMES_SHOWN, reason);
}

/* The names of the pictures that are not shown, each reason once; "" for none. Owned by the
 * caller. */
static char *run_pictures_list_others(const json_t *pictures)
{
    char *list = memory_copy_string("");
    AUTO_JSON json_t *told = json_object();
    const json_t *picture;
    size_t i;

    json_array_foreach (pictures, i, picture) {
        const char *reason = json_object_get_string(picture, "reason");
        AUTO_FREE char *names = NULL;

        if (!reason || json_object_get(told, reason))
            continue;
        json_object_set_new(told, reason, json_true());
        names = run_pictures_list_reason(pictures, reason);
        list = run_pictures_join(list, "; ", names);
    }
    return list;
}

/* The lines about PICTURES, or "". Owned by the caller. */
static char *run_pictures_lines(const json_t *pictures)
{
    AUTO_FREE char *shown = run_pictures_list_shown(pictures);
    AUTO_FREE char *others = run_pictures_list_others(pictures);

    return memory_format("%s%s%s%s%s", *shown ? "\nPictures shown below: " : "", shown,
                         *others ? "\nPictures not shown: " : "", others,
                         *shown || *others ? "\n" : "");
}

json_t *run_pictures_add_text(json_t *text, const json_t *pictures)
{
    AUTO_JSON json_t *before = text;
    AUTO_FREE char *lines = run_pictures_lines(pictures);
    size_t length = json_string_length(before);
    bool has_end = length > 0 && json_string_value(before)[length - 1] == '\n';

    if (!*lines)
        return STEAL_PTR(before);
    return json_pack("s%+", json_string_value(before), length, lines + (has_end ? 1 : 0));
}

void run_pictures_show(struct invocation *invocation, const json_t *pictures)
{
    const json_t *picture;
    size_t i;

    json_array_foreach (pictures, i, picture) {
        json_t *data = json_object_get(picture, "data");

        if (data)
            json_array_append_new(invocation->result.content,
                                  json_pack("{s:s, s:O, s:O}", "type", "image", "data", data,
                                            "mimeType", json_object_get(picture, "mimeType")));
    }
}
