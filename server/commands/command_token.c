/* `pyexecd token NAME`: a random token, and the line for the token file, which --add puts there.
 * The token itself is printed once and kept nowhere. */
#include "base/cleanup.h"
#include "base/digest.h"
#include "base/json.h"
#include "base/memory.h"
#include "base/random.h"
#include "server/commands/command.h"
#include "server/commands/options.h"
#include "server/token_file.h"

#include <stdio.h>
#include <string.h>
#include <sysexits.h>

enum { TOKEN_DIGITS = 64 }; /* 256 bits */

static void digest_of(const char *token, char ret_text[DIGEST_TEXT_BYTES])
{
    struct digest digest;

    digest_init(&digest);
    digest_add(&digest, token, strlen(token));
    digest_finish(&digest, ret_text);
}

/* The name has TOKENS. */
static int command_token_print_added(const char *name, const char *token, const char *file,
                                     int tokens)
{
    printf("The token of %s, shown only once:\n\n"
           "    %s\n\n"
           "Its line is in %s. A running server reads that again on SIGHUP.\n",
           name, token, file);
    if (tokens > 1)
        printf("%s has %d tokens there, and all of them are valid. When this one is in use, remove "
               "the older line; limits behind its digest belong into the line that stays.\n",
               name, tokens);
    return command_end_output();
}

static int command_token_print(const char *name, const char *token, const char *digest)
{
    printf("The token, shown only once:\n\n"
           "    %s\n\n"
           "The line for the server's token_file:\n\n"
           "    %s sha256:%s\n",
           token, name, digest);
    return command_end_output();
}

static int command_token_print_json(const char *name, const char *token, const char *digest)
{
    AUTO_JSON json_t *value = json_object();

    json_object_set_new(value, "name", json_string(name));
    json_object_set_new(value, "token", json_string(token));
    json_object_set_new(value, "line", json_sprintf("%s sha256:%s", name, digest));
    return command_print_json(value);
}

static int command_token_tell(const struct options *options, const char *token, const char *digest,
                              int tokens)
{
    if (options->json)
        return command_token_print_json(options->principal, token, digest);
    if (options->token_file)
        return command_token_print_added(options->principal, token, options->token_file, tokens);
    return command_token_print(options->principal, token, digest);
}

/* Returns how many tokens the name has in the file. */
static int command_token_add(const struct options *options, const char *digest, struct error *err)
{
    AUTO_FREE char *line = memory_format("%s sha256:%s", options->principal, digest);

    return options->token_file ? token_file_add(options->token_file, line, err) : 0;
}

int command_token(const struct options *options)
{
    AUTO_FREE char *token = random_digits(TOKEN_DIGITS);
    char digest[DIGEST_TEXT_BYTES];
    struct error err = ERROR_INIT;
    int tokens;
    int status;

    if (!token_file_is_name(options->principal)) {
        error_set(&err, ERROR_USAGE, "token: " TOKEN_FILE_NAME_RULE);
        return command_fail(&err);
    }
    digest_of(token, digest);
    tokens = command_token_add(options, digest, &err);
    status = tokens < 0 ? command_fail(&err) : command_token_tell(options, token, digest, tokens);
    explicit_bzero(token, TOKEN_DIGITS);
    return status;
}
