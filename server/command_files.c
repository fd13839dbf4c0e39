#include "server/command_files.h"

#include "base/cleanup.h"
#include "base/executable.h"
#include "base/memory.h"
#include "base/text.h"
#include "base/untrusted.h"
#include "environments/interpreter/search_path.h"

#include <fcntl.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { FIRST_LINE_BYTES = 256 }; /* as the kernel reads */

/* PATH is taken; it may be NULL. */
static void command_files_add(struct command_files *files, enum origin_kind kind, size_t word,
                              char *path)
{
    if (!path)
        return;
    files->all = memory_resize(files->all, (files->count + 1) * sizeof *files->all);
    files->all[files->count++] = (struct command_file){kind, word, path};
}

/* Programs */

/* A program that is a script begins with "#!" and the path of its interpreter. */
static void command_files_add_first_line(struct command_files *files, const char *program,
                                         size_t word)
{
    struct error ignored = ERROR_INIT;
    AUTO_FREE char *real = realpath(program, NULL);
    AUTO_CLOSE int fd = real ? untrusted_open(AT_FDCWD, real, O_RDONLY, &ignored) : -1;
    char line[FIRST_LINE_BYTES];
    const ssize_t length = fd >= 0 ? read(fd, line, sizeof line - 1) : 0;
    char *path = line + strlen("#!");

    if (length <= 0)
        return;
    line[length] = '\0';
    if (!text_starts_with(line, "#!"))
        return;
    path += strspn(path, " \t");
    path[strcspn(path, " \t\r\n")] = '\0';
    if (*path == '/')
        command_files_add(files, ORIGIN_PROGRAM, word, memory_copy_string(path));
}

/* The program NAME, as a server of tools is started. */
static void command_files_add_program(struct command_files *files, const char *name, size_t word,
                                      const struct script_places *places)
{
    AUTO_FREE char *safe = search_path_without(NULL, places);
    char *program = executable_find(safe, name);
    enum origin_kind kind = ORIGIN_PROGRAM;

    if (!program) {
        kind = ORIGIN_SOUGHT;
        program = executable_find(search_path(), name);
    }
    if (program)
        command_files_add_first_line(files, program, word);
    command_files_add(files, kind, word, program);
}

static const char *command_files_name_of(const char *program)
{
    const char *slash = strrchr(program, '/');

    return slash ? slash + 1 : program;
}

/* Interpreters */

/* They execute their first operand, a file or a folder, unless an option has the code or names a
 * module. */
struct interpreter_words {
    const char *name;
    const char *coded;   /* letters of such options */
    const char *valued;  /* letters of options with a value */
    const char *inlined; /* a first word behind which there is no file, either; or NULL */
    const char *ending;  /* of its scripts: other operands are programs; or NULL */
};

static const struct interpreter_words *command_files_interpreter(const char *program)
{
    static const struct interpreter_words all[] = {
        {"bash", "c", "oO", NULL, NULL},      {"bun", "ep", "r", "x", NULL},
        {"dash", "c", "o", NULL, NULL},       {"deno", "", "", "eval", NULL},
        {"node", "ep", "rC", NULL, NULL},     {"perl", "eE", "IMm", NULL, NULL},
        {"ruby", "e", "CEFIKrW", NULL, NULL}, {"sh", "c", "o", NULL, NULL},
        {"uv", "", "", NULL, ".py"},
    };
    static const struct interpreter_words python = {"python", "cm", "WX", NULL, NULL};
    const char *name = command_files_name_of(program);

    for (size_t i = 0; i < ARRAY_SIZE(all); i++)
        if (strcmp(name, all[i].name) == 0)
            return &all[i];
    return text_starts_with(name, python.name) ? &python : NULL;
}

static enum origin_kind command_files_kind_of(const char *path)
{
    AUTO_FREE char *real = realpath(path, NULL);
    struct stat status;

    return real && lstat(real, &status) == 0 && S_ISDIR(status.st_mode) ? ORIGIN_FOLDER
                                                                        : ORIGIN_PROGRAM;
}

