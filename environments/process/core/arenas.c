#include "environments/process/core/arenas.h"

#include "environments/process/core/python_api.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/mman.h>

enum { ARENAS_CHUNK = 8 << 20, ARENAS_ALIGNMENT = 2 << 20 }; /* bytes */

static char *arenas_next;
static char *arenas_end;

static void *arenas_map(size_t size)
{
    void *memory = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    return memory == MAP_FAILED ? NULL : memory;
}

/* A chunk begins where a large page can. False near a limit of memory. */
static bool arenas_reserve(void)
{
    char *chunk = arenas_map(ARENAS_CHUNK + ARENAS_ALIGNMENT);
    uintptr_t place = (uintptr_t)chunk;
    size_t before;

    if (!chunk)
        return false;
    before = -place & (ARENAS_ALIGNMENT - 1);
    if (before > 0)
        munmap(chunk, before);
    munmap(chunk + before + ARENAS_CHUNK, ARENAS_ALIGNMENT - before);
    arenas_next = chunk + before;
    arenas_end = arenas_next + ARENAS_CHUNK;
    return true;
}

static void *arenas_allocate(void *nothing, size_t size)
{
    void *arena;

    (void)nothing;
    if (size > (size_t)(arenas_end - arenas_next) && (size > ARENAS_CHUNK || !arenas_reserve()))
        return arenas_map(size);
    arena = arenas_next;
    arenas_next += size;
    return arena;
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
