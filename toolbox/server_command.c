#include "toolbox/server_command.h"

#include "base/cleanup.h"
#include "base/memory.h"
#include "base/text.h"
#include "toolbox/secrets.h"

#include <stdbool.h>
#include <string.h>

static bool server_command_is_relative(const char *word)
{
    return strcmp(word, ".") == 0 || strcmp(word, "..") == 0 || text_starts_with(word, "./") ||
           text_starts_with(word, "../");
}

/* PATH, a relative one, from FOLDER on. Owned by the caller. */
static char *server_command_join(const char *folder, const char *path)
{
    while (text_starts_with(path, "./"))
        path += 2 + strspn(path + 2, "/");
    if (!*path || strcmp(path, ".") == 0)
        return memory_copy_string(folder);
    return memory_format("%s%s%s", folder, folder[1] ? "/" : "", path);
}

/* WORD from FOLDER on, if it is a relative path or has one behind "=". Owned by the caller. */
static char *server_command_settle(const char *word, bool is_program, const char *folder)
{
    const char *equals = *word == '-' ? strchr(word, '=') : NULL;
    AUTO_FREE char *path = NULL;

    if (server_command_is_relative(word) || (is_program && *word != '/' && strchr(word, '/')))
        return server_command_join(folder, word);
    if (!equals || !server_command_is_relative(equals + 1))
        return memory_copy_string(word);
    path = server_command_join(folder, equals + 1);
    return memory_format("%.*s%s", (int)(equals + 1 - word), word, path);
}

char **server_command_read(const json_t *command, const char *folder, struct secrets *secrets,
                           struct error *err)
{
    char **words = memory_new(json_array_size(command) + 1, sizeof *words);
    const json_t *word;
    size_t i;

    json_array_foreach (command, i, word) {
        AUTO_FREE char *text = secrets_expand(secrets, json_string_value(word), err);

        if (!text) {
            memory_free_strings(words);
            return NULL;
        }
        words[i] = server_command_settle(text, i == 0, folder);
    }
    return words;
}
