#undef NDEBUG

#include "base/cleanup.h"
#include "base/json.h"
#include "base/memory.h"
#include "server/tools/resource.h"
#include "tests/conformance/catalogue.h"

#include <assert.h>
#include <string.h>

static void add_text(struct invocation *invocation, const char *text)
{
    resource_add_text(invocation, json_object_get_string(invocation->arguments, "uri"), NULL, text,
                      strlen(text));
}

static enum outcome read_text(struct invocation *invocation, struct error *err)
{
    (void)err;
    add_text(invocation, "This is the content of the static text resource.");
    return OUTCOME_READY;
}

static enum outcome read_bytes(struct invocation *invocation, struct error *err)
{
    static const unsigned char PNG[] = {0x89, 'P', 'N', 'G', '\r', '\n', 0x1a, '\n'};

    (void)err;
    resource_add_bytes(invocation, "test://static-binary", NULL, PNG, sizeof PNG);
    return OUTCOME_READY;
}

static enum outcome read_watched(struct invocation *invocation, struct error *err)
{
    (void)err;
    add_text(invocation, "This changes when test_trigger_resource_update says so.");
    return OUTCOME_READY;
}

static enum outcome read_from_template(struct invocation *invocation, struct error *err)
{
    const char *id = json_object_get_string(invocation->arguments, "id");
    AUTO_FREE char *data = memory_format("Data for ID: %s", id);
    AUTO_JSON json_t *value =
        json_pack("{s:s, s:b, s:s}", "id", id, "templateTest", true, "data", data);
    AUTO_FREE char *text = value ? json_dumps(value, JSON_COMPACT) : NULL;

    if (!text)
        return error_set(err, ERROR_INTERNAL, "cannot be told as JSON");
    add_text(invocation, text);
    return OUTCOME_READY;
}

static const struct resource RESOURCES[] = {
    {.uri = "test://static-text",
     .name = "static text",
     .mime_type = "text/plain",
     .size = -1,
     .start = read_text},
    {.uri = "test://static-binary",
     .name = "static picture",
     .mime_type = "image/png",
     .size = -1,
     .start = read_bytes},
    {.uri = "test://watched-resource",
     .name = "watched",
     .mime_type = "text/plain",
     .size = -1,
     .start = read_watched},
};

static const struct resource TEMPLATE = {.uri = "test://template/{id}/data",
                                         .name = "data by id",
                                         .mime_type = "application/json",
                                         .start = read_from_template};

void catalogue_add_resources(struct registry *registry)
{
    struct error err = ERROR_INIT;
    int failed = 0;

    for (size_t i = 0; i < ARRAY_SIZE(RESOURCES); i++)
        failed |= resource_register(registry, &RESOURCES[i], &err);
    failed |= resource_register_template(registry, &TEMPLATE, &err);
    assert(failed == 0);
}
