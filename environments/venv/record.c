#include "environments/venv/record.h"

#include "base/cleanup.h"
#include "base/digest.h"
#include "base/fd.h"
#include "base/json.h"
#include "base/memory.h"
#include "base/random.h"
#include "base/untrusted.h"
#include "environments/interpreter/python_needs.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#define VENV_RECORD_RECORD_NAME "pyexecd.json"

enum {
    FORMAT = 1,
    MARK_FORMAT = 2, /* of the file in a venv whose record is elsewhere */
    RECORD_BYTES = 64 * 1024,
    MARK_DIGITS = 32,
    PLACE_DIGITS = 32,
};

char *venv_record_place(const char *state, const char *path)
{
    char text[DIGEST_TEXT_BYTES];
    struct digest digest;

    digest_init(&digest);
    digest_add_string(&digest, path);
    digest_finish(&digest, text);
    return memory_format("%s/" VENV_RECORDS_NAME "/%.*s.json", state, PLACE_DIGITS, text);
}

void venv_record_deinit(struct venv_record *record)
{
    free(record->path);
    free(record->version);
    free(record->executable);
    free(record->packages);
    memory_free_strings(record->directories);
    *record = (struct venv_record){0};
}

/* New reference, or NULL. */
static json_t *venv_record_load_inner(const char *venv)
{
    AUTO_CLOSE int directory = open(venv, O_PATH | O_DIRECTORY | O_CLOEXEC);

    return untrusted_load_json(directory, VENV_RECORD_RECORD_NAME, RECORD_BYTES);
}

/* The record at KEPT, if it is of the venv that is at VENV now. New reference, or NULL. */
static json_t *venv_record_load_kept(const char *venv, const char *kept)
{
    AUTO_JSON json_t *inner = venv_record_load_inner(venv);
    AUTO_JSON json_t *json = untrusted_load_json(AT_FDCWD, kept, RECORD_BYTES);
    const char *there = json_object_get_string(inner, "mark");
    const char *mark = json_object_get_string(json, "mark");

    return mark && there && strcmp(mark, there) == 0 ? json_incref(json) : NULL;
}

bool venv_record_read(struct venv_record *ret, const char *venv, const char *kept)
{
    AUTO_JSON json_t *json =
        kept ? venv_record_load_kept(venv, kept) : venv_record_load_inner(venv);

    *ret = (struct venv_record){0};
    if (json_integer_value(json_object_get(json, "format")) != FORMAT)
        return false;
    ret->path = json_object_copy_string(json, "path");
    ret->version = json_object_copy_string(json, "version");
    ret->executable = json_object_copy_string(json, "executable");
    ret->packages = json_object_copy_string(json, "packages");
    ret->directories = python_directories_from_json(json_object_get(json, "directories"));
    file_identity_from_json(&ret->executable_file, json_object_get(json, "executable_file"));
    if (ret->version && ret->executable)
        return true;
    venv_record_deinit(ret);
    return false;
}

static int venv_record_write_mark(const char *mark, const char *venv, struct error *err)
{
    AUTO_FREE char *path = memory_format("%s/" VENV_RECORD_RECORD_NAME, venv);
    AUTO_FREE char *text = memory_format("{\"format\": %d, \"mark\": \"%s\"}\n", MARK_FORMAT, mark);

    return fd_replace_file(path, 0666, text, strlen(text), err);
}

static int venv_record_make_folder(const char *kept, struct error *err)
{
    AUTO_FREE char *folder = memory_format("%.*s", (int)(strrchr(kept, '/') - kept), kept);

    return fd_make_directories(folder, S_IRWXU, err);
}

/* The text of RECORD, owned by the caller, or NULL. MARK is NULL where its venv needs none. */
static char *venv_record_text(const struct venv_record *record, const char *mark, struct error *err)
{
    AUTO_JSON json_t *json = json_pack("{s:i, s:s*, s:s*, s:s, s:s, s:o, s:s*, s:o*}",  //
                                       "format", FORMAT,                                //
                                       "mark", mark,                                    //
                                       "path", record->path,                            //
                                       "version", record->version,                      //
                                       "executable", record->executable,                //
                                       "executable_file",                               //
                                       file_identity_to_json(&record->executable_file), //
                                       "packages", record->packages,                    //
                                       "directories",                                   //
                                       python_directories_to_json(record->directories));
    char *text = json ? json_text_within("", json, "\n") : NULL;

    if (!text)
        error_set(err, ERROR_SYSTEM, "the path %s is not UTF-8", record->executable);
    return text;
}

int venv_record_write(const struct venv_record *record, const char *venv, const char *kept,
                      struct error *err)
{
    AUTO_FREE char *inner = memory_format("%s/" VENV_RECORD_RECORD_NAME, venv);
    AUTO_FREE char *mark = kept ? random_digits(MARK_DIGITS) : NULL;
    AUTO_FREE char *text = venv_record_text(record, mark, err);

    if (!text)
        return -1;
    if (!kept)
        return fd_replace_file(inner, 0666, text, strlen(text), err);
    if (venv_record_make_folder(kept, err) < 0 ||
        fd_replace_file(kept, S_IRUSR | S_IWUSR, text, strlen(text), err) < 0)
        return -1;
    return venv_record_write_mark(mark, venv, err);
}

bool venv_record_is_left_over(const char *kept)
{
    AUTO_JSON json_t *json = untrusted_load_json(AT_FDCWD, kept, RECORD_BYTES);
    const char *path = json_object_get_string(json, "path");
    struct stat status;

    return path && lstat(path, &status) < 0 && (errno == ENOENT || errno == ENOTDIR);
}
