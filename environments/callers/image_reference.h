/* The name of an image in its parts, as Docker understands it: "python" is
 *
 *     docker.io / library/python : latest
 *     domain      path             tag      @ digest
 *
 * and a pattern of such names, in which every part may have "*" for any number of characters. Both
 * are brought to the same form before they are compared, so that a name cannot pass for another:
 * "evil/python:3", "python:5000/x" and "python.example/x" are not what "python:*" stands for. */
#pragma once

#include "base/error.h"

#include <stdbool.h>

struct image_reference {
    char *domain; /* owned, as all; of the registry, with its port */
    char *path;
    char *tag;    /* NULL when there is a digest, which is what engines go by then */
    char *digest; /* or NULL; "sha256:..." */
};

/* -1 with ERROR_INVALID_ARGUMENTS when TEXT is no name of an image. */
int image_reference_parse(struct image_reference *ret, const char *text, struct error *err);

/* The same for a pattern. One without a tag whose path ends with "*" stands for every tag and
 * digest, another one without for "latest"; "*" alone stands for every image there is. */
int image_pattern_parse(struct image_reference *ret, const char *text, struct error *err);

void image_reference_deinit(struct image_reference *reference);

/* "docker.io/library/python:latest", which means the same to every engine. Owned by the caller. */
char *image_reference_text(const struct image_reference *reference);

/* An image that is named by its digest can be any that the repository ever had: it is what PATTERN
 * stands for when that has the digest, or leaves the tag open altogether. */
bool image_reference_matches(const struct image_reference *reference,
                             const struct image_reference *pattern);
