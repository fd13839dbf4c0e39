#include "server/tools/label.h"

#include "base/memory.h"
#include "base/utf8.h"

#include <string.h>

enum { NAME_BYTES = 128 };

static const char NAME_CHARACTERS[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
                                      "0123456789_.-";

char *label_copy(const char *text)
{
    return text ? memory_copy_string(text) : NULL;
}

int label_check_name(const char *what, const char *name, struct error *err)
{
    size_t length = name ? strlen(name) : 0;

    if (length == 0 || length > NAME_BYTES || strspn(name, NAME_CHARACTERS) != length)
        return error_set(err, ERROR_CONFIG,
                         "%s name \"%.*s\": must be 1 to %d characters of A-Z a-z 0-9 _ . -", what,
                         NAME_BYTES, name ? name : "", NAME_BYTES);
    return 0;
}

int label_check_text(const char *text, struct error *err)
{
    if (text && !utf8_is_valid(text, strlen(text)))
        return error_set(err, ERROR_CONFIG, "what it is called or described by is not UTF-8");
    return 0;
}
