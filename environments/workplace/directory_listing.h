/* What is in a directory tree at one moment: its regular files, and how much room everything takes.
 *
 * The tree belongs to scripts, so nothing in it is trusted: no link is followed, only the first
 * DIRECTORY_LISTING_ENTRIES entries down to a depth of DIRECTORY_LISTING_DEPTH are looked at, and
 * what cannot be opened is passed over. */
#pragma once

#include <jansson.h>
#include <stdint.h>

enum {
    DIRECTORY_LISTING_ENTRIES = 10000,
    DIRECTORY_LISTING_DEPTH = 16,
    DIRECTORY_LISTING_CHANGES = 100, /* most files that a list of changes names */
};

struct directory_listing;

/* Lists the tree under the descriptor DIRECTORY (borrowed). Caches are counted but not listed:
 * what is in __pycache__ and in directories whose name begins with a dot. */
struct directory_listing *directory_listing_new(int directory);
void directory_listing_free(struct directory_listing *listing);

/* Bytes on the disk, directories included. */
uint64_t directory_listing_bytes(const struct directory_listing *listing);

/* The same without making a listing. */
uint64_t directory_bytes(int directory);

/* What is new or different in AFTER, sorted by path: array of {path, size, mimeType}. New. */
json_t *directory_listing_changes(const struct directory_listing *before,
                                  const struct directory_listing *after);
