#include "server/tools/python/run_code_blocks.h"

#include "base/buffer.h"
#include "base/json.h"
#include "base/memory.h"
#include "environments/environment.h"
#include "server/tools/answer/run_output.h"
#include "server/tools/answer/run_pictures.h"
#include "server/tools/code/block_language.h"
#include "server/tools/code/code_cleaning.h"
#include "server/tools/hints/run_facts.h"
#include "server/tools/invocation.h"
#include "server/tools/python/code_blocks.h"
#include "server/tools/python/file_uri.h"
#include "server/tools/python/python_arguments.h"
#include "server/tools/python/python_call.h"
#include "server/tools/python/python_host.h"
#include "server/tools/python/python_offer.h"
#include "server/tools/python/run_account.h"
#include "server/tools/python/run_answer.h"
#include "server/tools/python/run_code_blocks_definition.h"
#include "server/tools/python/run_python.h"
#include "server/tools/tool.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#define BLOCKS_LEAST_SECONDS 0.01 /* a block that would have less is not begun */
#define BLOCKS_TASK_SECONDS  2.0  /* a longer call becomes a task if the server decides */

enum {
    BLOCKS_TEXT_BYTES = 1 << 30, /* more than all results can be */
    /* The exit codes of AutoGen's executors. */
    BLOCKS_FAILURE = 1,
    BLOCKS_TIMEOUT = 124,
};

/* A call, from its first block to its last. Freed when the last block is over, or the call is
 * cancelled. */
struct blocks_call {
    struct code_blocks blocks;
    size_t tried;                    /* of the block that runs */
    struct python_request request;   /* owned: of the block that runs */
    struct environment *environment; /* held, once a block has run: the environment of all blocks */
    json_t *approved_tools;          /* owned: names, for all blocks; or NULL */
    char *shown;                     /* owned: all blocks, for a person who approves */
    char *program;                   /* owned: of the block that runs */
    json_t *files;                   /* owned: files of the block that runs; or NULL */
    char *directory;                 /* owned: the handle, once there is one */
    double left;                     /* seconds for the blocks to come, once a block has run */
    int exit_code;                   /* of the last block that was tried */
    bool is_timeout;                 /* its time was up */
    json_t *entries;                 /* owned: the entries of the tried blocks, for programs */
    json_t *pictures;                /* owned: an array of arrays */
    struct buffer text;              /* for a model */
};

static struct blocks_call *blocks_call_new(const json_t *arguments)
{
    struct blocks_call *call = NEW(struct blocks_call);

    call->request = python_arguments_read(arguments);
    call->request.data = call;
    call->entries = json_array();
    call->pictures = json_array();
    buffer_init(&call->text, BLOCKS_TEXT_BYTES);
    return call;
}

static void blocks_call_free(struct blocks_call *call)
{
    code_blocks_deinit(&call->blocks);
    if (call->environment)
        environment_release(call->environment);
    json_decref(call->approved_tools);
    free(call->shown);
    free(call->program);
    json_decref(call->files);
    free(call->directory);
    json_decref(call->entries);
    json_decref(call->pictures);
    buffer_deinit(&call->text);
    free(call);
}

/* The next block that is to be tried, or has just been. */
static const struct code_block *blocks_call_block(const struct blocks_call *call)
{
    return &call->blocks.blocks[call->tried];
}

/* The ends of the blocks */

static void blocks_call_entitle(struct blocks_call *call)
{
    const struct code_block *block = blocks_call_block(call);
    const char *end = call->is_timeout ? ": Timeout" : "";

    if (call->tried > 0)
        buffer_print(&call->text, "\n\n");
    if (call->blocks.count > 1 || *end)
        buffer_print(&call->text, "Block %zu of %zu (%s%s%s)%s\n", block->number,
                     json_array_size(call->blocks.given), block->language->name,
                     block->file ? ", " : "", block->file ? block->file : "", end);
}

/* RESULT is that of its run, or NULL; ERROR says why it was not run, or NULL. New reference. */
static json_t *blocks_call_entry(const struct blocks_call *call, json_t *result, const char *error)
{
    const struct code_block *block = blocks_call_block(call);

    return json_pack("{s:s, s:s?, s:i, s:s?, s:O?}", "language", block->language->name, "file",
                     block->file, "exit_code", call->exit_code, "error", error, "result", result);
}

static void blocks_call_note_failure(struct blocks_call *call, int exit_code, const char *error)
{
    call->exit_code = exit_code;
    call->is_timeout = exit_code == BLOCKS_TIMEOUT;
    blocks_call_entitle(call);
    buffer_print(&call->text, "%s", error);
    json_array_append_new(call->entries, blocks_call_entry(call, NULL, error));
    call->tried++;
}

