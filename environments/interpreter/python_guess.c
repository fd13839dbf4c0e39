#include "environments/interpreter/python_guess.h"

#include "base/cleanup.h"
#include "base/memory.h"
#include "base/untrusted.h"
#include "environments/interpreter/python_needs.h"
#include "environments/interpreter/search_path.h"

#include <fcntl.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

enum { GUESS_FILE_BYTES = 64 * 1024 };

#define WORD_ENDS  " \t\r\n\"'`=,;()[]{}<>|&"
#define URL_SCHEME "file://"

/* Programs there use libraries of others there. */
static const char *const collections[] = {"/nix/store", "/gnu/store", "/home/linuxbrew/.linuxbrew"};

/* Version managers: what they are called, and where they keep everything. */
static const char *const managers[] = {"asdf", "mise", "pyenv"};
static const char *const manager_roots[] = {"PYENV_ROOT", "ASDF_DIR", "ASDF_DATA_DIR",
                                            "MISE_DATA_DIR", "MISE_CONFIG_DIR"};
static const char *const manager_homes[] = {".pyenv", ".asdf", ".local/share/mise", ".config/mise"};
static const char *const manager_settings[] = {".asdfrc", ".tool-versions", ".mise.toml",
                                               ".config/mise.toml"};

struct guess {
    char **paths; /* owned, as are the strings */
    size_t count;
};

static void python_guess_add(struct guess *guess, char *path /* taken, or NULL */)
{
    if (!path || guess->count == PYTHON_DIRECTORIES_MOST) {
        free(path);
        return;
    }
    guess->paths[guess->count++] = path;
}

static struct guess python_guess_new(void)
{
    return (struct guess){memory_new(PYTHON_DIRECTORIES_MOST + 1, sizeof(char *)), 0};
}

/* The directory around PATH. Owned by the caller. */
static char *guess_around(const char *path)
{
    const char *slash = strrchr(path, '/');

    return memory_format("%.*s", slash && slash > path ? (int)(slash - path) : 1, path);
}

/* Adds the prefix of a Python in BIN, a directory, and its library. If the prefix is a home it will
 * not be shown, but the library will. */
static void python_guess_add_prefix(struct guess *guess, const char *bin)
{
    static const char *const libraries[] = {"lib", "lib64"};
    char *prefix = guess_around(bin);

    for (size_t i = 0; i < ARRAY_SIZE(libraries); i++)
        python_guess_add(guess, memory_format("%s/%s", prefix, libraries[i]));
    python_guess_add(guess, prefix);
}

/* The text of the file at PATH, behind links or not; NULL if it is none. Owned by the caller. */
static char *python_guess_read(const char *path)
{
    AUTO_FREE char *real = realpath(path, NULL);
    struct error ignored = ERROR_INIT;
    size_t length;

    return real ? untrusted_read(AT_FDCWD, real, GUESS_FILE_BYTES, &length, &ignored) : NULL;
}

/* If PROGRAM is in a virtual environment, adds the prefix of the Python that this was made from. */
static void python_guess_add_home(struct guess *guess, const char *program)
{
    AUTO_FREE char *bin = guess_around(program);
    AUTO_FREE char *venv = guess_around(bin);
    AUTO_FREE char *configuration = memory_format("%s/pyvenv.cfg", venv);
    AUTO_FREE char *text = python_guess_read(configuration);
    const char *home = text ? strstr(text, "home = /") : NULL;
    AUTO_FREE char *path = NULL;

    if (!home)
        return;
    home += strlen("home = ");
    path = memory_format("%.*s", (int)strcspn(home, "\r\n"), home);
    python_guess_add_prefix(guess, path);
}

/* The text of PROGRAM if it is a script, else NULL. Owned by the caller. */
static char *python_guess_read_script(const char *program)
{
    AUTO_FREE char *text = python_guess_read(program);

    return text && strncmp(text, "#!", 2) == 0 ? STEAL_PTR(text) : NULL;
}

