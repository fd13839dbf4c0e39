#include "environments/nodes/node_message.h"

#include "base/cleanup.h"
#include "base/json.h"
#include "base/memory.h"
#include "base/printable.h"
#include "environments/process/python_stacks.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum {
    NODE_SIGNALS = 64,        /* of Linux */
    NODE_STRINGS = 64,        /* of a list, at most */
    NODE_STRING_BYTES = 4096, /* of each: a path */

    /* `type: docker` has no nodes. */
    NODE_LAYERS = LAYERS_OF_TREES | LAYERS_OF_SANDBOX | LAYER_OFFLINE | LAYER_UID,
};

static double node_number(const json_t *message, const char *key)
{
    return json_object_get_number(message, key, 0);
}

/* At most what 32 bits hold. */
static uint32_t node_count(const json_t *message, const char *key)
{
    const json_int_t number = json_integer_value(json_object_get(message, key));

    return number > 0 && number <= UINT32_MAX ? (uint32_t)number : 0;
}

static bool node_flag(const json_t *message, const char *key)
{
    return json_is_true(json_object_get(message, key));
}

/* Copies the string member KEY, as it may be shown; owned by the caller. NULL: there is none. */
static char *node_text(const json_t *message, const char *key)
{
    const char *string = json_object_get_string(message, key);
    char *text = string ? memory_format("%.*s", NODE_STRING_BYTES, string) : NULL;

    if (text)
        printable_clean(text);
    return text;
}

/* NULL-terminated, for memory_free_strings; NULL where there is no array of strings. */
static char **node_strings(const json_t *message, const char *key)
{
    const json_t *array = json_object_get(message, key);
    char **strings;
    const json_t *string;
    size_t i;

    if (!json_is_array(array))
        return NULL;
    strings = memory_new(json_array_size(array) + 1, sizeof *strings);
    json_array_foreach (array, i, string)
        strings[i] = memory_copy_string(json_is_string(string) ? json_string_value(string) : "");
    return strings;
}

static json_t *node_strings_write(const char *const *strings)
{
    return strings ? json_strings(strings) : json_null();
}

/* The request */

const char *node_request_code(const struct execution_request *request, size_t *ret_length)
{
    *ret_length = request->program ? strlen(request->program) : request->code_length;
    if (request->program)
        return request->program;
    if (request->code)
        return request->code;
    *ret_length = 0;
    return NULL;
}

json_t *node_request_write(const struct execution_request *request, char *const *kept,
                           uint32_t environment, bool is_tried)
{
    json_t *message = json_object();
    struct stat status;
    size_t length;
    const bool has_code = node_request_code(request, &length);

    json_object_set_new(message, "environment", json_integer(environment));
    json_object_set_new(message, "directory", json_string(request->directory));
    if (!is_tried && fstat(request->directory_fd, &status) == 0)
        json_object_set_new(message, "inode", json_integer((json_int_t)status.st_ino));
    if (request->script)
        json_object_set_new(message, "script", json_string(request->script));
    if (has_code)
        json_object_set_new(message, "code_length", json_integer((json_int_t)length));
    json_object_set_new(message, "is_program", json_boolean(request->program));
    json_object_set_new(message, "has_text", json_boolean(request->text));
    json_object_set_new(message, "has_input", json_boolean(request->input > 0));
    json_object_set_new(message, "is_recurrent", json_boolean(request->recurrence));
    if (request->kernel)
        json_object_set_new(message, "kernel", json_string(request->kernel));
    json_object_set_new(message, "variables", node_strings_write(request->variables));
    json_object_set_new(message, "arguments", node_strings_write(request->arguments));
    json_object_set_new(message, "kept", node_strings_write((const char *const *)kept));
    json_object_set_new(message, "isolation", json_integer(request->isolation));
    if (request->imports)
        json_object_set(message, "imports", (json_t *)request->imports);
    json_object_set_new(message, "owner", json_string(request->owner ? request->owner : ""));
    json_object_set_new(message, "timeout", json_real(request->timeout));
    return message;
}

