#include "environments/notebook/jupyter/message.h"

#include "base/cleanup.h"
#include "base/json.h"
#include "base/memory.h"
#include "base/random.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define JUPYTER_DELIMITER "<IDS|MSG>"
#define JUPYTER_VERSION   "5.3"

enum { JUPYTER_HEX = 2 * HMAC_BYTES };

/* In the order in which they are signed. */
enum jupyter_signed_part { JUPYTER_HEADER, JUPYTER_PARENT, JUPYTER_METADATA, JUPYTER_CONTENT };

/* The texts one behind the other. Owned by the caller. */
static char *jupyter_join(const struct jupyter_part *parts, size_t *ret_length)
{
    size_t length = 0;
    char *joined;

    for (int i = 0; i < JUPYTER_SIGNED; i++)
        length += parts[i].length;
    joined = memory_new(length + 1, 1);
    length = 0;
    for (int i = 0; i < JUPYTER_SIGNED; i++) {
        memcpy(joined + length, parts[i].data, parts[i].length);
        length += parts[i].length;
    }
    *ret_length = length;
    return joined;
}

static void jupyter_sign(const struct jupyter_key *key, const struct jupyter_part *parts,
                         char ret_text[static JUPYTER_HEX + 1])
{
    unsigned char signature[HMAC_BYTES];
    size_t length;
    AUTO_FREE char *joined = jupyter_join(parts, &length);

    hmac_sign((const unsigned char *)key->text, joined, length, signature);
    for (int i = 0; i < HMAC_BYTES; i++)
        snprintf(ret_text + (size_t)2 * i, 3, "%02x", signature[i]);
}

static char *jupyter_header(const char *id, const char *session, const char *type)
{
    AUTO_JSON json_t *header = NULL;
    char date[sizeof "2026-01-01T00:00:00Z"];
    time_t now = time(NULL);
    struct tm parts;

    strftime(date, sizeof date, "%Y-%m-%dT%H:%M:%SZ", gmtime_r(&now, &parts));
    header =
        json_pack("{s:s, s:s, s:s, s:s, s:s, s:s}", "msg_id", id, "session", session, "username",
                  "pyexecd", "date", date, "msg_type", type, "version", JUPYTER_VERSION);
    return json_text(header);
}

void jupyter_request_init(struct jupyter_request *request, const struct jupyter_key *key,
                          const char *session, const char *type, const json_t *content)
{
    AUTO_FREE char *id = random_digits(JUPYTER_ID);
    struct jupyter_part parts[JUPYTER_SIGNED];
    char signature[JUPYTER_HEX + 1];

    *request = (struct jupyter_request){0};
    memcpy(request->id, id, JUPYTER_ID);
    request->texts[0] = memory_copy_string(JUPYTER_DELIMITER);
    request->texts[2 + JUPYTER_HEADER] = jupyter_header(id, session, type);
    request->texts[2 + JUPYTER_PARENT] = memory_copy_string("{}");
    request->texts[2 + JUPYTER_METADATA] = memory_copy_string("{}");
    request->texts[2 + JUPYTER_CONTENT] = json_text(content);
    for (int i = 0; i < JUPYTER_SIGNED; i++)
        parts[i] = (struct jupyter_part){request->texts[2 + i], strlen(request->texts[2 + i])};
    jupyter_sign(key, parts, signature);
    request->texts[1] = memory_copy_string(signature);
}

void jupyter_request_deinit(struct jupyter_request *request)
{
    for (int i = 0; i < JUPYTER_SENT; i++)
        free(request->texts[i]);
    *request = (struct jupyter_request){0};
}

static bool jupyter_part_is(const struct jupyter_part *part, const char *text)
{
    return part->length == strlen(text) && memcmp(part->data, text, part->length) == 0;
}

/* The signature, which the signed parts follow; or NULL. */
static const struct jupyter_part *jupyter_find_signature(const struct jupyter_part *parts,
                                                         size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (jupyter_part_is(&parts[i], JUPYTER_DELIMITER))
            return count - i > 1 + JUPYTER_SIGNED ? &parts[i + 1] : NULL;
    return NULL;
}

/* All bytes are compared, whichever is wrong. */
static bool jupyter_is_signed(const struct jupyter_key *key, const struct jupyter_part *signature)
{
    char right[JUPYTER_HEX + 1];
    unsigned char wrong = 0;

    if (signature->length != JUPYTER_HEX)
        return false;
    jupyter_sign(key, signature + 1, right);
    for (size_t i = 0; i < JUPYTER_HEX; i++)
        wrong |= (unsigned char)(signature->data[i] ^ right[i]);
    return wrong == 0;
}

/* New reference, or NULL. */
static json_t *jupyter_parse(const struct jupyter_part *part)
{
    json_t *value = json_loadb(part->data, part->length, JSON_ALLOW_NUL, NULL);

    if (json_is_object(value))
        return value;
    json_decref(value);
    return NULL;
}

/* A text that is too long is none that we know. */
static void jupyter_copy_text(const json_t *object, const char *key, char *ret, size_t size)
{
    const char *text = json_object_get_string(object, key);

    ret[0] = '\0';
    if (text && strlen(text) < size)
        memcpy(ret, text, strlen(text) + 1);
}

int jupyter_message_read(struct jupyter_message *message, const struct jupyter_key *key,
                         const struct jupyter_part *parts, size_t count, struct error *err)
{
    const struct jupyter_part *signature = jupyter_find_signature(parts, count);
    AUTO_JSON json_t *header = NULL;
    AUTO_JSON json_t *parent = NULL;
    json_t *content;

    if (!signature)
        return error_set(err, ERROR_PARSE, "parts are missing");
    if (!jupyter_is_signed(key, signature))
        return error_set(err, ERROR_PARSE, "the signature is wrong");
    header = jupyter_parse(&signature[1 + JUPYTER_HEADER]);
    parent = jupyter_parse(&signature[1 + JUPYTER_PARENT]);
    content = jupyter_parse(&signature[1 + JUPYTER_CONTENT]);
    if (!header || !parent || !content) {
        json_decref(content);
        return error_set(err, ERROR_PARSE, "a part is no JSON object");
    }
    jupyter_copy_text(header, "msg_type", message->type, sizeof message->type);
    jupyter_copy_text(parent, "msg_id", message->parent, sizeof message->parent);
    message->content = content;
    return 0;
}

void jupyter_message_deinit(struct jupyter_message *message)
{
    json_decref(message->content);
    *message = (struct jupyter_message){0};
}

bool jupyter_message_answers(const struct jupyter_message *message,
                             const struct jupyter_request *request)
{
    return request->id[0] && strcmp(message->parent, request->id) == 0;
}
