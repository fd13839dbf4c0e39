#include "environments/venv/search.h"

#include "base/list.h"
#include "base/memory.h"
#include "environments/environment.h"
#include "environments/interpreter/search_path.h"
#include "environments/venv/place.h"
#include "environments/venv/record.h"

#include <stdlib.h>
#include <string.h>

static bool has_same_minor(const char *left, const char *right)
{
    size_t length = strcspn(left, ".") + 1;

    length += strcspn(left + length, ".");
    return strncmp(left, right, length) == 0 && (!right[length] || right[length] == '.');
}

/* True when the venv of RECORD has the packages that are wanted, for the Python that is there. */
static bool venv_search_is_complete(const struct venv_search *search,
                                    const struct venv_record *record)
{
    const bool is_same = record->version && has_same_minor(record->version, search->version);

    if (!search->place->is_ours && !*search->packages)
        return true;
    return is_same && (!*search->packages ||
                       (record->packages && strcmp(record->packages, search->packages) == 0));
}

/* RECORD is of a venv whose interpreter is VERSION now and uses DIRECTORIES. */
static void venv_search_judge(struct venv_search *search, const struct venv_record *record,
                              const char *version, char *const *directories)
{
    free(search->version);
    memory_free_strings(search->directories);
    search->version = memory_copy_string(version);
    search->directories = memory_copy_strings((const char *const *)directories);
    if (venv_search_is_complete(search, record))
        search->finding = VENV_USABLE;
    else
        search->finding = search->place->is_ours ? VENV_USELESS : VENV_LACKS_PACKAGES;
}

/* The Python behind the venv has been replaced, perhaps by the same version, or was never asked for
 * the directories that it uses. */
static void venv_search_renew_record(const struct venv_search *search, struct venv_record *record)
{
    struct error ignored = ERROR_INIT; /* the interpreter is asked again the next time */

    file_identity_read(&record->executable_file, search->place->python);
    free(record->version);
    record->version = memory_copy_string(search->version);
    memory_free_strings(record->directories);
    record->directories = memory_copy_strings((const char *const *)search->directories);
    (void)venv_record_write(record, search->place->path, search->place->kept, &ignored);
}

static void venv_search_judge_answer(struct venv_search *search)
{
    struct venv_record record;
    const struct venv_place *place = search->place;
    const bool has_record = venv_record_read(&record, place->path, place->kept);

    venv_search_judge(search, &record, search->python.version, search->python.directories);
    if (has_record && search->finding == VENV_USABLE)
        venv_search_renew_record(search, &record);
    venv_record_deinit(&record);
}

static void venv_search_on_answered(struct interpreter *interpreter, const struct error *err)
{
    struct venv_search *search = CONTAINER_OF(interpreter, struct venv_search, python);

    if (err && !search->place->is_ours) {
        search->done(search, err);
        return;
    }
    if (err)
        search->finding = VENV_USELESS;
    else
        venv_search_judge_answer(search);
    search->done(search, NULL);
}

static enum outcome venv_search_ask(struct venv_search *search, struct error *err)
{
    struct environment *environment = search->environment;
    enum outcome outcome;

    environment_step(environment, -1, "asking the Python of the venv what it is");
    interpreter_deinit(&search->python);
    interpreter_init(&search->python, environment->loop, environment->host, search->place->python);
    search->python.holding = search->holding;
    search->python.done = venv_search_on_answered;
    outcome = interpreter_resolve(&search->python, err);
    if (outcome == OUTCOME_READY)
        venv_search_judge_answer(search);
    return outcome;
}

/* A Python is there. */
static enum outcome venv_search_look(struct venv_search *search, struct error *err)
{
    const struct venv_place *place = search->place;
    struct venv_record record;
    enum outcome outcome = OUTCOME_READY;

    if (venv_record_read(&record, place->path, place->kept) && record.directories &&
        file_identity_holds(&record.executable_file, place->python))
        venv_search_judge(search, &record, record.version, record.directories);
    else
        outcome = venv_search_ask(search, err);
    venv_record_deinit(&record);
    return outcome;
}

enum outcome venv_search_start(struct venv_search *search, struct error *err)
{
    if (search_path_is_program(search->place->python))
        return venv_search_look(search, err);
    search->finding = search->place->is_ours ? VENV_USELESS : VENV_MISSING;
    return OUTCOME_READY;
}

void venv_search_cancel(struct venv_search *search)
{
    interpreter_cancel(&search->python);
}

void venv_search_deinit(struct venv_search *search)
{
    interpreter_deinit(&search->python);
    free(search->version);
    memory_free_strings(search->directories);
    search->version = NULL;
    search->directories = NULL;
}