bool node_request_read(struct node_request *ret, json_t *message)
{
    const uint32_t isolation = node_count(message, "isolation");

    *ret = (struct node_request){
        .message = message,
        .variables = node_strings(message, "variables"),
        .arguments = node_strings(message, "arguments"),
        .kept = node_strings(message, "kept"),
        .environment = node_count(message, "environment"),
        .code_length = node_count(message, "code_length"),
        .is_program = node_flag(message, "is_program"),
        .has_text = node_flag(message, "has_text"),
        .has_input = node_flag(message, "has_input"),
        .is_recurrent = node_flag(message, "is_recurrent"),
        .inode = (uint64_t)json_integer_value(json_object_get(message, "inode")),
        .is_copied = json_is_integer(json_object_get(message, "copy_limit")),
        .growth_limit = (uint64_t)json_integer_value(json_object_get(message, "growth_limit")),
        .copy_limit = (uint64_t)json_integer_value(json_object_get(message, "copy_limit")),
    };
    ret->request = (struct execution_request){
        .directory = json_object_get_string(message, "directory"),
        .script = json_object_get_string(message, "script"),
        .kernel = json_object_get_string(message, "kernel"),
        .variables = (const char *const *)ret->variables,
        .arguments = (const char *const *)ret->arguments,
        .isolation = isolation == ISOLATION_NONE ? ISOLATION_NONE : ISOLATION_SANDBOX,
        .imports = json_object_get(message, "imports"),
        .owner = json_object_get_string(message, "owner"),
        .timeout = node_number(message, "timeout"),
    };
    return ret->request.directory && *ret->request.directory == '/' && ret->request.owner;
}

void node_request_deinit(struct node_request *request)
{
    memory_free_strings(request->variables);
    memory_free_strings(request->arguments);
    memory_free_strings(request->kept);
    json_decref(request->message);
    *request = (struct node_request){0};
}

/* Files that were left out */

json_t *node_skips_write(const struct node_skips *skips)
{
    return json_pack("{s:I, s:I, s:o}", "count", (json_int_t)skips->count, "named",
                     (json_int_t)skips->named, "names", json_string_format("%s", skips->names));
}

void node_skips_read(struct node_skips *ret, const json_t *message)
{
    AUTO_FREE char *names = node_text(message, "names");

    *ret = (struct node_skips){0};
    if (!names || !*names)
        return;
    ret->count = node_count(message, "count");
    ret->named = (unsigned)size_min(node_count(message, "named"), ret->count);
    snprintf(ret->names, sizeof ret->names, "%s", names);
}

/* The receipt */

static void node_receipt_write(json_t *message, const struct process_receipt *receipt)
{
    json_object_set_new(message, "layers", json_integer(receipt->layers));
    json_object_set_new(message, "asked", json_integer(receipt->asked));
    json_object_set_new(message, "limiter", json_integer(receipt->limiter));
    if (receipt->missing)
        json_object_set(message, "missing", (json_t *)receipt->missing);
    if (receipt->devices)
        json_object_set(message, "devices", (json_t *)receipt->devices);
}

/* Replaces the member KEY of OBJECT by CLEAN (taken; NULL: by none). Borrowed. */
static json_t *node_replace(json_t *object, const char *key, json_t *clean)
{
    if (clean)
        json_object_set_new(object, key, clean);
    else
        json_object_del(object, key);
    return clean;
}

/* Cuts the list KEY, and makes its strings fit to be shown. Borrowed from MESSAGE; NULL: it is no
 * list of strings. */
static json_t *node_array(json_t *message, const char *key)
{
    const json_t *array = json_object_get(message, key);
    json_t *clean = json_is_array(array) ? json_array() : NULL;

    for (size_t i = 0; clean && i < json_array_size(array) && i < NODE_STRINGS; i++) {
        AUTO_JSON json_t *holder = json_pack("{s:O}", key, json_array_get(array, i));
        AUTO_FREE char *text = node_text(holder, key);

        if (text) {
            json_array_append_new(clean, json_string(text));
        } else {
            json_decref(clean);
            clean = NULL;
        }
    }
    return node_replace(message, key, clean);
}

static struct process_receipt node_receipt_read(json_t *message, const json_t *node)
{
    const unsigned limiter = node_count(message, "limiter");

    return (struct process_receipt){
        .layers = node_count(message, "layers") & NODE_LAYERS,
        .asked = node_count(message, "asked") & NODE_LAYERS,
        .limiter = limiter < LIMITER_CONTAINER ? (enum process_limiter)limiter : LIMITER_RLIMITS,
        .missing = node_array(message, "missing"),
        .devices = node_array(message, "devices"),
        .node = node,
    };
}

/* The end */

/* The member KEY of MESSAGE, if it is of TYPE. Borrowed; or NULL. */
static json_t *node_member(const json_t *message, const char *key, json_type type)
{
    json_t *member = json_object_get(message, key);

    return member && json_typeof(member) == type ? member : NULL;
}

