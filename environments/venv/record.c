#include "environments/venv/record.h"

#include "base/cleanup.h"
#include "base/fd.h"
#include "base/json.h"
#include "base/memory.h"
#include "base/untrusted.h"
#include "environments/interpreter/python_needs.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>

#define VENV_RECORD_RECORD_NAME "pyexecd.json"

enum {
    FORMAT = 1,
    RECORD_BYTES = 64 * 1024,
};

void venv_record_deinit(struct venv_record *record)
{
    free(record->version);
    free(record->executable);
    free(record->packages);
    memory_free_strings(record->directories);
    *record = (struct venv_record){0};
}

bool venv_record_read(struct venv_record *ret, const char *venv)
{
    AUTO_CLOSE int directory = open(venv, O_PATH | O_DIRECTORY | O_CLOEXEC);
    AUTO_JSON json_t *json = untrusted_load_json(directory, VENV_RECORD_RECORD_NAME, RECORD_BYTES);

    *ret = (struct venv_record){0};
    if (json_integer_value(json_object_get(json, "format")) != FORMAT)
        return false;
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

int venv_record_write(const struct venv_record *record, const char *venv, struct error *err)
{
    AUTO_FREE char *path = memory_format("%s/" VENV_RECORD_RECORD_NAME, venv);
    AUTO_JSON json_t *json = json_pack("{s:i, s:s, s:s, s:o, s:s*, s:o*}",              //
                                       "format", FORMAT,                                //
                                       "version", record->version,                      //
                                       "executable", record->executable,                //
                                       "executable_file",                               //
                                       file_identity_to_json(&record->executable_file), //
                                       "packages", record->packages,                    //
                                       "directories",                                   //
                                       python_directories_to_json(record->directories));
    AUTO_FREE char *text = json ? json_text_within("", json, "\n") : NULL;

    if (!text)
        return error_set(err, ERROR_SYSTEM, "the path %s is not UTF-8", record->executable);
    return fd_replace_file(path, 0666, text, strlen(text), err);
}
