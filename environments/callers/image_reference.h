/* The name of an image in its parts, as Docker understands it: "python" is
 *
 *     docker.io / library/python : latest
 *     domain      path             tag      @ digest
 *
 * A pattern may have "*" for any number of characters in each part. Both are brought to the same
 * form before they are compared, so that one name cannot pass for another: "python:*" does not
 * match "evil/python:3", "python:5000/x" or "python.example/x". */
#pragma once

#include "base/error.h"

#include <stdbool.h>

struct image_reference {
    char *domain; /* owned, as all; of the registry, with its port */
    char *path;
    char *tag;    /* NULL when there is a digest: engines ignore the tag then */
    char *digest; /* or NULL; "sha256:..." */
};

/* -1 with ERROR_INVALID_ARGUMENTS when TEXT is no name of an image. */
int image_reference_parse(struct image_reference *ret, const char *text, struct error *err);

/* Parses a pattern. A pattern without a tag matches every tag and digest if its path ends with a
 * star, else only "latest". "*" alone matches every image. */
int image_pattern_parse(struct image_reference *ret, const char *text, struct error *err);

void image_reference_deinit(struct image_reference *reference);

/* "docker.io/library/python:latest", which means the same to every engine. Owned by the caller. */
char *image_reference_text(const struct image_reference *reference);

/* An image with a digest can be any old image of the repository. It matches PATTERN only if PATTERN
 * has the same digest or matches every tag. */
bool image_reference_matches(const struct image_reference *reference,
                             const struct image_reference *pattern);