/* Copies FRAME of a stack, as it may be shown. New reference; NULL: it is none. */
static json_t *node_frame_read(const json_t *frame)
{
    AUTO_FREE char *file = node_text(frame, "file");
    AUTO_FREE char *function = node_text(frame, "function");

    return file && function ? json_pack("{s:s, s:I, s:s}", "file", file, "line",
                                        (json_int_t)node_count(frame, "line"), "function", function)
                            : NULL;
}

static json_t *node_stack_read(const json_t *stack)
{
    const json_t *frames = node_member(stack, "frames", JSON_ARRAY);
    json_t *clean = json_array();

    for (size_t i = 0; i < json_array_size(frames) && i < PYTHON_STACK_FRAMES; i++)
        json_array_append_new(clean, node_frame_read(json_array_get(frames, i)));
    return json_pack("{s:b, s:I, s:o}", "main", node_flag(stack, "main"), "threads",
                     (json_int_t)node_count(stack, "threads"), "frames", clean);
}

/* Keeps what has the shape of a stack. */
static json_t *node_stacks_read(json_t *message)
{
    const json_t *stacks = node_member(message, "stacks", JSON_ARRAY);
    json_t *clean = json_array();

    for (size_t i = 0; i < json_array_size(stacks) && i < PYTHON_STACKS; i++) {
        json_t *stack = node_stack_read(json_array_get(stacks, i));

        if (json_array_size(json_object_get(stack, "frames")) > 0)
            json_array_append(clean, stack);
        json_decref(stack);
    }
    if (json_array_size(clean) > 0)
        return node_replace(message, "stacks", clean);
    json_decref(clean);
    return node_replace(message, "stacks", NULL);
}

static json_t *node_left_files_read(json_t *message)
{
    json_t *left = node_member(message, "left_files", JSON_OBJECT);
    json_t *names = node_array(left, "names");

    return node_replace(message, "left_files",
                        names ? json_pack("{s:I, s:O}", "count",
                                          (json_int_t)node_count(left, "count"), "names", names)
                              : NULL);
}

/* A value that is no returncode means an end that nobody has reported. */
static int node_returncode(const json_t *message)
{
    const json_t *code = node_member(message, "returncode", JSON_INTEGER);
    const json_int_t value = json_integer_value(code);

    return code && value >= -NODE_SIGNALS && value <= UINT8_MAX ? (int)value : -SIGKILL;
}

static void node_end_write_fate(json_t *message, const struct process_end *end)
{
    if (end->failure[0])
        json_object_set_new(message, "failure", json_string_format("%s", end->failure));
    json_object_set_new(message, "reported", json_boolean(end->reported));
    json_object_set_new(message, "killed", json_boolean(end->killed));
    json_object_set_new(message, "returncode", json_integer(end->returncode));
    json_object_set_new(message, "out_of_memory", json_boolean(end->out_of_memory));
    json_object_set_new(message, "out_of_disk", json_boolean(end->out_of_disk));
    json_object_set_new(message, "survivors", json_boolean(end->survivors));
    json_object_set_new(message, "leftovers", json_integer(end->leftovers));
    if (end->stacks)
        json_object_set(message, "stacks", end->stacks);
    if (end->left_files)
        json_object_set(message, "left_files", end->left_files);
}

static void node_usage_set(json_t *message, const struct process_usage *usage)
{
    json_object_set_new(message, "cpu_seconds", json_real(usage->cpu_seconds));
    json_object_set_new(message, "peak_memory", json_integer((json_int_t)usage->peak_memory));
    json_object_set_new(message, "ahead_seconds", json_real(usage->ahead_seconds));
}

static struct process_usage node_usage_get(const json_t *message)
{
    const json_int_t peak = json_integer_value(json_object_get(message, "peak_memory"));

    return (struct process_usage){
        .cpu_seconds = node_number(message, "cpu_seconds"),
        .peak_memory = peak > 0 ? (uint64_t)peak : 0,
        .ahead_seconds = node_number(message, "ahead_seconds"),
    };
}

json_t *node_end_write(const struct process_end *end)
{
    json_t *message = json_object();

    node_receipt_write(message, &end->receipt);
    node_end_write_fate(message, end);
    node_usage_set(message, &(struct process_usage){.cpu_seconds = end->cpu_seconds,
                                                    .peak_memory = end->peak_memory,
                                                    .ahead_seconds = end->ahead_seconds});
    json_object_set_new(message, "start_seconds", json_real(end->start_seconds));
    json_object_set_new(message, "run_seconds", json_real(end->run_seconds));
    return message;
}

