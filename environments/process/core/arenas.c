#include "environments/process/core/arenas.h"

#include "environments/process/core/large_pages.h"
#include "environments/process/core/python_api.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/mman.h>

enum {
    ARENAS_CHUNK = 8 << 20,   /* bytes: a multiple of all versions' arenas, and of large pages */
    ARENAS_LEAST = 256 << 10, /* a smaller request is for a thread's stack of frames */
};

static struct {
    _Atomic(char *) next;
    char *end;
    bool are_reserved; /* in chunks */
} arenas = {.are_reserved = true};

static void *arenas_map(size_t size)
{
    void *memory = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    return memory == MAP_FAILED ? NULL : memory;
}

/* A chunk begins where a large page can. False near a limit of memory. */
static bool arenas_reserve(void)
{
    char *chunk = large_pages_map(ARENAS_CHUNK);

    if (!chunk)
        return false;
    atomic_store(&arenas.next, chunk);
    arenas.end = chunk + ARENAS_CHUNK;
    return true;
}

/* Interpreters with a lock each ask at the same time: in copies, where there is no new chunk. */
static void *arenas_take(size_t size)
{
    char *arena = atomic_load(&arenas.next);

    while (size <= (size_t)(arenas.end - arena))
        if (atomic_compare_exchange_weak(&arenas.next, &arena, arena + size))
            return arena;
    return NULL;
}

static void *arenas_allocate(void *nothing, size_t size)
{
    const bool is_arena = size >= ARENAS_LEAST && size <= ARENAS_CHUNK;
    void *arena = is_arena ? arenas_take(size) : NULL;

    (void)nothing;
    if (is_arena && !arena && arenas.are_reserved && arenas_reserve())
        arena = arenas_take(size);
    return arena ? arena : arenas_map(size);
}

static void arenas_free(void *nothing, void *arena, size_t size)
{
    (void)nothing;
    munmap(arena, size);
}

void arenas_begin(void)
{
    struct python_arena_allocator allocator = {.allocate = arenas_allocate, .free = arenas_free};

    python.PyObject_SetArenaAllocator(&allocator);
}

void arenas_reserve_no_more(void)
{
    arenas.are_reserved = false;
}
