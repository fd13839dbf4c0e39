/* A doubly linked list whose links are embedded in the elements. The list owns nothing. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

/* The struct that POINTER, its MEMBER, is embedded in. */
#define CONTAINER_OF(POINTER, TYPE, MEMBER) ((TYPE *)((char *)(POINTER)-offsetof(TYPE, MEMBER)))

struct list {
    struct list *next;
    struct list *previous;
};

#define LIST_FOR_EACH(LIST, LINK)                                                                  \
    for (struct list *LINK = (LIST)->next; LINK != (LIST); LINK = LINK->next)

/* As LIST_FOR_EACH; the body may remove and free LINK, nothing else. */
#define LIST_FOR_EACH_SAFE(LIST, LINK)                                                             \
    for (struct list *LINK = (LIST)->next, *next_##LINK = LINK->next; LINK != (LIST);              \
         LINK = next_##LINK, next_##LINK = LINK->next)

/* An empty list, or a link that is in no list. */
static inline void list_init(struct list *list)
{
    list->next = list;
    list->previous = list;
}

static inline bool list_is_empty(const struct list *list)
{
    return list->next == list;
}

static inline void list_append(struct list *list, struct list *link)
{
    link->next = list;
    link->previous = list->previous;
    list->previous->next = link;
    list->previous = link;
}

/* Takes LINK out of its list, if it is in one. */
static inline void list_remove(struct list *link)
{
    link->next->previous = link->previous;
    link->previous->next = link->next;
    list_init(link);
}
