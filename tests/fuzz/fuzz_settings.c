/* Input: a letter for the format (j, a, t or y), then the settings of a client. What was put in is
 * there once, and taking it out restores every byte. */
#undef NDEBUG
#include "base/cleanup.h"
#include "base/json.h"
#include "server/clients/jsonc_edit.h"
#include "server/clients/toml_section.h"
#include "server/clients/yaml_section.h"

#include <assert.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const char *const servers[] = {"servers", NULL};
static const char *const allowed[] = {"permissions", "allow", NULL};

static const struct form {
    char letter;
    const char *const *path;
    const char *name;
    const char *value;
    int (*put)(const char *text, const struct settings_entry *entry, char **ret_text,
               struct error *err);
    int (*take)(const char *text, const struct settings_entry *entry, char **ret_text,
                struct error *err);
} forms[] = {
    {'j', servers, "us", "{\"command\": \"/us\", \"args\": [\"-x\"]}", jsonc_put, jsonc_take},
    {'a', allowed, NULL, "\"us\"", jsonc_put, jsonc_take},
    {'t', servers, "us", "{\"command\": \"/us\", \"args\": [\"-x\"]}", toml_section_put,
     toml_section_take},
    {'y', servers, "us", "{\"command\": \"/us\", \"args\": [\"-x\"]}", yaml_section_put,
     yaml_section_take},
};

static void check(const struct form *form, const char *text)
{
    AUTO_JSON json_t *value = json_loads(form->value, JSON_DECODE_ANY, NULL);
    const struct settings_entry entry = {form->path, form->name, value};
    AUTO_FREE char *none = NULL;
    AUTO_FREE char *with = NULL;
    AUTO_FREE char *again = NULL;
    AUTO_FREE char *without = NULL;
    struct error err = ERROR_INIT;

    if (form->take(text, &entry, &none, &err) != SETTINGS_SAME)
        return; /* no settings, or it is there already */
    if (form->put(text, &entry, &with, &err) < 0)
        return;
    assert(form->put(with, &entry, &again, &err) == SETTINGS_SAME);
    assert(form->take(with, &entry, &without, &err) == SETTINGS_CHANGED);
    assert(strcmp(text, without) == 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    AUTO_FREE char *text = strndup((const char *)data, size);

    for (size_t i = 0; *text && i < sizeof forms / sizeof *forms; i++)
        if (forms[i].letter == *text)
            check(&forms[i], text + 1);
    return 0;
}
