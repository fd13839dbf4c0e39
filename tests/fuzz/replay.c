/* Feeds a fuzz target every file of the folders named on the command line, so that the corpus is a
 * test without libFuzzer. A folder may be missing; that there is no file at all is a failure. */
#include <dirent.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Reads PATH whole; the caller frees it. Exits on failure. */
static uint8_t *read_file(const char *path, size_t *ret_size)
{
    FILE *file = fopen(path, "rb");
    uint8_t *data;
    long size;

    if (!file || fseek(file, 0, SEEK_END) || (size = ftell(file)) < 0 || fseek(file, 0, SEEK_SET)) {
        perror(path);
        exit(1);
    }
    /* Exactly as long as the input, so that a sanitizer sees a read beyond it. */
    data = malloc((size_t)size);
    if ((size > 0 && !data) || fread(data, 1, (size_t)size, file) != (size_t)size) {
        perror(path);
        exit(1);
    }
    fclose(file);
    *ret_size = (size_t)size;
    return data;
}

static unsigned replay_folder(const char *folder)
{
    DIR *entries = opendir(folder);
    struct dirent *entry;
    unsigned count = 0;

    if (!entries)
        return 0;
    while ((entry = readdir(entries))) {
        char path[4096];
        uint8_t *data;
        size_t size;

        if (entry->d_name[0] == '.')
            continue;
        snprintf(path, sizeof(path), "%s/%s", folder, entry->d_name);
        data = read_file(path, &size);
        (void)LLVMFuzzerTestOneInput(data, size);
        free(data);
        count++;
    }
    closedir(entries);
    return count;
}

int main(int argc, char **argv)
{
    unsigned count = 0;

    for (int i = 1; i < argc; i++)
        count += replay_folder(argv[i]);
    printf("%u inputs replayed\n", count);
    return count == 0;
}
