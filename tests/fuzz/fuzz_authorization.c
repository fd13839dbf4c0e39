/* The value of an `Authorization` field: nothing lets in but the scheme, spaces and the token. */
#include "base/cleanup.h"
#include "base/log.h"
#include "base/memory.h"
#include "server/transport/identity/authority.h"

#include <assert.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#include <strings.h>

#define TOKEN "secret"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static bool is_right(const char *text)
{
    size_t spaces = strlen(text) > 6 ? strspn(text + 6, " \t") : 0;

    return strncasecmp(text, "Bearer", 6) == 0 && spaces > 0 &&
           strcmp(text + 6 + spaces, TOKEN) == 0;
}

static struct authority *make_authority(void)
{
    const struct credential credential = {"alice", token_of(TOKEN, strlen(TOKEN))};

    log_open(LOG_LEVEL_ERROR);
    return authority_new(&(struct authority_settings){
        .loop = ev_default_loop(0),
        .credentials = &credential,
        .credential_count = 1,
    });
}

static void check_refusal(const struct authority_check *check)
{
    assert(check->status == 400 || check->status == 401);
    assert(strncmp(check->challenge, "Bearer realm=\"mcp\"", 18) == 0);
    assert(!*check->principal);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static struct authority *authority;
    static uint64_t address; /* another one each time: nobody has to wait */
    AUTO_FREE char *text = memory_new(size + 1, 1);
    struct authority_check check = {0};

    memcpy(text, data, size);
    if (!authority)
        authority = make_authority();
    check.authority = authority;
    check.peer = (struct peer){.family = AF_INET, .number = address++};
    check.authorization = text;
    assert(authority_check(&check) == OUTCOME_READY);
    assert((check.status == 0) == is_right(text));
    if (check.status)
        check_refusal(&check);
    authority_check_deinit(&check);
    return 0;
}
