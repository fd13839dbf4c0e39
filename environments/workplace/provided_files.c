#include "environments/workplace/provided_files.h"

#include "base/base64.h"
#include "base/cleanup.h"
#include "base/coding_line.h"
#include "base/json.h"
#include "base/memory.h"
#include "base/quantity.h"
#include "environments/workplace/directory_file.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

enum { FOLDERS_MOST = 500 }; /* made in one turn of the loop: some 30 milliseconds */

/* Base64 as clients have it: in lines, and without the padding that a URL would not take. Owned by
 * the caller; NULL: it is none. */
static char *provided_file_decode(const char *text, size_t length, size_t *ret_length)
{
    AUTO_FREE char *plain = memory_new(length + 4, 1);
    size_t count = 0;

    for (size_t i = 0; i < length; i++)
        if (!memchr(" \t\r\n", text[i], 4))
            plain[count++] = text[i];
    while (count > 0 && plain[count - 1] == '=')
        count--;
    while (count % 4 != 0)
        plain[count++] = '=';
    return base64_decode(BASE64_STANDARD, plain, count, ret_length);
}

static bool provided_file_is_python(const json_t *file)
{
    static const char extension[] = ".py";
    const char *path = json_object_get_string(file, "path");
    const size_t length = strlen(path);

    return length >= strlen(extension) && strcmp(path + length - strlen(extension), extension) == 0;
}

/* The bytes of FILE, which has TEXT: UTF-8, and Python code says nothing else. Owned by the
 * caller. */
static char *provided_file_read_text(const json_t *file, const json_t *text, size_t *ret_length)
{
    const char *bytes = json_string_value(text);
    const size_t length = json_string_length(text);
    char *correct =
        provided_file_is_python(file) ? coding_line_correct(bytes, length, ret_length) : NULL;

    if (correct)
        return correct;
    correct = memory_new(length + 1, 1);
    memcpy(correct, bytes, length);
    *ret_length = length;
    return correct;
}

/* The bytes of FILE. Owned by the caller. */
static char *provided_file_read(const json_t *file, size_t *ret_length, struct error *err)
{
    const json_t *text = json_object_get(file, "text");
    const json_t *blob = json_object_get(file, "blob");
    char *bytes = NULL;

    if (!text == !blob) {
        error_set(err, ERROR_INVALID_ARGUMENTS, "give either text or blob");
        return NULL;
    }
    if (blob) {
        bytes = provided_file_decode(json_string_value(blob), json_string_length(blob), ret_length);
        if (!bytes)
            error_set(err, ERROR_INVALID_ARGUMENTS,
                      "blob is not base64; text can be given as `text`, as it is");
        return bytes;
    }
    return provided_file_read_text(file, text, ret_length);
}

/* The path of FILE in its shortest form. Owned by the caller. */
static char *provided_file_path(const json_t *file, struct error *err)
{
    const json_t *text = json_object_get(file, "path");
    const char *path = json_string_value(text);
    AUTO_FREE char *clean = NULL;

    if (strlen(path) != json_string_length(text)) {
        error_set(err, ERROR_INVALID_ARGUMENTS, "a path has no NUL character");
        return NULL;
    }
    clean = directory_file_path(path, err);
    if (clean && strcmp(clean, SCRIPT_NAME) == 0) {
        error_set(err, ERROR_INVALID_ARGUMENTS,
                  SCRIPT_NAME " is the program itself, the argument `code`; use another name");
        return NULL;
    }
    return STEAL_PTR(clean);
}

/* Checks FILE, adds its path to PATHS and its bytes to *TOTAL. */
static int provided_file_check(const json_t *file, json_t *paths, uint64_t *total,
                               struct error *err)
{
    AUTO_FREE char *path = provided_file_path(file, err);
    AUTO_FREE char *bytes = NULL;
    size_t length = 0;

    if (!path)
        return -1;
    if (json_object_get(paths, path))
        return error_set(err, ERROR_INVALID_ARGUMENTS, "%s is there twice", path);
    bytes = provided_file_read(file, &length, err);
    if (!bytes)
        return error_prefix(err, "%s", path);
    json_object_set_new(paths, path, json_true());
    *total += length;
    return 0;
}

/* The folders in PATHS, keys of an object; a folder counts once for each path. */
static unsigned provided_files_count_folders(json_t *paths)
{
    const char *path;
    json_t *ignored;
    unsigned count = 0;

    json_object_foreach (paths, path, ignored)
        for (const char *at = path; (at = strchr(at, '/')); at++)
            count++;
    return count;
}

int provided_files_check(const json_t *files, uint64_t limit, struct error *err)
{
    AUTO_JSON json_t *paths = json_object();
    AUTO_FREE char *most = quantity_bytes(limit);
    uint64_t total = 0;
    const json_t *file;
    size_t i;

    json_array_foreach (files, i, file) {
        if (provided_file_check(file, paths, &total, err) < 0)
            return error_prefix(err, "files");
    }
    if (provided_files_count_folders(paths) > FOLDERS_MOST)
        return error_set(err, ERROR_INVALID_ARGUMENTS,
                         "files: their paths have more than %d folders in all; use shorter paths",
                         FOLDERS_MOST);
    if (total > limit)
        return error_set(err, ERROR_INVALID_ARGUMENTS,
                         "files: they are larger than the %s of new files that a run may make",
                         most);
    return 0;
}

int provided_files_put(const json_t *files, const struct working_directory *directory,
                       struct error *err)
{
    const json_t *file;
    size_t i;

    json_array_foreach (files, i, file) {
        AUTO_FREE char *path = provided_file_path(file, err);
        size_t length = 0;
        AUTO_FREE char *bytes = provided_file_read(file, &length, err);

        if (!path || !bytes || directory_file_put(directory, path, bytes, length, err) < 0)
            return -1;
    }
    return 0;
}