static void node_end_read_fate(struct process_end *end, const json_t *message)
{
    const char *failure = json_object_get_string(message, "failure");

    snprintf(end->failure, sizeof end->failure, "%s", failure ? failure : "");
    printable_clean_lines(end->failure);
    end->reported = node_flag(message, "reported");
    end->killed = node_flag(message, "killed");
    end->returncode = node_returncode(message);
    end->out_of_memory = node_flag(message, "out_of_memory");
    end->out_of_disk = node_flag(message, "out_of_disk");
    end->survivors = node_flag(message, "survivors");
    end->leftovers = node_count(message, "leftovers");
}

void node_end_read(struct process_end *ret, json_t *message, const json_t *node)
{
    const struct process_usage usage = node_usage_get(message);

    *ret = (struct process_end){
        .receipt = node_receipt_read(message, node),
        .stacks = node_stacks_read(message),
        .left_files = node_left_files_read(message),
        .cpu_seconds = usage.cpu_seconds,
        .peak_memory = usage.peak_memory,
        .ahead_seconds = usage.ahead_seconds,
        .start_seconds = node_number(message, "start_seconds"),
        .run_seconds = node_number(message, "run_seconds"),
    };
    node_end_read_fate(ret, message);
}

void node_end_fail(struct process_end *ret, const char *failure, const json_t *node)
{
    *ret = (struct process_end){.returncode = -SIGKILL, .receipt.node = node};
    snprintf(ret->failure, sizeof ret->failure, "%s", failure);
}

json_t *node_usage_write(unsigned char status, const struct process_usage *usage)
{
    json_t *message = json_object();

    json_object_set_new(message, "status", json_integer(status));
    node_usage_set(message, usage);
    return message;
}

unsigned char node_usage_read(struct process_usage *ret, const json_t *message)
{
    *ret = node_usage_get(message);
    return (unsigned char)json_integer_value(json_object_get(message, "status"));
}

/* The facts */

json_t *node_facts_write(const struct environment *environment)
{
    const struct process_receipt receipt = environment->ops->expected_receipt(environment);
    const char *interpreter = environment->ops->describe_interpreter(environment);
    const char *version = environment->ops->python_version(environment);
    json_t *message = json_object();

    node_receipt_write(message, &receipt);
    if (interpreter)
        json_object_set_new(message, "interpreter", json_string_format("%s", interpreter));
    if (version)
        json_object_set_new(message, "version", json_string_format("%s", version));
    json_object_set_new(message, "is_laid_over",
                        json_boolean(environment_delivery(environment) == SCRIPT_LAID_OVER));
    return message;
}

void node_facts_read(struct node_facts *facts, json_t *message, const json_t *node)
{
    const bool is_in_place = facts->is_known && facts->delivery == SCRIPT_IN_PLACE;

    node_facts_deinit(facts);
    facts->is_known = true;
    facts->interpreter = node_text(message, "interpreter");
    facts->version = node_text(message, "version");
    facts->delivery =
        !is_in_place && node_flag(message, "is_laid_over") ? SCRIPT_LAID_OVER : SCRIPT_IN_PLACE;
    facts->receipt = node_receipt_read(message, node);
    json_incref((json_t *)facts->receipt.missing);
    json_incref((json_t *)facts->receipt.devices);
    json_incref((json_t *)facts->receipt.node);
}

void node_facts_deinit(struct node_facts *facts)
{
    free(facts->interpreter);
    free(facts->version);
    json_decref((json_t *)facts->receipt.missing);
    json_decref((json_t *)facts->receipt.devices);
    json_decref((json_t *)facts->receipt.node);
    *facts = (struct node_facts){0};
}

/* The settings */

static json_t *node_setting_value(const struct environment_setting *setting,
                                  const struct environment_settings *settings)
{
    const double number = environment_setting_number(setting, settings);

    if (setting->words)
        return json_string(setting->words[(unsigned)number]);
    return setting->kind == SETTING_NUMBER ? json_real(number) : json_integer((json_int_t)number);
}

json_t *node_settings_write(const struct environment_settings *settings)
{
    json_t *written = json_object();
    const struct environment_setting *setting;

    for (size_t i = 0; (setting = environment_setting_at(i)); i++) {
        json_t *object = written;

        if (!setting->key)
            continue;
        if (setting->section && !json_object_get(written, setting->section))
            json_object_set_new(written, setting->section, json_object());
        if (setting->section)
            object = json_object_get(written, setting->section);
        json_object_set_new(object, setting->key, node_setting_value(setting, settings));
    }
    return written;
}
