#include "environments/packages/import_record.h"

#include "base/cleanup.h"
#include "base/json.h"
#include "base/list.h"
#include "base/memory.h"
#include "environments/interpreter/file_identity.h"
#include "environments/packages/python_record.h"
#include "environments/process/preloads.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

/* A script counts less with each later one. A name that one script has imported is forgotten with
 * the twelfth later script without it; a name that many have imported stays longer. */
#define SCORE_FADING 0.9
#define SCORE_ENOUGH 0.3

#define RECORD_KIND "imports"

enum {
    IMPORTS_MAX = 32,
    OWNERS_MAX = 32, /* then the owner whose last call is oldest is forgotten */
};

struct import_owner {
    struct list link; /* in struct import_record */
    char *name;       /* owned */
    json_t *scores;   /* owned: by name of a module */
    struct preloads *preloads;
    size_t refused; /* the number of refused names when the record was kept */
    json_t *kept;   /* owned: the scores then */
};

struct import_record {
    char *state;       /* owned, or NULL */
    char *interpreter; /* owned: the path of the Python that the owners have used; NULL: none yet */
    bool is_learnt;    /* from scripts */
    struct preloads *fixed; /* owned: else; NULL: nothing is imported ahead */
    struct list owners;     /* of struct import_owner, in the order of their last calls */
    size_t owner_count;
};

struct import_record *import_record_new(const char *state, const json_t *wish)
{
    struct import_record *record = NEW(struct import_record);

    record->state = state ? memory_copy_string(state) : NULL;
    record->is_learnt = json_is_string(wish) && strcmp(json_string_value(wish), "auto") == 0;
    if (json_is_array(wish))
        record->fixed = preloads_new(json_copy((json_t *)wish));
    list_init(&record->owners);
    return record;
}

static struct import_owner *import_owner_new(struct import_record *record, const char *name)
{
    struct import_owner *owner = NEW(struct import_owner);

    owner->name = memory_copy_string(name);
    owner->scores = json_object();
    owner->preloads = preloads_new(json_array());
    owner->kept = json_object();
    list_append(&record->owners, &owner->link);
    record->owner_count++;
    return owner;
}

static void import_owner_free(struct import_record *record, struct import_owner *owner)
{
    record->owner_count--;
    list_remove(&owner->link);
    preloads_drop(owner->preloads);
    json_decref(owner->scores);
    json_decref(owner->kept);
    free(owner->name);
    free(owner);
}

/* Forgets names that could not be imported: they may be modules of the script's own. */
static void import_owner_settle(struct import_owner *owner)
{
    const char *name;
    json_t *failed;

    json_object_foreach (owner->preloads->failed, name, failed)
        json_object_del(owner->scores, name);
    json_object_clear(owner->preloads->failed);
}

static void import_owner_fade(struct import_owner *owner)
{
    const char *name;
    json_t *score;
    void *next;

    json_object_foreach_safe (owner->scores, next, name, score) {
        double faded = json_number_value(score) * SCORE_FADING;

        if (faded < SCORE_ENOUGH)
            json_object_del(owner->scores, name);
        else
            json_object_set_new(owner->scores, name, json_real(faded));
    }
}

static void import_owner_add(struct import_owner *owner, const json_t *names)
{
    const json_t *each;
    size_t i;

    json_array_foreach (names, i, each) {
        const char *name = json_string_value(each);
        const json_t *score = json_object_get(owner->scores, name);

        if (score || json_object_size(owner->scores) < IMPORTS_MAX)
            json_object_set_new(owner->scores, name, json_real(json_number_value(score) + 1));
    }
}

static void import_owner_choose(struct import_owner *owner)
{
    json_t *names = json_array();
    const char *name;
    json_t *score;

    json_object_foreach (owner->scores, name, score)
        json_array_append_new(names, json_string(name));
    json_decref(owner->preloads->names);
    owner->preloads->names = names;
}

/* True when other names are known now than are kept. */
static bool import_owner_differs(const struct import_owner *owner)
{
    const char *name;
    json_t *score;

    if (json_object_size(owner->scores) != json_object_size(owner->kept) ||
        json_object_size(owner->preloads->refused) != owner->refused)
        return true;
    json_object_foreach (owner->scores, name, score)
        if (!json_object_get(owner->kept, name))
            return true;
    return false;
}

/* The form in which it is kept. New reference. */
static json_t *import_owner_keep(struct import_owner *owner)
{
    json_decref(owner->kept);
    owner->kept = json_copy(owner->scores);
    owner->refused = json_object_size(owner->preloads->refused);
    return json_pack("{s:O, s:O}", "scores", owner->kept, "refused", owner->preloads->refused);
}

