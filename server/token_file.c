#include "server/token_file.h"

#include "base/cleanup.h"
#include "base/fd.h"
#include "base/memory.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum { NAME_BYTES = 64 };

#define DIGEST_PREFIX "sha256:"

/* The reading of one file. */
struct reading {
    const char *path; /* borrowed */
    unsigned line;
    struct token_file file; /* the entries so far: owned */
    bool is_faulty;
    token_file_fault_fn fault;
    void *data;
};

static void token_file_fault(struct reading *reading, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

static void token_file_fault(struct reading *reading, const char *format, ...)
{
    AUTO_FREE char *what = NULL;
    AUTO_FREE char *message = NULL;
    va_list arguments;

    va_start(arguments, format);
    what = memory_format_list(format, arguments);
    va_end(arguments);
    message = memory_format("%s:%u: %s", reading->path, reading->line, what);
    reading->is_faulty = true;
    reading->fault(reading->data, message);
}

/* Entries */

static void deinit_entry(struct token_file_entry *entry)
{
    memory_free_strings(entry->environments);
    memory_free_strings(entry->tools);
    free(entry->name);
}

void token_file_deinit(struct token_file *file)
{
    for (size_t i = 0; i < file->count; i++)
        deinit_entry(&file->entries[i]);
    free(file->entries);
    *file = (struct token_file){0};
}

/* Takes ENTRY. */
static void add_entry(struct reading *reading, struct token_file_entry entry)
{
    struct token_file *file = &reading->file;

    file->entries = memory_resize(file->entries, (file->count + 1) * sizeof *file->entries);
    file->entries[file->count++] = entry;
}

static bool token_file_has_options(const struct token_file_entry *entry)
{
    return entry->calls_per_minute || entry->concurrent_runs || entry->environments || entry->tools;
}

/* Compares ENTRY with the entries before it. */
static void token_file_check_entry(struct reading *reading, const struct token_file_entry *entry)
{
    bool is_first = true;

    for (size_t i = 0; i < reading->file.count; i++) {
        const struct token_file_entry *other = &reading->file.entries[i];
        bool has_name = strcmp(other->name, entry->name) == 0;

        if (token_equals(&other->token, &entry->token))
            token_file_fault(reading, "the token of line %u again", other->line);
        if (has_name && is_first && token_file_has_options(entry))
            token_file_fault(reading, "what %s may do stands in its first line, %u", entry->name,
                             other->line);
        is_first = is_first && !has_name;
    }
}

/* Words */

bool token_file_is_name(const char *name)
{
    static const char allowed[] =
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_.-";
    size_t length = strlen(name);

    if (length == 0 || length > NAME_BYTES || name[strspn(name, allowed)] != '\0' || *name == '.')
        return false;
    return strncmp(name, "uid-", 4) != 0 && strncmp(name, "oauth-", 6) != 0 &&
           strcmp(name, "tcp") != 0 && strcmp(name, "http") != 0;
}

/* The next word of *REST, which moves behind it; NULL at the end. Words are ended by NUL. */
static char *next_word(char **rest)
{
    char *word = *rest + strspn(*rest, " \t\r");

    if (!*word)
        return NULL;
    *rest = word + strcspn(word, " \t\r");
    if (**rest)
        *(*rest)++ = '\0';
    return word;
}

static void token_file_read_number(struct reading *reading, const char *key, const char *text,
                                   unsigned most, unsigned *ret)
{
    unsigned long number = strtoul(text, NULL, 10);

    if (*ret)
        token_file_fault(reading, "%s is there twice", key);
    if (text[strspn(text, "0123456789")] != '\0' || number < 1 || number > most)
        token_file_fault(reading, "%s must be a number from 1 to %u", key, most);
    else
        *ret = (unsigned)number;
}

static void token_file_read_names(struct reading *reading, const char *key, char *text, char ***ret)
{
    size_t count = 0;

    if (*ret) {
        token_file_fault(reading, "%s is there twice", key);
        return;
    }
    *ret = memory_new(TOKEN_FILE_MOST_NAMES + 1, sizeof(char *));
    for (char *name = strsep(&text, ","); name; name = strsep(&text, ",")) {
        if (!*name)
            token_file_fault(reading, "%s must be names with commas between them", key);
        else if (count == TOKEN_FILE_MOST_NAMES)
            token_file_fault(reading, "%s has more than %d names", key, TOKEN_FILE_MOST_NAMES);
        else
            (*ret)[count++] = memory_copy_string(name);
    }
}

static void read_option(struct reading *reading, char *word, struct token_file_entry *entry)
{
    char *value = strchr(word, '=');

    if (value)
        *value++ = '\0';
    if (value && strcmp(word, "calls_per_minute") == 0)
        token_file_read_number(reading, word, value, TOKEN_FILE_MOST_CALLS,
                               &entry->calls_per_minute);
    else if (value && strcmp(word, "concurrent_runs") == 0)
        token_file_read_number(reading, word, value, TOKEN_FILE_MOST_RUNS, &entry->concurrent_runs);
    else if (value && strcmp(word, "environments") == 0)
        token_file_read_names(reading, word, value, &entry->environments);
    else if (value && strcmp(word, "tools") == 0)
        token_file_read_names(reading, word, value, &entry->tools);
    else
        token_file_fault(reading,
                         "behind the token there may be calls_per_minute=N, concurrent_runs=N, "
                         "environments=A,B and tools=A,B");
}

/* Lines */

/* A fault does not quote a malformed line: it may be a token. */
static void token_file_read_entry(struct reading *reading, const char *name, char *rest)
{
    struct token_file_entry entry = {.line = reading->line};
    const char *token = next_word(&rest);

    if (!token || strncmp(token, DIGEST_PREFIX, strlen(DIGEST_PREFIX)) != 0 ||
        !token_read_digest(token + strlen(DIGEST_PREFIX), &entry.token)) {
        token_file_fault(reading,
                         "must be: NAME sha256:DIGEST, the digest in 64 hexadecimal digits");
        return;
    }
    if (!token_file_is_name(name))
        token_file_fault(
            reading, "the name must be 1 to 64 letters, digits, dots, - and _, and not tcp, http, "
                     "uid-... or oauth-...");
    entry.name = memory_copy_string(name);
    for (char *word = next_word(&rest); word; word = next_word(&rest))
        read_option(reading, word, &entry);
    token_file_check_entry(reading, &entry);
    add_entry(reading, entry);
}

static void read_lines(struct reading *reading, char *text)
{
    for (char *line = strsep(&text, "\n"); line; line = strsep(&text, "\n")) {
        const char *name = next_word(&line);

        reading->line++;
        if (!name || *name == '#')
            continue;
        if (reading->file.count == TOKEN_FILE_MOST_ENTRIES) {
            token_file_fault(reading, "more than %d tokens", TOKEN_FILE_MOST_ENTRIES);
            return;
        }
        token_file_read_entry(reading, name, line);
    }
}

/* The whole file is one word. */
static void read_bare(struct reading *reading, const char *token, size_t length)
{
    reading->line = 1;
    if (length < TOKEN_LEAST_BYTES || length > TOKEN_MOST_BYTES)
        token_file_fault(reading, "the token has %zu bytes, it needs at least %d and at most %d",
                         length, TOKEN_LEAST_BYTES, TOKEN_MOST_BYTES);
    add_entry(reading, (struct token_file_entry){
                           .name = memory_copy_string(TOKEN_FILE_NAME_OF_BARE),
                           .token = token_of(token, length),
                           .line = 1,
                           .is_bare = true,
                       });
}

static size_t trim_end(char *text, size_t length)
{
    if (length > 0 && text[length - 1] == '\n')
        text[--length] = '\0';
    if (length > 0 && text[length - 1] == '\r')
        text[--length] = '\0';
    return length;
}

static void read_text(struct reading *reading, char *text, size_t length)
{
    size_t trimmed = trim_end(text, length);

    if (token_is_word(text, trimmed) && *text != '#') {
        read_bare(reading, text, trimmed);
        return;
    }
    if (strlen(text) < trimmed) {
        reading->line = 1;
        token_file_fault(reading, "there is a NUL in it");
        return;
    }
    read_lines(reading, text);
    if (reading->file.count == 0 && !reading->is_faulty)
        token_file_fault(reading, "there is no token in it");
}

int token_file_parse(const char *path, char *text, size_t length, struct token_file *ret,
                     token_file_fault_fn fault_fn, void *data)
{
    struct reading reading = {.path = path, .fault = fault_fn, .data = data};

    read_text(&reading, text, length);
    explicit_bzero(text, length);
    if (reading.is_faulty) {
        token_file_deinit(&reading.file);
        return -1;
    }
    *ret = reading.file;
    return 0;
}

/* The file */

/* Examines the open file: the file at the path could be exchanged in between. */
static int check_file(int fd, const char *path, struct error *err)
{
    struct stat status;

    if (fstat(fd, &status) < 0)
        return error_set_errno(err, errno, "cannot examine %s", path);
    if (!S_ISREG(status.st_mode))
        return error_set(err, ERROR_CONFIG, "%s is not a regular file", path);
    if (status.st_mode & S_IRWXO)
        return error_set(err, ERROR_CONFIG,
                         "others may read %s (mode %04o), which holds a secret; chmod o-rwx %s",
                         path, status.st_mode & 07777U, path);
    return 0;
}

static char *token_file_read_text(const char *path, size_t *ret_length, struct error *err)
{
    AUTO_CLOSE int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
    char *text;

    if (fd < 0) {
        error_set_errno(err, errno, "cannot open %s", path);
        return NULL;
    }
    if (check_file(fd, path, err) < 0)
        return NULL;
    text = fd_read_all(fd, TOKEN_FILE_MOST_BYTES, ret_length, err);
    if (!text)
        error_prefix(err, "%s", path);
    return text;
}

int token_file_read(const char *path, struct token_file *ret, token_file_fault_fn fault_fn,
                    void *data)
{
    struct error err = ERROR_INIT;
    size_t length = 0;
    AUTO_FREE char *text = token_file_read_text(path, &length, &err);

    if (!text) {
        fault_fn(data, err.message);
        return -1;
    }
    return token_file_parse(path, text, length, ret, fault_fn, data);
}

static void token_file_on_first_fault(void *data, const char *message)
{
    struct error *err = data;

    if (err->code == ERROR_NONE)
        error_set(err, ERROR_CONFIG, "%s", message);
}

/* How many tokens the name of the last entry has. */
static int token_file_count_last(const struct token_file *file)
{
    const char *last = file->entries[file->count - 1].name;
    int count = 0;

    for (size_t i = 0; i < file->count; i++)
        count += strcmp(file->entries[i].name, last) == 0;
    return count;
}

/* The line that is added to TEXT, with its newline. NULL with ERR when the two would not be read.
 * Owned by the caller. */
static char *token_file_try_line(const char *path, const char *text, size_t length,
                                 const char *line, int *ret_tokens, struct error *err)
{
    const char *separator = length > 0 && text[length - 1] != '\n' ? "\n" : "";
    AUTO_FREE char *added = memory_format("%s%s\n", separator, line);
    AUTO_FREE char *whole = memory_format("%s%s", text, added);
    struct token_file file = {0};

    if (token_file_parse(path, whole, strlen(whole), &file, token_file_on_first_fault, err) < 0)
        return NULL;
    *ret_tokens = token_file_count_last(&file);
    token_file_deinit(&file);
    return STEAL_PTR(added);
}

int token_file_add(const char *path, const char *line, struct error *err)
{
    const int flags = O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC | O_NOCTTY | O_NONBLOCK;
    AUTO_CLOSE int fd = open(path, flags, S_IRUSR | S_IWUSR);
    AUTO_FREE char *text = NULL;
    AUTO_FREE char *added = NULL;
    size_t length = 0;
    int tokens = 0;

    if (fd < 0)
        return error_set_errno(err, errno, "cannot open %s", path);
    if (check_file(fd, path, err) < 0)
        return -1;
    text = fd_read_all(fd, TOKEN_FILE_MOST_BYTES, &length, err);
    if (!text)
        return error_prefix(err, "%s", path);
    added = token_file_try_line(path, text, length, line, &tokens, err);
    explicit_bzero(text, length);
    if (!added || fd_write_all(fd, added, strlen(added), err) < 0)
        return -1;
    return tokens;
}
