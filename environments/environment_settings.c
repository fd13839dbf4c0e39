#include "environments/environment_settings.h"

#include "base/cleanup.h"
#include "base/memory.h"
#include "base/text.h"

#include <stdlib.h>
#include <string.h>

static const char *const prepare_words[] = {
    [PREPARE_LAZY] = "lazy", [PREPARE_EAGER] = "eager", NULL};
static const char *const approval_words[] = {
    [APPROVAL_NEVER] = "never", [APPROVAL_FIRST] = "first", [APPROVAL_ALWAYS] = "always", NULL};
static const char *const images_words[] = {
    [IMAGES_INLINE] = "inline", [IMAGES_FILE] = "file", [IMAGES_OFF] = "off", NULL};
static const char *const start_words[] = {
    [START_WARM] = "warm", [START_FRESH] = "fresh", [START_COLD] = "cold", NULL};

#define SETTING_AT(MEMBER) offsetof(struct environment_settings, MEMBER)

/* Faults of a definition from a call are told in this order. */
static const struct environment_setting environment_settings[] = {
    {NULL, "timeout", SETTING_NUMBER, SETTING_AT(timeout)},
    {NULL, "max_timeout", SETTING_NUMBER, SETTING_AT(max_timeout)},
    {NULL, "prepare_timeout", SETTING_NUMBER, SETTING_AT(prepare_timeout)},
    {NULL, "prepare", SETTING_WORD, SETTING_AT(prepare), prepare_words},
    {NULL, "approval", SETTING_WORD, SETTING_AT(approval), approval_words},
    {NULL, "images", SETTING_WORD, SETTING_AT(images), images_words},
    {NULL, "start", SETTING_WORD, SETTING_AT(start), start_words},
    {"limits", "memory", SETTING_BYTES, SETTING_AT(limits.memory)},
    {"limits", "disk", SETTING_BYTES, SETTING_AT(disk)},
    {"limits", "output", SETTING_BYTES, SETTING_AT(output)},
    {"limits", "processes", SETTING_COUNT, SETTING_AT(limits.processes)},
    {"limits", "cpus", SETTING_NUMBER, SETTING_AT(cpus)},
    {NULL, "nice", SETTING_COUNT, SETTING_AT(limits.nice)},
    {NULL, NULL, SETTING_FLAG, SETTING_AT(sandbox.is_wanted)},
    {NULL, NULL, SETTING_FLAG, SETTING_AT(sandbox.is_optional)},
    {NULL, NULL, SETTING_FLAG, SETTING_AT(sandbox.required)},
    {NULL, NULL, SETTING_FLAG, SETTING_AT(sandbox.network)},
    {NULL, NULL, SETTING_TEXT, SETTING_AT(functions)},
};

const struct environment_setting *environment_setting_at(size_t index)
{
    return index < ARRAY_SIZE(environment_settings) ? &environment_settings[index] : NULL;
}

static const void *environment_setting_in(const struct environment_setting *setting,
                                          const struct environment_settings *settings)
{
    return (const char *)settings + setting->offset;
}

double environment_setting_number(const struct environment_setting *setting,
                                  const struct environment_settings *settings)
{
    const void *place = environment_setting_in(setting, settings);

    switch (setting->kind) {
    case SETTING_NUMBER:
        return *(const double *)place;
    case SETTING_BYTES:
        return (double)*(const uint64_t *)place; /* less than 2^53 */
    case SETTING_COUNT:
    case SETTING_WORD:
        return *(const unsigned *)place;
    case SETTING_FLAG:
        return *(const bool *)place;
    case SETTING_TEXT:
        break;
    }
    return 0;
}

static void environment_setting_set(const struct environment_setting *setting,
                                    struct environment_settings *settings, double number)
{
    void *place = (char *)settings + setting->offset;

    switch (setting->kind) {
    case SETTING_NUMBER:
        *(double *)place = number;
        break;
    case SETTING_BYTES:
        *(uint64_t *)place = (uint64_t)number;
        break;
    case SETTING_COUNT:
    case SETTING_WORD:
        *(unsigned *)place = (unsigned)number;
        break;
    case SETTING_FLAG:
        *(bool *)place = number != 0;
        break;
    case SETTING_TEXT:
        break;
    }
}

