#include "environments/packages/import_record.h"

#include "base/json.h"
#include "base/memory.h"
#include "environments/interpreter/file_identity.h"
#include "environments/packages/python_record.h"
#include "environments/process/preloads.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

/* A script counts less with each that comes after it, and what it has imported is forgotten when
 * none of the last eleven has. */
#define SCORE_FADING 0.9
#define SCORE_ENOUGH 0.3

#define RECORD_KIND "imports"

enum { IMPORTS_MAX = 32 };

struct import_record {
    char *state;               /* owned, or NULL */
    char *interpreter;         /* owned: whose scores these are; or NULL: nobody's yet */
    json_t *scores;            /* owned: by name; NULL: what is imported ahead is fixed */
    struct preloads *preloads; /* owned; NULL: nothing is */
    size_t refused;            /* how many names were when it was kept */
};

struct import_record *import_record_new(const char *state, const json_t *wish)
{
    struct import_record *record = NEW(struct import_record);

    record->state = state ? memory_copy_string(state) : NULL;
    if (json_is_array(wish)) {
        record->preloads = preloads_new(json_copy((json_t *)wish));
    } else if (!wish || strcmp(json_string_value(wish), "auto") == 0) {
        record->preloads = preloads_new(json_array());
        record->scores = json_object();
    }
    return record;
}

static double import_record_score(const struct import_record *record, const char *name)
{
    return json_number_value(json_object_get(record->scores, name));
}

static void import_record_save(struct import_record *record)
{
    struct file_identity file;
    json_t *answer;

    record->refused = json_object_size(record->preloads->refused);
    if (!record->state)
        return;
    file_identity_read(&file, record->interpreter);
    answer =
        json_pack("{s:O, s:O}", "scores", record->scores, "refused", record->preloads->refused);
    python_record_keep(record->state, RECORD_KIND, record->interpreter, &file, answer);
    json_decref(answer);
}

static void import_record_fade(struct import_record *record)
{
    const char *name;
    json_t *score;
    void *next;

    json_object_foreach_safe (record->scores, next, name, score) {
        double faded = json_number_value(score) * SCORE_FADING;

        if (faded < SCORE_ENOUGH)
            json_object_del(record->scores, name);
        else
            json_object_set_new(record->scores, name, json_real(faded));
    }
}

static void import_record_add(struct import_record *record, const json_t *names)
{
    const json_t *each;
    size_t i;

    json_array_foreach (names, i, each) {
        const char *name = json_string_value(each);

        if (json_object_get(record->scores, name) || json_object_size(record->scores) < IMPORTS_MAX)
            json_object_set_new(record->scores, name,
                                json_real(import_record_score(record, name) + 1));
    }
}

/* True when other names are known now than are imported ahead. */
static bool import_record_differs(const struct import_record *record)
{
    const json_t *each;
    size_t i;

    if (json_array_size(record->preloads->names) != json_object_size(record->scores) ||
        json_object_size(record->preloads->refused) != record->refused)
        return true;
    json_array_foreach (record->preloads->names, i, each)
        if (!json_object_get(record->scores, json_string_value(each)))
            return true;
    return false;
}

static void import_record_choose(struct import_record *record)
{
    json_t *names = json_array();
    const char *name;
    json_t *score;

    json_object_foreach (record->scores, name, score)
        json_array_append_new(names, json_string(name));
    json_decref(record->preloads->names);
    record->preloads->names = names;
}

/* Scripts older than the server count, too. What has not been well-formed counts as nothing. */
static void import_record_load(struct import_record *record, const char *interpreter)
{
    json_t *kept =
        record->state ? python_record_load(record->state, RECORD_KIND, interpreter) : NULL;

    free(record->interpreter);
    record->interpreter = memory_copy_string(interpreter);
    json_object_clear(record->scores);
    json_object_clear(record->preloads->refused);
    json_object_update(record->scores, json_object_get(kept, "scores"));
    json_object_update(record->preloads->refused, json_object_get(kept, "refused"));
    json_decref(kept);
    import_record_choose(record);
    record->refused = json_object_size(record->preloads->refused);
}

struct preloads *import_record_look(struct import_record *record, const char *interpreter)
{
    if (record->scores && (!record->interpreter || strcmp(record->interpreter, interpreter) != 0))
        import_record_load(record, interpreter);
    return record->preloads;
}

struct preloads *import_record_note(struct import_record *record, const char *interpreter,
                                    const json_t *names)
{
    struct preloads *preloads = import_record_look(record, interpreter);

    if (!record->scores)
        return preloads;
    import_record_fade(record);
    import_record_add(record, names);
    if (import_record_differs(record)) {
        import_record_choose(record);
        import_record_save(record);
    }
    return preloads;
}

void import_record_free(struct import_record *record)
{
    if (!record)
        return;
    if (record->interpreter && import_record_differs(record))
        import_record_save(record);
    preloads_drop(record->preloads);
    json_decref(record->scores);
    free(record->interpreter);
    free(record->state);
    free(record);
}
