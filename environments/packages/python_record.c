#include "environments/packages/python_record.h"

#include "base/cleanup.h"
#include "base/digest.h"
#include "base/fd.h"
#include "base/json.h"
#include "base/log.h"
#include "base/memory.h"
#include "base/untrusted.h"
#include "environments/interpreter/file_identity.h"

#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>

enum {
    FORMAT = 1,
    ANSWER_BYTES = 512 * 1024,
};

/* Owned by the caller. */
static char *python_record_place(const char *state, const char *kind, const char *path)
{
    char text[DIGEST_TEXT_BYTES];
    struct digest digest;

    digest_init(&digest);
    digest_add_string(&digest, path);
    digest_finish(&digest, text);
    return memory_format("%s/%s/%.32s.json", state, kind, text);
}

json_t *python_record_load(const char *state, const char *kind, const char *path)
{
    AUTO_FREE char *place = python_record_place(state, kind, path);
    AUTO_JSON json_t *record = untrusted_load_json(AT_FDCWD, place, ANSWER_BYTES);
    struct file_identity file;

    file_identity_from_json(&file, json_object_get(record, "file"));
    if (json_integer_value(json_object_get(record, "format")) != FORMAT ||
        !file_identity_holds(&file, path))
        return NULL;
    return json_incref(json_object_get(record, "answer"));
}

static int python_record_write(const char *place, const char *text, struct error *err)
{
    AUTO_FREE char *folder = memory_format("%.*s", (int)(strrchr(place, '/') - place), place);

    if (fd_make_directories(folder, S_IRWXU, err) < 0)
        return -1;
    return fd_replace_file(place, S_IRUSR | S_IWUSR, text, strlen(text), err);
}

void python_record_keep(const char *state, const char *kind, const char *path,
                        const struct file_identity *file, const json_t *answer)
{
    AUTO_FREE char *place = python_record_place(state, kind, path);
    AUTO_JSON json_t *record = json_pack("{s:i, s:o, s:O}", "format", FORMAT, "file",
                                         file_identity_to_json(file), "answer", answer);
    AUTO_FREE char *text = json_text(record);
    struct error err = ERROR_INIT;

    if (python_record_write(place, text, &err) < 0)
        log_debug("the %s of %s were not kept: %s", kind, path, err.message);
}