static void environment_setting_read_word(const struct environment_setting *setting,
                                          struct environment_settings *settings, const json_t *word)
{
    for (unsigned i = 0; json_is_string(word) && setting->words[i]; i++)
        if (strcmp(setting->words[i], json_string_value(word)) == 0)
            environment_setting_set(setting, settings, i);
}

static void environment_setting_read(const struct environment_setting *setting,
                                     struct environment_settings *settings,
                                     const json_t *definition)
{
    const json_t *object =
        setting->section ? json_object_get(definition, setting->section) : definition;
    const json_t *value = setting->key ? json_object_get(object, setting->key) : NULL;

    if (setting->words)
        environment_setting_read_word(setting, settings, value);
    else if (json_is_number(value))
        environment_setting_set(setting, settings, json_number_value(value));
}

void environment_settings_read(struct environment_settings *settings, const json_t *definition)
{
    for (size_t i = 0; i < ARRAY_SIZE(environment_settings); i++)
        environment_setting_read(&environment_settings[i], settings, definition);
    settings->limits.file_size = settings->disk;
}

bool environment_settings_have(const char *key)
{
    for (size_t i = 0; i < ARRAY_SIZE(environment_settings); i++) {
        const struct environment_setting *setting = &environment_settings[i];
        const char *member = setting->section ? setting->section : setting->key;

        if (member && strcmp(member, key) == 0)
            return true;
    }
    return false;
}

const char *approval_policy_name(enum approval_policy policy)
{
    return approval_words[policy];
}

/* The text of SETTING, which is of SETTING_TEXT. */
static const char *environment_setting_text(const struct environment_setting *setting,
                                            const struct environment_settings *settings)
{
    return text_or_none(*(char *const *)environment_setting_in(setting, settings));
}

static bool environment_setting_is_equal(const struct environment_setting *setting,
                                         const struct environment_settings *a,
                                         const struct environment_settings *b)
{
    if (setting->kind == SETTING_TEXT)
        return strcmp(environment_setting_text(setting, a), environment_setting_text(setting, b)) ==
               0;
    return environment_setting_number(setting, a) == environment_setting_number(setting, b);
}

bool environment_settings_are_equal(const struct environment_settings *a,
                                    const struct environment_settings *b)
{
    for (size_t i = 0; i < ARRAY_SIZE(environment_settings); i++)
        if (!environment_setting_is_equal(&environment_settings[i], a, b))
            return false;
    return true;
}

static void environment_setting_digest(const struct environment_setting *setting,
                                       const struct environment_settings *settings,
                                       struct digest *digest)
{
    const double number = environment_setting_number(setting, settings);

    if (setting->kind == SETTING_TEXT)
        digest_add_string(digest, environment_setting_text(setting, settings));
    else
        digest_add(digest, &number, sizeof number);
}

void environment_digest(const json_t *definition, const struct environment_settings *settings,
                        char ret_text[DIGEST_TEXT_BYTES])
{
    AUTO_FREE char *text = json_dumps(definition, JSON_COMPACT | JSON_SORT_KEYS);
    struct digest digest;

    digest_init(&digest);
    digest_add_string(&digest, text);
    for (size_t i = 0; i < ARRAY_SIZE(environment_settings); i++)
        environment_setting_digest(&environment_settings[i], settings, &digest);
    digest_finish(&digest, ret_text);
}

struct environment_settings environment_settings_copy(const struct environment_settings *settings)
{
    struct environment_settings copy = *settings;

    copy.variables = memory_copy_strings((const char *const *)settings->variables);
    copy.tools = memory_copy_strings((const char *const *)settings->tools);
    copy.paths = memory_copy_strings((const char *const *)settings->paths);
    copy.functions = settings->functions ? memory_copy_string(settings->functions) : NULL;
    copy.sandbox = sandbox_settings_copy(&settings->sandbox);
    return copy;
}

void environment_settings_deinit(struct environment_settings *settings)
{
    memory_free_strings(STEAL_PTR(settings->variables));
    memory_free_strings(STEAL_PTR(settings->tools));
    memory_free_strings(STEAL_PTR(settings->paths));
    free(STEAL_PTR(settings->functions));
    sandbox_settings_deinit(&settings->sandbox);
}
