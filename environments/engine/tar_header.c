#include "environments/engine/tar_header.h"

#include "base/cleanup.h"
#include "base/memory.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

enum {
    NAME_BYTES = 100,
    PREFIX_BYTES = 155,
    PERMISSIONS = 07777,
    PAX_TYPE = 'x',
};

#define LARGEST_SIZE 077777777777ULL /* eleven octal digits */
#define PAX_NAME     "././@PaxHeader"

struct ustar {
    char name[NAME_BYTES];
    char mode[8];
    char uid[8];
    char gid[8];
    char size[12];
    char modified[12];
    char checksum[8];
    char type;
    char link[NAME_BYTES];
    char magic[6];
    char version[2];
    char user[32];
    char group[32];
    char device[16];
    char prefix[PREFIX_BYTES];
    char padding[12];
};

_Static_assert(sizeof(struct ustar) == TAR_BLOCK_BYTES, "a header is one block");

size_t tar_padding(uint64_t size)
{
    return (size_t)(-size % TAR_BLOCK_BYTES);
}

/* TEXT into a field that needs no NUL when it is full. */
static void put_text(char *field, size_t size, const char *text, size_t length)
{
    memcpy(field, text, length < size ? length : size);
}

/* VALUE in octal with zeros before it and a NUL behind it. */
static void put_number(char *field, size_t size, uint64_t value)
{
    field[size - 1] = '\0';
    for (size_t i = size - 1; i-- > 0; value /= 8)
        field[i] = (char)('0' + value % 8);
}

static void put_checksum(struct ustar *header)
{
    const unsigned char *bytes = (const unsigned char *)header;
    unsigned sum = 0;

    memset(header->checksum, ' ', sizeof header->checksum);
    for (size_t i = 0; i < sizeof *header; i++)
        sum += bytes[i];
    put_number(header->checksum, sizeof header->checksum - 1, sum);
}

/* Where NAME is cut into prefix and name, neither of them empty; NULL when it does not fit. */
static const char *tar_header_find_cut(const char *name, size_t length)
{
    const char *cut = NULL;

    for (const char *slash = strchr(name, '/');
         slash && slash - name <= PREFIX_BYTES && slash[1] != '\0'; slash = strchr(slash + 1, '/'))
        cut = slash;
    return cut && cut > name && length - (size_t)(cut + 1 - name) <= NAME_BYTES ? cut : NULL;
}

/* Docker's engine rewrites headers, and fails for a ustar header with other letters. */
static bool is_ascii(const char *text)
{
    for (; *text; text++)
        if ((unsigned char)*text > 0x7E)
            return false;
    return true;
}

/* False when the header cannot hold NAME: a pax header is needed. */
static bool put_name(struct ustar *header, const char *name)
{
    size_t length = strlen(name);
    const char *cut = length > NAME_BYTES ? tar_header_find_cut(name, length) : NULL;

    if (cut) {
        put_text(header->prefix, sizeof header->prefix, name, (size_t)(cut - name));
        put_text(header->name, sizeof header->name, cut + 1, strlen(cut + 1));
        return is_ascii(name);
    }
    put_text(header->name, sizeof header->name, name, length);
    return length <= NAME_BYTES && is_ascii(name);
}

static void put_rest(struct ustar *header, char type, unsigned mode, uint64_t size)
{
    header->type = type;
    put_number(header->mode, sizeof header->mode, mode & PERMISSIONS);
    put_number(header->uid, sizeof header->uid, 0);
    put_number(header->gid, sizeof header->gid, 0);
    put_number(header->size, sizeof header->size, size > LARGEST_SIZE ? 0 : size);
    memcpy(header->magic, "ustar", sizeof header->magic);
    memcpy(header->version, "00", sizeof header->version);
}

/* "LENGTH KEY=VALUE\n", where LENGTH counts itself. */
static void append_record(struct buffer *records, const char *key, const char *value)
{
    size_t bare = strlen(key) + strlen(value) + sizeof " =\n" - 1;
    size_t length = bare + 1;
    struct error ignored = ERROR_INIT; /* names are bounded by the kernel */

    while (length != bare + (size_t)snprintf(NULL, 0, "%zu", length))
        length++;
    (void)buffer_append_format(records, &ignored, "%zu %s=%s\n", length, key, value);
}

static int append_padded(struct buffer *buffer, const struct buffer *data, struct error *err)
{
    static const char zeros[TAR_BLOCK_BYTES];

    if (buffer_append(buffer, buffer_bytes(data), buffer_length(data), err) < 0)
        return -1;
    return buffer_append(buffer, zeros, tar_padding(buffer_length(data)), err);
}

static int append_pax(struct buffer *buffer, const struct buffer *records, struct error *err)
{
    struct ustar header = {0};

    (void)put_name(&header, PAX_NAME);
    put_rest(&header, PAX_TYPE, 0644, buffer_length(records));
    put_number(header.modified, sizeof header.modified, 0);
    put_checksum(&header);
    if (buffer_append(buffer, (const char *)&header, sizeof header, err) < 0)
        return -1;
    return append_padded(buffer, records, err);
}

/* Puts name, link and size of ENTRY into HEADER, or into RECORDS if they do not fit. */
static void collect_records(struct buffer *records, struct ustar *header,
                            const struct tar_entry *entry, const char *name)
{
    char number[32];

    if (!put_name(header, name))
        append_record(records, "path", name);
    if (entry->link) {
        put_text(header->link, sizeof header->link, entry->link, strlen(entry->link));
        if (strlen(entry->link) > NAME_BYTES || !is_ascii(entry->link))
            append_record(records, "linkpath", entry->link);
    }
    if (entry->size > LARGEST_SIZE) {
        snprintf(number, sizeof number, "%llu", (unsigned long long)entry->size);
        append_record(records, "size", number);
    }
}

int tar_header_append(struct buffer *buffer, const struct tar_entry *entry, struct error *err)
{
    AUTO_FREE char *name =
        memory_format("%s%s", entry->name, entry->type == TAR_DIRECTORY ? "/" : "");
    struct ustar header = {0};
    struct buffer records;
    int ret = 0;

    buffer_init(&records, TAR_HEADER_LIMIT_BYTES);
    collect_records(&records, &header, entry, name);
    if (buffer_length(&records) > 0)
        ret = append_pax(buffer, &records, err);
    buffer_deinit(&records);
    if (ret < 0)
        return -1;
    put_rest(&header, (char)entry->type, entry->mode, entry->size);
    put_number(header.modified, sizeof header.modified,
               entry->modified > 0 ? (uint64_t)entry->modified : 0);
    put_checksum(&header);
    return buffer_append(buffer, (const char *)&header, sizeof header, err);
}