static int blocks_call_exit_code(const struct run_facts *facts)
{
    if (facts->report->end == RUN_TIMED_OUT)
        return BLOCKS_TIMEOUT;
    if (facts->is_success)
        return 0;
    /* A run can fail without its program having done so. */
    return facts->returncode ? facts->returncode : BLOCKS_FAILURE;
}

static void blocks_call_note(struct blocks_call *call, const struct run_facts *facts,
                             const struct run_answer *answer)
{
    const struct code_block *block = blocks_call_block(call);

    call->exit_code = blocks_call_exit_code(facts);
    call->is_timeout = facts->report->end == RUN_TIMED_OUT;
    blocks_call_entitle(call);
    if (call->exit_code == 0 && !block->is_run)
        buffer_print(&call->text, "Code saved to %s", block->file);
    else
        buffer_print(&call->text, "%s", json_string_value(answer->text));
    json_array_append_new(call->entries, blocks_call_entry(call, answer->structured, NULL));
    if (answer->pictures)
        json_array_append(call->pictures, answer->pictures);
    call->tried++;
}

/* The answer */

/* The result for programs. New reference. */
static json_t *blocks_call_structured(const struct blocks_call *call)
{
    return json_pack("{s:b, s:i, s:O, s:i}", "success", call->exit_code == 0, "exit_code",
                     call->exit_code, "blocks", call->entries, "left_out",
                     (int)(call->blocks.count - call->tried));
}

/* In the form that models know from AutoGen. */
static void blocks_call_tell(struct invocation *invocation, struct blocks_call *call)
{
    const bool is_one =
        call->blocks.count == 1 && call->blocks.blocks[0].is_run && !call->is_timeout;
    const size_t left_out = call->blocks.count - call->tried;
    AUTO_FREE char *rest =
        left_out > 0 ? memory_format("\n\nBlocks that were not run: %zu.", left_out) : NULL;
    AUTO_FREE char *text =
        memory_format("exitcode: %d (execution %s)\nCode output:\n%.*s%s", call->exit_code,
                      call->exit_code == 0 ? "succeeded" : "failed",
                      (int)buffer_length(&call->text), buffer_bytes(&call->text), rest ? rest : "");

    if (is_one)
        invocation_add_text(invocation, buffer_bytes(&call->text), buffer_length(&call->text));
    else
        invocation_add_text(invocation, text, strlen(text));
}

static void blocks_call_show(struct invocation *invocation, const struct blocks_call *call)
{
    const json_t *pictures;
    const json_t *entry;
    size_t i;

    json_array_foreach (call->pictures, i, pictures)
        run_pictures_show(invocation, pictures);
    if (!tool_is_structured(tool_of(invocation->entry), invocation->form))
        return;
    invocation->result.structured = blocks_call_structured(call);
    json_array_foreach (call->entries, i, entry)
        file_links_add(invocation, json_object_get(json_object_get(entry, "result"), "files"));
}

static void blocks_call_finish(struct invocation *invocation, struct blocks_call *call)
{
    blocks_call_tell(invocation, call);
    blocks_call_show(invocation, call);
    invocation->result.is_error = call->exit_code != 0;
    blocks_call_free(call);
    invocation_finish(invocation);
}

/* The blocks, one after the other */

static void blocks_call_on_done(struct invocation *invocation, void *data, struct run_facts *facts);

static enum outcome blocks_call_begin(struct invocation *invocation, struct blocks_call *call,
                                      struct error *err)
{
    const struct code_block *block = blocks_call_block(call);
    json_t *file = code_block_file(block);

    free(call->program);
    json_decref(call->files);
    call->program = code_block_program(block);
    call->files = file ? json_pack("[o]", file) : NULL;
    call->request.code = call->program;
    call->request.code_length = strlen(call->program);
    call->request.files = call->files;
    return python_call_start(invocation, invocation->data, &call->request, blocks_call_on_done,
                             err);
}

/* Begins the next one, or ends the call. */
static void blocks_call_go_on(struct invocation *invocation, struct blocks_call *call)
{
    struct error err = ERROR_INIT;
    enum outcome outcome;

    if (call->left < BLOCKS_LEAST_SECONDS) {
        blocks_call_note_failure(call, BLOCKS_TIMEOUT, "not run: no time was left");
        blocks_call_finish(invocation, call);
        return;
    }
    call->request.timeout = call->left;
    call->request.working_directory = call->directory;
    outcome = blocks_call_begin(invocation, call, &err);
    assert(outcome != OUTCOME_READY); /* nobody is asked any more */
    if (outcome != OUTCOME_FAILED)
        return;
    blocks_call_note_failure(call, BLOCKS_FAILURE, err.message);
    blocks_call_finish(invocation, call);
}

