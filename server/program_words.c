#include "server/program_words.h"

#include "base/cleanup.h"
#include "base/memory.h"
#include "base/text.h"

#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Options by which programs that start others are told where those are. */
static const struct {
    const char *program;
    const char *option;
} code_options[] = {
    {"uv", "--directory"}, {"uv", "--project"},       {"uv", "--with"},  {"uv", "--with-editable"},
    {"uv", "--from"},      {"uvx", "--from"},         {"uvx", "--with"}, {"uvx", "--with-editable"},
    {"pipx", "--spec"},    {"npx", "--prefix"},       {"npx", "-C"},     {"npm", "--prefix"},
    {"npm", "-C"},         {"pnpm", "--dir"},         {"pnpm", "-C"},    {"yarn", "--cwd"},
    {"bun", "--cwd"},      {"poetry", "--directory"}, {"poetry", "-C"},  {"make", "-C"},
};

static const char *program_words_name(const char *program)
{
    const char *slash = strrchr(program, '/');

    return slash ? slash + 1 : program;
}

static bool program_words_is_option(const char *program, const char *option, size_t length)
{
    const char *name = program_words_name(program);

    for (size_t i = 0; i < ARRAY_SIZE(code_options); i++)
        if (strcmp(code_options[i].program, name) == 0 &&
            strlen(code_options[i].option) == length &&
            strncmp(code_options[i].option, option, length) == 0)
            return true;
    return false;
}

/* Interpreters do not ask for a right to execute. */
static bool program_words_is_script(const char *path)
{
    static const char *const endings[] = {".py", ".pyz", ".js", ".mjs", ".cjs", ".ts", ".mts",
                                          ".sh", ".rb",  ".pl", ".php", ".jar", ".exe"};
    const char *ending = strrchr(program_words_name(path), '.');

    for (size_t i = 0; ending && i < ARRAY_SIZE(endings); i++)
        if (strcmp(ending, endings[i]) == 0)
            return true;
    return false;
}

static bool program_words_is_program(const char *path)
{
    struct stat status;

    return lstat(path, &status) == 0 && !S_ISDIR(status.st_mode) && access(path, X_OK) == 0;
}

char *program_words_find_code(const char *const *words, size_t i, const char *folder)
{
    const char *equals = *words[i] == '-' ? strchr(words[i], '=') : NULL;
    const char *value = equals ? equals + 1 : words[i];
    const bool is_named =
        equals ? program_words_is_option(words[0], words[i], (size_t)(equals - words[i]))
               : i > 1 && program_words_is_option(words[0], words[i - 1], strlen(words[i - 1]));
    AUTO_FREE char *path =
        *value == '/' ? memory_copy_string(value) : memory_format("%s/%s", folder, value);

    if (!*value || !(is_named || program_words_is_script(path) || program_words_is_program(path)))
        return NULL;
    return STEAL_PTR(path);
}

bool program_words_is_code_variable(const char *name)
{
    static const char *const names[] = {"PATH",      "PYTHONPATH", "PYTHONHOME",  "PYTHONSTARTUP",
                                        "NODE_PATH", "PERL5LIB",   "RUBYLIB",     "CLASSPATH",
                                        "BASH_ENV",  "ENV",        "VIRTUAL_ENV", "UV_PROJECT",
                                        "UV_PYTHON"};

    for (size_t i = 0; i < ARRAY_SIZE(names); i++)
        if (strcmp(names[i], name) == 0)
            return true;
    return false;
}
