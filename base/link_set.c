#include "base/link_set.h"

#include "base/memory.h"

#include <stdlib.h>

enum {
    FIRST_PLACES = 64,
    MOST_PLACES = 1 << 20,
};

/* With one factor, two files would have the same key where inode and device have the same sum. */
#define INODE_FACTOR  0x9e3779b97f4a7c15U
#define DEVICE_FACTOR 0xc2b2ae3d27d4eb4fU

static uint64_t link_key(const struct stat *status)
{
    uint64_t key =
        (uint64_t)status->st_ino * INODE_FACTOR + (uint64_t)status->st_dev * DEVICE_FACTOR;

    return key ? key : 1;
}

/* The place of KEY, or the empty one where it belongs. */
static uint64_t *find_link(const struct link_set *set, uint64_t key)
{
    size_t place = (size_t)(key >> 32) & (set->capacity - 1);

    while (set->places[place] != 0 && set->places[place] != key)
        place = (place + 1) & (set->capacity - 1);
    return &set->places[place];
}

static void link_set_grow(struct link_set *set)
{
    struct link_set larger = {.count = set->count,
                              .capacity = set->capacity ? set->capacity * 2 : FIRST_PLACES};

    larger.places = memory_new(larger.capacity, sizeof *larger.places);
    for (size_t i = 0; i < set->capacity; i++)
        if (set->places[i] != 0)
            *find_link(&larger, set->places[i]) = set->places[i];
    free(set->places);
    *set = larger;
}

bool link_set_add(struct link_set *set, const struct stat *status)
{
    uint64_t key = link_key(status);
    uint64_t *place;

    if (set->count * 2 >= set->capacity && set->capacity < MOST_PLACES)
        link_set_grow(set);
    place = find_link(set, key);
    if (*place == key)
        return false;
    if (set->count * 2 >= set->capacity)
        return true;
    *place = key;
    set->count++;
    return true;
}

void link_set_deinit(struct link_set *set)
{
    free(set->places);
    *set = (struct link_set){0};
}