/* Letters may stand together, as in `-Ic`. */
static bool interpreter_has_code(const struct interpreter_words *interpreter, const char *word)
{
    if (*word != '-')
        return false;
    for (const char *letter = word + 1; *letter && *letter != '-'; letter++) {
        if (strchr(interpreter->coded, *letter))
            return true;
        if (strchr(interpreter->valued, *letter))
            return false;
    }
    return false;
}

static bool interpreter_takes(const struct interpreter_words *interpreter, const char *word)
{
    const size_t length = strlen(word);
    const size_t ending = interpreter->ending ? strlen(interpreter->ending) : 0;

    return *word == '/' && length >= ending &&
           (ending == 0 || strcmp(word + length - ending, interpreter->ending) == 0);
}

/* Packages come from elsewhere. */
static bool interpreter_takes_none(const struct interpreter_words *interpreter, const char *word)
{
    return interpreter_has_code(interpreter, word) || text_starts_with(word, "npm:") ||
           text_starts_with(word, "jsr:");
}

static void command_files_add_script(struct command_files *files,
                                     const struct interpreter_words *interpreter,
                                     char *const *words, size_t i)
{
    if (words[i] && interpreter->inlined && strcmp(words[i], interpreter->inlined) == 0)
        return;
    while (words[i] && !interpreter_takes(interpreter, words[i])) {
        if (interpreter_takes_none(interpreter, words[i]))
            return;
        i++;
    }
    if (words[i])
        command_files_add(files, command_files_kind_of(words[i]), i, memory_copy_string(words[i]));
}

/* Wrappers */

/* It executes the program that is named behind its options and operands. */
struct wrapper_words {
    const char *name;
    const char *valued; /* letters of options whose value is the next word */
    size_t operands;
};

static const struct wrapper_words *command_files_wrapper(const char *program)
{
    static const struct wrapper_words all[] = {
        {"env", "uC", 0},  {"nice", "n", 0},     {"nohup", "", 0},
        {"setsid", "", 0}, {"timeout", "ks", 1},
    };

    for (size_t i = 0; i < ARRAY_SIZE(all); i++)
        if (strcmp(command_files_name_of(program), all[i].name) == 0)
            return &all[i];
    return NULL;
}

/* True if the value of the option WORD is the next word. */
static bool wrapper_has_value(const struct wrapper_words *wrapper, const char *word)
{
    static const char *const names[] = {"--adjustment", "--chdir", "--kill-after", "--signal",
                                        "--unset"};

    for (size_t i = 0; i < ARRAY_SIZE(names); i++)
        if (strcmp(word, names[i]) == 0)
            return true;
    return word[1] && !word[2] && strchr(wrapper->valued, word[1]);
}

/* The number of the word that names the program which words[i] executes; I: there is none. */
static size_t command_files_skip_wrapper(char *const *words, size_t i)
{
    const struct wrapper_words *wrapper = command_files_wrapper(words[i]);
    size_t next = i + 1;

    if (!wrapper)
        return i;
    while (words[next] && *words[next] == '-')
        next += wrapper_has_value(wrapper, words[next]) && words[next + 1] ? 2 : 1;
    while (words[next] && wrapper->operands == 0 && strchr(words[next], '='))
        next++;
    for (size_t left = wrapper->operands; words[next] && left > 0; left--)
        next++;
    return words[next] ? next : i;
}

/* A command */

void command_files_find(struct command_files *ret, char *const *words,
                        const struct script_places *places)
{
    const struct interpreter_words *interpreter;
    size_t i = 0;

    *ret = (struct command_files){0};
    for (size_t next = command_files_skip_wrapper(words, i); next > i;
         next = command_files_skip_wrapper(words, i)) {
        command_files_add_program(ret, words[i], i, places);
        i = next;
    }
    command_files_add_program(ret, words[i], i, places);
    interpreter = command_files_interpreter(words[i]);
    if (interpreter)
        command_files_add_script(ret, interpreter, words, i + 1);
}

void command_files_deinit(struct command_files *files)
{
    for (size_t i = 0; i < files->count; i++)
        free(files->all[i].path);
    free(files->all);
    *files = (struct command_files){0};
}