/* Loads scores and refused names from KEPT. Ill-formed values count as nothing. */
static void import_owner_load(struct import_owner *owner, const json_t *kept)
{
    json_object_update(owner->scores, json_object_get(kept, "scores"));
    json_object_update(owner->kept, owner->scores);
    json_object_update(owner->preloads->refused, json_object_get(kept, "refused"));
    owner->refused = json_object_size(owner->preloads->refused);
    import_owner_choose(owner);
}

static void import_record_save(struct import_record *record)
{
    AUTO_JSON json_t *answer = NULL;
    json_t *owners = json_object();
    struct file_identity file;

    LIST_FOR_EACH (&record->owners, link) {
        struct import_owner *owner = CONTAINER_OF(link, struct import_owner, link);

        json_object_set_new(owners, owner->name, import_owner_keep(owner));
    }
    answer = json_pack("{s:o}", "owners", owners);
    if (!record->state)
        return;
    file_identity_read(&file, record->interpreter);
    python_record_keep(record->state, RECORD_KIND, record->interpreter, &file, answer);
}

static void import_record_forget(struct import_record *record)
{
    LIST_FOR_EACH_SAFE (&record->owners, link) {
        import_owner_free(record, CONTAINER_OF(link, struct import_owner, link));
    }
}

/* Scripts older than the server count, too. */
static void import_record_load(struct import_record *record, const char *interpreter)
{
    json_t *answer =
        record->state ? python_record_load(record->state, RECORD_KIND, interpreter) : NULL;
    const char *name;
    json_t *kept;

    free(record->interpreter);
    record->interpreter = memory_copy_string(interpreter);
    import_record_forget(record);
    json_object_foreach (json_object_get(answer, "owners"), name, kept)
        import_owner_load(import_owner_new(record, name), kept);
    json_decref(answer);
}

static void import_record_turn_to(struct import_record *record, const char *interpreter)
{
    if (record->is_learnt &&
        (!record->interpreter || strcmp(record->interpreter, interpreter) != 0))
        import_record_load(record, interpreter);
}

/* The record of NAME, which becomes the owner with the newest call. */
static struct import_owner *import_record_find(struct import_record *record, const char *name)
{
    LIST_FOR_EACH (&record->owners, link) {
        struct import_owner *owner = CONTAINER_OF(link, struct import_owner, link);

        if (strcmp(owner->name, name) != 0)
            continue;
        list_remove(&owner->link);
        list_append(&record->owners, &owner->link);
        return owner;
    }
    if (record->owner_count >= OWNERS_MAX)
        import_owner_free(record, CONTAINER_OF(record->owners.next, struct import_owner, link));
    return import_owner_new(record, name);
}

struct preloads *import_record_note(struct import_record *record, const char *name,
                                    const char *interpreter, const json_t *names)
{
    struct import_owner *owner;

    if (!record->is_learnt)
        return record->fixed;
    import_record_turn_to(record, interpreter);
    owner = import_record_find(record, name);
    import_owner_settle(owner);
    import_owner_fade(owner);
    import_owner_add(owner, names);
    import_owner_choose(owner);
    if (import_owner_differs(owner))
        import_record_save(record);
    return owner->preloads;
}

/* Several owners may have a name. */
static void import_record_add(json_t *names, const json_t *more)
{
    json_t *known = json_object();
    const json_t *name;
    size_t i;

    json_array_foreach (names, i, name)
        json_object_set_new(known, json_string_value(name), json_true());
    json_array_foreach (more, i, name)
        if (!json_object_get(known, json_string_value(name)))
            json_array_append(names, (json_t *)name);
    json_decref(known);
}

json_t *import_record_describe(struct import_record *record, const char *interpreter)
{
    json_t *names = record->fixed ? json_copy(record->fixed->names) : json_array();
    json_t *refused = record->fixed ? json_copy(record->fixed->refused) : json_object();

    import_record_turn_to(record, interpreter);
    LIST_FOR_EACH (&record->owners, link) {
        const struct import_owner *owner = CONTAINER_OF(link, struct import_owner, link);

        import_record_add(names, owner->preloads->names);
        json_object_update(refused, owner->preloads->refused);
    }
    return json_pack("{s:o, s:o}", "names", names, "refused", refused);
}

static bool import_record_differs(struct import_record *record)
{
    LIST_FOR_EACH (&record->owners, link) {
        struct import_owner *owner = CONTAINER_OF(link, struct import_owner, link);

        import_owner_settle(owner);
        if (import_owner_differs(owner))
            return true;
    }
    return false;
}

void import_record_free(struct import_record *record)
{
    if (!record)
        return;
    if (import_record_differs(record))
        import_record_save(record);
    import_record_forget(record);
    preloads_drop(record->fixed);
    free(record->interpreter);
    free(record->state);
    free(record);
}
