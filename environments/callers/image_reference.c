#include "environments/callers/image_reference.h"

#include "base/cleanup.h"
#include "base/memory.h"

#include <stdlib.h>
#include <string.h>

#define HUB          "docker.io"
#define HUB_OLD_NAME "index.docker.io"
#define HUB_OFFICIAL "library/"
#define ANY          "*"

#define DIGITS    "0123456789"
#define LOWER     "abcdefghijklmnopqrstuvwxyz"
#define UPPER     "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
#define SEPARATOR "._-"

enum {
    REFERENCE_BYTES = 512,
    TAG_BYTES = 128,
    DIGEST_DIGITS = 64,
};

#define DIGEST_KIND "sha256:"

/* Taking a text apart */

/* A first part is a registry only when it cannot be the name of somebody on the Hub. */
static bool is_domain(const char *text, size_t length)
{
    AUTO_FREE char *part = memory_format("%.*s", (int)length, text);

    return strpbrk(part, ".:" UPPER) || strcmp(part, "localhost") == 0;
}

/* Takes the domain off TEXT. Returns what is left of it. */
static const char *split_domain(struct image_reference *reference, const char *text)
{
    size_t length = strcspn(text, "/");

    if (text[length] != '/' || !is_domain(text, length)) {
        reference->domain = memory_copy_string(HUB);
        return text;
    }
    reference->domain = memory_format("%.*s", (int)length, text);
    if (strcmp(reference->domain, HUB_OLD_NAME) == 0) {
        free(reference->domain);
        reference->domain = memory_copy_string(HUB);
    }
    return text + length + 1;
}

/* TEXT is "path[:tag][@digest]". */
static void split_rest(struct image_reference *reference, const char *text)
{
    const char *digest = strchr(text, '@');
    size_t name = digest ? (size_t)(digest - text) : strlen(text);
    const char *tag = memchr(text, ':', name);
    size_t path = tag ? (size_t)(tag - text) : name;
    bool is_official = strcmp(reference->domain, HUB) == 0 && !memchr(text, '/', path);

    if (is_official && strncmp(text, ANY, path) != 0)
        reference->path = memory_format(HUB_OFFICIAL "%.*s", (int)path, text);
    else
        reference->path = memory_format("%.*s", (int)path, text);
    if (tag)
        reference->tag = memory_format("%.*s", (int)(name - path - 1), tag + 1);
    if (digest)
        reference->digest = memory_copy_string(digest + 1);
}

static void image_reference_split(struct image_reference *reference, const char *text)
{
    *reference = (struct image_reference){0};
    split_rest(reference, split_domain(reference, text));
}

/* The rules for the parts */

static bool consists_of(const char *text, const char *characters)
{
    return *text && text[strspn(text, characters)] == '\0';
}

static bool is_path(const char *path, const char *characters)
{
    return consists_of(path, characters) && *path != '/' && path[strlen(path) - 1] != '/' &&
           !strstr(path, "//");
}

static bool is_tag(const char *tag)
{
    return consists_of(tag, LOWER UPPER DIGITS SEPARATOR) && strlen(tag) <= TAG_BYTES &&
           *tag != '.' && *tag != '-';
}

static bool is_digest(const char *digest)
{
    const char *digits = digest + strlen(DIGEST_KIND);

    return strncmp(digest, DIGEST_KIND, strlen(DIGEST_KIND)) == 0 &&
           strlen(digits) == DIGEST_DIGITS && consists_of(digits, DIGITS "abcdef");
}

static bool is_reference(const struct image_reference *reference)
{
    return consists_of(reference->domain, LOWER UPPER DIGITS ".-:") &&
           is_path(reference->path, LOWER DIGITS SEPARATOR "/") &&
           (!reference->tag || is_tag(reference->tag)) &&
           (!reference->digest || is_digest(reference->digest));
}

static bool is_pattern(const struct image_reference *pattern)
{
    return consists_of(pattern->domain, LOWER UPPER DIGITS ".-:" ANY) &&
           is_path(pattern->path, LOWER DIGITS SEPARATOR "/" ANY) &&
           (!pattern->tag || consists_of(pattern->tag, LOWER UPPER DIGITS SEPARATOR ANY)) &&
           (!pattern->digest || consists_of(pattern->digest, LOWER DIGITS ":" ANY));
}

/* Splits TEXT; false when it is too long, or FITS refuses its parts. */
static bool image_reference_split_checked(struct image_reference *ret, const char *text,
                                          bool (*fits)(const struct image_reference *))
{
    *ret = (struct image_reference){0};
    if (strlen(text) > REFERENCE_BYTES)
        return false;
    image_reference_split(ret, text);
    if (fits(ret))
        return true;
    image_reference_deinit(ret);
    return false;
}

int image_reference_parse(struct image_reference *ret, const char *text, struct error *err)
{
    if (!image_reference_split_checked(ret, text, is_reference))
        return error_set(err, ERROR_INVALID_ARGUMENTS,
                         "must be the name of an image, such as python:3.11-slim");
    if (ret->digest)
        free(STEAL_PTR(ret->tag));
    else if (!ret->tag)
        ret->tag = memory_copy_string("latest");
    return 0;
}

static bool ends_open(const char *path)
{
    return path[strlen(path) - 1] == *ANY;
}

int image_pattern_parse(struct image_reference *ret, const char *text, struct error *err)
{
    if (!image_reference_split_checked(ret, text, is_pattern))
        return error_set(err, ERROR_INVALID_ARGUMENTS,
                         "must be the name of an image, with * for any number of characters, such "
                         "as python:*");
    if (strcmp(text, ANY) == 0) {
        free(ret->domain);
        ret->domain = memory_copy_string(ANY);
    }
    if (!ret->tag && !ret->digest)
        ret->tag = memory_copy_string(ends_open(ret->path) ? ANY : "latest");
    return 0;
}

void image_reference_deinit(struct image_reference *reference)
{
    free(reference->domain);
    free(reference->path);
    free(reference->tag);
    free(reference->digest);
    *reference = (struct image_reference){0};
}

char *image_reference_text(const struct image_reference *reference)
{
    return memory_format("%s/%s%s%s", reference->domain, reference->path,
                         reference->digest ? "@" : ":",
                         reference->digest ? reference->digest : reference->tag);
}

/* Comparing */

/* If the rest does not match, the last "*" takes one character more. Earlier ones need not be tried
 * again, so the work is bounded by the product of the lengths. */
static bool image_pattern_matches(const char *pattern, const char *text)
{
    const char *star = NULL;
    const char *tried = NULL; /* where what follows the star was tried last */

    while (*text) {
        if (*pattern == *ANY) {
            star = ++pattern;
            tried = text;
        } else if (*pattern == *text) {
            pattern++;
            text++;
        } else if (star) {
            pattern = star;
            text = ++tried;
        } else {
            return false;
        }
    }
    return pattern[strspn(pattern, ANY)] == '\0';
}

static bool version_matches(const struct image_reference *reference,
                            const struct image_reference *pattern)
{
    if (!reference->digest)
        return !pattern->digest && image_pattern_matches(pattern->tag, reference->tag);
    if (pattern->digest)
        return image_pattern_matches(pattern->digest, reference->digest);
    return strcmp(pattern->tag, ANY) == 0;
}

bool image_reference_matches(const struct image_reference *reference,
                             const struct image_reference *pattern)
{
    return image_pattern_matches(pattern->domain, reference->domain) &&
           image_pattern_matches(pattern->path, reference->path) &&
           version_matches(reference, pattern);
}