/* All blocks run in the environment of the first block, as it was then: another configuration may
 * be in force before the last block begins. */
static void blocks_call_hold(struct blocks_call *call, const struct run_setting *setting)
{
    if (call->environment)
        return;
    environment_hold(setting->environment);
    call->environment = setting->environment;
    call->request.environment = NULL;
    call->request.definition = NULL;
    call->request.chosen = call->environment;
    call->request.approved_tools = call->approved_tools = json_incref(setting->approved_tools);
}

static void blocks_call_on_done(struct invocation *invocation, void *data, struct run_facts *facts)
{
    struct blocks_call *call = data;
    const struct code_cleaning code =
        code_block_python(blocks_call_block(call), facts->setting->code);
    const struct run_source source = {&code, RUN_OUTPUT_CHARACTERS / call->blocks.count};
    const double total = call->tried > 0 ? call->left : facts->setting->timeout;
    struct run_answer answer;

    blocks_call_hold(call, facts->setting);
    run_answer_init(&answer, invocation, facts, &source);
    blocks_call_note(call, facts, &answer);
    run_account_end(invocation, answer.structured);
    call->left = total - facts->report->execution.run_seconds;
    if (!call->directory && facts->report->working_directory)
        call->directory = memory_copy_string(facts->report->working_directory);
    run_answer_deinit(&answer);
    if (call->exit_code == 0 && call->tried < call->blocks.count)
        blocks_call_go_on(invocation, call);
    else
        blocks_call_finish(invocation, call);
}

/* All blocks run in one environment: the environment of the call. A block of Python cannot ask for
 * another. */
static void blocks_call_choose(const struct invocation *invocation, struct python_request *request)
{
    const struct python_host *host = invocation->data;

    if (!request->environment && !request->definition)
        request->environment =
            python_offer_for(&host->settings, invocation->caller->principal).default_environment;
}

static enum outcome run_code_blocks_start(struct invocation *invocation, struct error *err)
{
    const struct python_host *host = invocation->data;
    struct blocks_call *call;
    enum outcome outcome = OUTCOME_FAILED;

    if (!host->settings.code_blocks) { /* no longer, since the call was asked about */
        error_set(err, ERROR_INVALID_ARGUMENTS, "this server runs no code blocks");
        return OUTCOME_FAILED;
    }
    call = blocks_call_new(invocation->arguments);
    if (code_blocks_read(&call->blocks, invocation->arguments, host->settings.code_blocks, err) ==
        0) {
        call->shown = code_blocks_text(&call->blocks);
        call->request.shown = call->shown;
        blocks_call_choose(invocation, &call->request);
        outcome = blocks_call_begin(invocation, call, err);
    }
    if (outcome != OUTCOME_PENDING)
        blocks_call_free(call);
    return outcome;
}

static void run_code_blocks_cancel(struct invocation *invocation)
{
    struct blocks_call *call = python_call_data(invocation);

    python_call_cancel(invocation);
    blocks_call_free(call);
}

static bool run_code_blocks_view(const struct tool *tool, const struct principal *principal,
                                 struct tool_view *ret)
{
    const struct python_host *host = tool->data;
    struct python_offer offer;

    if (!python_offer_is_personal(principal))
        return false;
    if (!ret)
        return true;
    offer = python_offer_for(&host->settings, principal);
    ret->description = run_code_blocks_description(host->settings.code_blocks);
    ret->input_schema = run_code_blocks_input_schema(&offer);
    return true;
}

int run_code_blocks_offer(struct registry *registry, struct python_host *host, struct error *err)
{
    const struct python_offer offer = python_offer_for(&host->settings, NULL);
    const json_t *rules = host->settings.code_blocks;
    AUTO_FREE char *description = rules ? run_code_blocks_description(rules) : NULL;
    struct tool tool = {
        .name = RUN_CODE_BLOCKS_NAME,
        .title = RUN_CODE_BLOCKS_TITLE,
        .description = description,
        .form = host->settings.results,
        .task_support = TOOL_TASK_OPTIONAL,
        .task_after = BLOCKS_TASK_SECONDS,
        .data = host,
        .view = run_code_blocks_view,
        .start = run_code_blocks_start,
        .cancel = run_code_blocks_cancel,
    };

    if (!rules) {
        registry_remove(registry, REGISTRY_TOOLS, RUN_CODE_BLOCKS_NAME);
        return 0;
    }
    tool.input_schema = run_code_blocks_input_schema(&offer);
    tool.output_schema = run_code_blocks_output_schema();
    tool.annotations = run_python_annotations();
    return tool_offer(registry, &tool, err);
}