/* True for a script, TEXT, or a program of a version manager under the name of a Python. */
static bool python_guess_is_wrapper(const char *program, const char *text)
{
    AUTO_FREE char *directory = guess_around(program);

    return text || strcmp(strrchr(directory, '/') + 1, "shims") == 0;
}

static char *guess_in_home(const char *name)
{
    const char *home = getenv("HOME");

    return home && *home == '/' ? memory_format("%s/%s", home, name) : NULL;
}

static void python_guess_add_managers(struct guess *guess)
{
    for (size_t i = 0; i < ARRAY_SIZE(manager_homes); i++)
        python_guess_add(guess, guess_in_home(manager_homes[i]));
    for (size_t i = 0; i < ARRAY_SIZE(manager_roots); i++) {
        const char *root = getenv(manager_roots[i]);

        if (root && *root == '/')
            python_guess_add(guess, memory_copy_string(root));
    }
}

/* The path in the LENGTH bytes at WORD, or NULL. Owned by the caller. */
static char *python_guess_named_in(const char *word, size_t length)
{
    const size_t scheme = strlen(URL_SCHEME);

    if (length > scheme && strncmp(word, URL_SCHEME, scheme) == 0) {
        word += scheme;
        length -= scheme;
    }
    return length > 1 && word[0] == '/' && word[1] != '/'
               ? memory_format("%.*s", (int)strcspn(word, "#" WORD_ENDS), word)
               : NULL;
}

char **python_guess_named(const char *text)
{
    char **paths = memory_new(PYTHON_GUESS_NAMED_MOST + 1, sizeof *paths);
    size_t count = 0;

    while (*text && count < PYTHON_GUESS_NAMED_MOST) {
        const size_t length = strcspn(text, WORD_ENDS);
        char *path = python_guess_named_in(text, length);

        if (path)
            paths[count++] = path;
        text += length;
        text += strspn(text, WORD_ENDS);
    }
    return paths;
}

/* The programs that a script names by their paths; ADD gets each of them. */
static void python_guess_add_named(struct guess *guess, const char *text,
                                   void (*add)(struct guess *guess, const char *program))
{
    char **named = python_guess_named(text);

    for (char **path = named; *path; path++)
        if (search_path_is_program(*path))
            add(guess, *path);
    memory_free_strings(named);
}

static void python_guess_add_places(struct guess *guess, const char *program)
{
    AUTO_FREE char *real = realpath(program, NULL);
    AUTO_FREE char *bin = guess_around(program);
    AUTO_FREE char *real_bin = guess_around(real ? real : program);

    python_guess_add_prefix(guess, bin);
    python_guess_add_prefix(guess, real_bin);
    python_guess_add_home(guess, program);
}

static void python_guess_add_file(struct guess *guess, const char *program)
{
    python_guess_add(guess, memory_copy_string(program));
}

char **python_guess_places(const char *program)
{
    AUTO_FREE char *text = python_guess_read_script(program);
    struct guess guess = python_guess_new();

    python_guess_add_places(&guess, program);
    for (size_t i = 0; i < ARRAY_SIZE(collections); i++)
        python_guess_add(&guess, memory_copy_string(collections[i]));
    if (python_guess_is_wrapper(program, text))
        python_guess_add_managers(&guess);
    if (text)
        python_guess_add_named(&guess, text, python_guess_add_places);
    return guess.paths;
}

char **python_guess_files(const char *program)
{
    AUTO_FREE char *text = python_guess_read_script(program);
    struct guess guess = python_guess_new();

    if (!python_guess_is_wrapper(program, text))
        return guess.paths;
    for (size_t i = 0; i < ARRAY_SIZE(managers); i++)
        python_guess_add(&guess, search_path_find(managers[i], 0));
    for (size_t i = 0; i < ARRAY_SIZE(manager_settings); i++)
        python_guess_add(&guess, guess_in_home(manager_settings[i]));
    if (text)
        python_guess_add_named(&guess, text, python_guess_add_file);
    return guess.paths;
}
