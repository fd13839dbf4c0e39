#include "server/tools/python/run_account.h"

#include "base/digest.h"
#include "base/log.h"
#include "base/memory.h"
#include "server/tools/account.h"
#include "server/tools/hints/run_facts.h"
#include "server/tools/python/python_request.h"

#include <string.h>

static void run_account_note_code(struct invocation *invocation,
                                  const struct python_request *request)
{
    const char *code = request->shown ? request->shown : request->code;
    const size_t length = request->shown ? strlen(request->shown) : request->code_length;
    struct digest digest;
    char text[DIGEST_TEXT_BYTES];

    digest_init(&digest);
    digest_add(&digest, code, length);
    digest_finish(&digest, text);
    account_note(invocation, "code_sha256", json_string(text));
    account_note(invocation, "code_bytes", json_integer((json_int_t)length));
}

void run_account_begin(struct invocation *invocation, const struct python_request *request,
                       const struct run_setting *setting)
{
    const struct environment_settings *settings = &setting->environment->settings;

    if (!log_wants(LOG_LEVEL_INFO))
        return;
    account_note(invocation, "environment", json_string(setting->environment->name));
    run_account_note_code(invocation, request);
    if (request->files)
        account_note(invocation, "files",
                     json_integer((json_int_t)json_array_size(request->files)));
    account_note(invocation, "timeout", json_real(setting->timeout));
    account_note(invocation, "memory", json_integer((json_int_t)settings->limits.memory));
    account_note(invocation, "processes", json_integer(settings->limits.processes));
    account_note(invocation, "disk", json_integer((json_int_t)settings->disk));
}

void run_account_end(struct invocation *invocation, const json_t *structured)
{
    static const char *const keys[] = {"returncode",    "signal",       "timed_out",
                                       "out_of_memory", "stdout_bytes", "stderr_bytes"};

    for (size_t i = 0; log_wants(LOG_LEVEL_INFO) && i < ARRAY_SIZE(keys); i++) {
        json_t *value = json_object_get(structured, keys[i]);

        if (!json_is_null(value) && !json_is_false(value))
            account_note(invocation, keys[i], json_incref(value));
    }
}
