#include "server/configuration/config_values.h"

#include "base/cleanup.h"
#include "base/json.h"
#include "base/memory.h"
#include "base/quantity.h"
#include "base/schema/schema.h"
#include "base/text.h"
#include "server/configuration/config_paths.h"
#include "server/configuration/config_types.h"
#include "server/configuration/yaml_tree.h"
#include "server/transport/http/http_origin.h"
#include "server/transport/oauth/oauth_url.h"
#include "server/transport/socket/address.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

static json_t *config_values_settle_value(const struct config_values *values, const json_t *schema,
                                          json_t *value, const char *pointer);

static json_t *config_values_refuse(struct error *err, const char *expected, const char *text)
{
    error_set(err, ERROR_CONFIG, "must be %s, not \"%.100s\"", expected, text);
    return NULL;
}

static json_t *read_size(const char *text, struct error *err)
{
    uint64_t bytes;

    if (quantity_read_bytes(text, &bytes))
        return json_integer((json_int_t)bytes);
    return config_values_refuse(err, "a number of bytes or a size such as 512MiB, 1GB or 64KiB",
                                text);
}

static json_t *config_values_read_address(const char *text, struct error *err)
{
    struct address address;

    return address_parse(text, &address, err) < 0 ? NULL : json_string(text);
}

static bool is_local_http(const struct address *address)
{
    if (address->kind == ADDRESS_UNIX_HTTP)
        return true;
    for (unsigned i = 0; i < address->endpoint_count; i++)
        if (!endpoint_is_loopback(&address->endpoints[i]))
            return false;
    return address->kind == ADDRESS_HTTP;
}

char *config_values_admin_address(const char *text, struct error *err)
{
    const char *path = text_starts_with(text, "unix://") ? "#/" : "/";
    AUTO_FREE char *whole = memory_format("%s%s", text, path);
    struct address address;
    struct error cause = ERROR_INIT;

    if (address_parse(whole, &address, &cause) == 0 && is_local_http(&address))
        return STEAL_PTR(whole);
    error_set(err, ERROR_CONFIG,
              "must be http://HOST:PORT of a loopback address, or unix:///PATH, not \"%.200s\"",
              text);
    return NULL;
}

static json_t *read_admin_address(const char *text, struct error *err)
{
    AUTO_FREE char *address = config_values_admin_address(text, err);

    return address ? json_string(text) : NULL;
}

static json_t *read_safe_url(const char *text, struct error *err)
{
    if (oauth_url_is_safe(text))
        return json_string(text);
    return config_values_refuse(err, "an https URL, or an http one of a loopback address", text);
}

static json_t *read_resource_url(const char *text, struct error *err)
{
    return oauth_url_check_resource(text, err) < 0 ? NULL : json_string(text);
}

static json_t *read_absolute_path(const char *text, struct error *err)
{
    if (*text != '/')
        return config_values_refuse(err, "an absolute path", text);
    return json_string(text);
}

static json_t *read_working_directory(const char *text, struct error *err)
{
    if (strcmp(text, "temporary") == 0 || strcmp(text, "memory") == 0)
        return json_string(text);
    if (*text != '/')
        return config_values_refuse(err, "temporary, memory or an absolute path", text);
    if (text[strspn(text, "/")] == '\0')
        return config_values_refuse(err, "a directory that runs may fill", text);
    return json_string(text);
}

