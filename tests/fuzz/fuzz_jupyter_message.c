/* Input: "s" or anything else, then the parts of a message of a Jupyter kernel, one a line. After
 * "s" the signature of the first four is put before them, as a kernel does that has the key. Only
 * such messages are read, and what is read of them is whole. */
#undef NDEBUG
#include "environments/notebook/jupyter/message.h"

#include <assert.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const struct jupyter_key key = {"0123456789abcdef0123456789abcdef"};

static size_t split(const char *text, size_t size, struct jupyter_part *parts, size_t most)
{
    size_t count = 0;

    while (count < most) {
        const char *end = memchr(text, '\n', size);
        size_t length = end ? (size_t)(end - text) : size;

        parts[count++] = (struct jupyter_part){text, length};
        if (!end)
            break;
        text += length + 1;
        size -= length + 1;
    }
    return count;
}

static void sign(const struct jupyter_part *parts, char ret[2 * HMAC_BYTES + 1])
{
    unsigned char signature[HMAC_BYTES];
    size_t length = 0;
    char *joined;

    for (int i = 0; i < JUPYTER_SIGNED; i++)
        length += parts[i].length;
    joined = malloc(length + 1);
    assert(joined);
    length = 0;
    for (int i = 0; i < JUPYTER_SIGNED; i++) {
        memcpy(joined + length, parts[i].data, parts[i].length);
        length += parts[i].length;
    }
    hmac_sign((const unsigned char *)key.text, joined, length, signature);
    free(joined);
    for (size_t i = 0; i < HMAC_BYTES; i++)
        snprintf(ret + 2 * i, 3, "%02x", signature[i]);
}

static void read_parts(const struct jupyter_part *parts, size_t count, bool is_signed)
{
    const struct jupyter_request request = {.id = "0123456789abcdef0123456789abcdef"};
    struct jupyter_message message = {0};
    struct error err = ERROR_INIT;

    if (jupyter_message_read(&message, &key, parts, count, &err) == 0) {
        assert(is_signed && json_is_object(message.content));
        assert(memchr(message.type, '\0', sizeof message.type));
        assert(memchr(message.parent, '\0', sizeof message.parent));
        (void)jupyter_message_answers(&message, &request);
    } else {
        assert(err.code == ERROR_PARSE && !message.content);
    }
    jupyter_message_deinit(&message);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct jupyter_part parts[JUPYTER_MOST_PARTS + 2] = {{"<IDS|MSG>", 9}, {NULL, 0}};
    char signature[2 * HMAC_BYTES + 1] = "";
    bool is_signed;
    size_t count;

    if (size == 0)
        return 0;
    count = split((const char *)data + 1, size - 1, &parts[2], JUPYTER_MOST_PARTS);
    is_signed = data[0] == 's' && count >= JUPYTER_SIGNED;
    if (is_signed) {
        sign(&parts[2], signature);
        parts[1] = (struct jupyter_part){signature, 2 * HMAC_BYTES};
        read_parts(parts, count + 2, true);
    } else {
        read_parts(&parts[2], count, false);
    }
    return 0;
}