static json_t *read_variable_name(const char *text, struct error *err)
{
    static const char letters[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz_";
    static const char others[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz_0123456789";

    if (strncmp(text, "LD_", 3) == 0) {
        error_set(err, ERROR_CONFIG, "%.100s would change how every program is loaded", text);
        return NULL;
    }
    if (strspn(text, letters) == 0 || text[strspn(text, others)] != '\0')
        return config_values_refuse(
            err, "a name of letters, digits and _ that begins with no digit", text);
    return json_string(text);
}

static json_t *read_environment_name(const char *text, struct error *err)
{
    static const char allowed[] =
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_.-";
    size_t length = strlen(text);

    if (length == 0 || length > 64 || text[strspn(text, allowed)] != '\0')
        return config_values_refuse(err, "a name of 1 to 64 letters, digits, dots, - and _", text);
    return json_string(text);
}

static json_t *config_values_read_host(const char *text, struct error *err)
{
    return http_name_is_host(text) ? json_string(text)
                                   : config_values_refuse(err, "NAME or NAME:PORT", text);
}

static json_t *read_origin(const char *text, struct error *err)
{
    return http_name_is_origin(text)
               ? json_string(text)
               : config_values_refuse(err, "http://NAME or https://NAME, or with :PORT", text);
}

/* The value that TEXT in FORMAT stands for, new; or NULL with ERR set. An unknown format stands for
 * TEXT itself. */
static json_t *read_format(const char *format, const char *text, struct error *err)
{
    static const struct {
        const char *name;
        json_t *(*read)(const char *text, struct error *err);
    } formats[] = {
        {"address", config_values_read_address},
        {"admin-address", read_admin_address},
        {"byte-size", read_size},
        {"absolute-path", read_absolute_path},
        {"working-directory", read_working_directory},
        {"variable-name", read_variable_name},
        {"environment-name", read_environment_name},
        {"http-host", config_values_read_host},
        {"http-origin", read_origin},
        {"safe-url", read_safe_url},
        {"resource-url", read_resource_url},
    };

    for (size_t i = 0; i < ARRAY_SIZE(formats); i++) {
        if (strcmp(format, formats[i].name) == 0)
            return formats[i].read(text, err);
    }
    return json_string(text);
}

/* The keyword KEY of SCHEMA. Borrowed, or NULL. */
static const json_t *config_values_keyword(const struct config_values *values, const json_t *schema,
                                           const char *key)
{
    return schema_document_keyword(values->schema, schema, key);
}

static void settle_member(const struct config_values *values, const json_t *schema, json_t *object,
                          const char *key, const char *pointer)
{
    AUTO_FREE char *member = yaml_pointer(pointer, key);
    json_t *value = json_object_get(object, key);
    const json_t *fallback = config_values_keyword(values, schema, "default");

    if (!value && fallback) {
        value = json_deep_copy(fallback);
        json_object_set_new(object, key, value);
    }
    if (value)
        json_object_set_new(object, key, config_values_settle_value(values, schema, value, member));
}

static void check_names(const struct config_values *values, const char *format,
                        const json_t *object, const char *pointer)
{
    const char *key;
    json_t *value;

    json_object_foreach ((json_t *)object, key, value) {
        struct error err = ERROR_INIT;
        AUTO_JSON json_t *name = read_format(format, key, &err);
        AUTO_FREE char *member = yaml_pointer(pointer, key);

        if (!name)
            values->report(values->data, SCHEMA_AT_KEY, member, err.message);
    }
}

/* The schema that FORM ("if", "then") has for objects of *RET_TYPE. Borrowed. */
static const json_t *form_schema(const json_t *form, const char **ret_type)
{
    const json_t *properties = json_object_get(json_object_get(form, "if"), "properties");

    *ret_type = json_object_get_string(json_object_get(properties, "type"), "const");
    return json_object_get(form, "then");
}

/* SCHEMA, or if FORMS have a schema for the type of OBJECT, that schema. */
static const json_t *choose_form(const json_t *schema, const json_t *forms, const json_t *object)
{
    const char *wanted = json_object_get_string(object, "type");
    const json_t *form;
    size_t i;

    json_array_foreach (forms, i, form) {
        const char *type;
        const json_t *chosen = form_schema(form, &type);

        if (wanted && type && strcmp(type, wanted) == 0)
            return chosen;
    }
    return schema;
}

/* "venv or docker": the types among FORMS whose objects have KEY. Owned by the caller, or NULL. */
static char *types_with_key(const struct config_values *values, const json_t *forms,
                            const char *key)
{
    char *types = NULL;
    const json_t *form;
    size_t i;

    json_array_foreach (forms, i, form) {
        const char *type;
        const json_t *schema = form_schema(form, &type);
        char *longer;

        if (!json_object_get(config_values_keyword(values, schema, "properties"), key))
            continue;
        longer = memory_format("%s%s%s", types ? types : "", types ? " or " : "", type);
        free(types);
        types = longer;
    }
    return types;
}

/* Reports the keys of OBJECT that CHOSEN does not know, but another of FORMS does. */
static void check_foreign_keys(const struct config_values *values, const json_t *forms,
                               const json_t *chosen, const json_t *object, const char *pointer)
{
    const char *key;
    json_t *value;

    json_object_foreach ((json_t *)object, key, value) {
        AUTO_FREE char *types = NULL;
        AUTO_FREE char *member = yaml_pointer(pointer, key);
        AUTO_FREE char *message = NULL;

        if (json_object_get(config_values_keyword(values, chosen, "properties"), key))
            continue;
        types = types_with_key(values, forms, key);
        if (!types)
            continue;
        message = memory_format("is a key of type %s, not of %s", types,
                                json_object_get_string(object, "type"));
        values->report(values->data, SCHEMA_AT_KEY, member, message);
    }
}

static void settle_members(const struct config_values *values, const json_t *schema, json_t *object,
                           const char *pointer)
{
    const json_t *properties = config_values_keyword(values, schema, "properties");
    const json_t *others = config_values_keyword(values, schema, "additionalProperties");
    const json_t *names = config_values_keyword(values, schema, "propertyNames");
    const char *key;
    json_t *member;

    if (json_object_get_string(names, "format"))
        check_names(values, json_object_get_string(names, "format"), object, pointer);
    json_object_foreach ((json_t *)properties, key, member)
        settle_member(values, member, object, key, pointer);
    if (!json_is_object(others))
        return;
    json_object_foreach (object, key, member) {
        if (!json_object_get(properties, key))
            settle_member(values, others, object, key, pointer);
    }
}

static void settle_object(const struct config_values *values, const json_t *schema, json_t *object,
                          const char *pointer)
{
    const json_t *forms = config_values_keyword(values, schema, "allOf");
    const json_t *chosen = choose_form(schema, forms, object);

    if (chosen != schema)
        check_foreign_keys(values, forms, chosen, object, pointer);
    settle_members(values, chosen, object, pointer);
}

static void settle_array(const struct config_values *values, const json_t *schema, json_t *array,
                         const char *pointer)
{
    const json_t *items = config_values_keyword(values, schema, "items");
    json_t *item;
    size_t i;

    json_array_foreach (array, i, item) {
        AUTO_FREE char *place = memory_format("%s/%zu", pointer, i);

        if (items)
            json_array_set_new(array, i, config_values_settle_value(values, items, item, place));
    }
}

/* The least size, in the words of sizes. */
static void config_values_check_least(const struct config_values *values, const json_t *schema,
                                      const json_t *bytes, const char *pointer)
{
    const json_t *least = config_values_keyword(values, schema, "minimum");
    AUTO_FREE char *shown = quantity_bytes((uint64_t)json_integer_value(least));
    AUTO_FREE char *message = NULL;
    char *space = strchr(shown, ' ');

    if (json_integer_value(bytes) >= json_integer_value(least))
        return;
    if (space)
        memmove(space, space + 1, strlen(space)); /* as the configuration writes it */
    message = memory_format("must be at least %s", shown);
    values->report(values->data, SCHEMA_AT_VALUE, pointer, message);
}

/* "~" and variables are for shells. */
static int config_values_check_home(const struct config_values *values, const char *format,
                                    const char *text, const char *pointer)
{
    static const char *const formats[] = {"path", "program-path", "absolute-path",
                                          "working-directory", "address"};
    const bool is_socket = text_starts_with(text, "unix:");
    AUTO_FREE char *message = config_paths_explain_home(is_socket ? text + strlen("unix:") : text);

    for (size_t i = 0; message && i < ARRAY_SIZE(formats); i++) {
        if (strcmp(format, formats[i]) != 0)
            continue;
        values->report(values->data, SCHEMA_AT_VALUE, pointer, message);
        return -1;
    }
    return 0;
}

static json_t *settle_string(const struct config_values *values, const json_t *schema,
                             json_t *value, const char *pointer)
{
    const char *format = json_string_value(config_values_keyword(values, schema, "format"));
    struct error err = ERROR_INIT;
    json_t *read;

    if (!format)
        return json_incref(value);
    if (config_values_check_home(values, format, json_string_value(value), pointer) < 0)
        return json_incref(value);
    read = values->folder ? config_paths_read(values->folder, format, value) : NULL;
    if (!read)
        read = read_format(format, json_string_value(value), &err);
    if (read && strcmp(format, "byte-size") == 0)
        config_values_check_least(values, schema, read, pointer);
    if (read)
        return read;
    values->report(values->data, SCHEMA_AT_VALUE, pointer, err.message);
    return json_incref(value);
}

/* Reports a VALUE of another type than SCHEMA wants, in better words than the schema has. */
static bool config_values_check_type(const struct config_values *values, const json_t *schema,
                                     const json_t *value, const char *pointer)
{
    const char *type = json_string_value(config_values_keyword(values, schema, "type"));
    const json_t *choices = config_values_keyword(values, schema, "enum");
    const char *slash = strrchr(pointer, '/');
    AUTO_FREE char *message = NULL;

    if (!type || config_values_keyword(values, schema, "x-wanted") ||
        (json_is_string(value) && config_values_keyword(values, schema, "format")))
        return true;
    message = choices ? config_types_explain_choice(choices, value)
                      : config_types_explain(type, slash ? slash + 1 : "", value);
    if (message)
        values->report(values->data, SCHEMA_AT_VALUE, pointer, message);
    return !message;
}

/* The value for VALUE by SCHEMA: VALUE itself, changed or not, or another value. New reference. */
static json_t *config_values_settle_value(const struct config_values *values, const json_t *schema,
                                          json_t *value, const char *pointer)
{
    if (!config_values_check_type(values, schema, value, pointer))
        return json_incref(value);
    if (json_is_string(value))
        return settle_string(values, schema, value, pointer);
    if (json_is_array(value))
        settle_array(values, schema, value, pointer);
    if (json_is_object(value))
        settle_object(values, schema, value, pointer);
    return json_incref(value);
}

void config_values_settle(const struct config_values *values, json_t *root)
{
    json_decref(config_values_settle_value(values, values->schema, root, ""));
}
