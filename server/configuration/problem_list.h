/* The errors of a configuration: `file:line:col: path: what is wrong`. */
#pragma once

#include "server/configuration/yaml_tree.h"

#include <stdbool.h>
#include <stddef.h>

enum { PROBLEMS_KEPT = 50 };

struct problem {
    struct yaml_position position; /* line 0: the file as a whole */
    char *pointer;                 /* of the value that is wrong or unusable; owned */
    char *message;                 /* owned */
    size_t number;                 /* in the order of discovery */
};

/* Zeroed, it is empty. */
struct problem_list {
    struct problem problems[PROBLEMS_KEPT];
    size_t count;
    bool has_more; /* than are kept */
};

void problem_list_deinit(struct problem_list *list);

/* Once, if the same is told of the same value again. */
void problem_list_add(struct problem_list *list, struct yaml_position position, const char *pointer,
                      const char *message);

/* True when any of the first COUNT problems is at POINTER or at a value around it. */
bool problem_list_covers(const struct problem_list *list, size_t count, const char *pointer);

/* One line per problem, in the order of the file PATH, which may be NULL. Owned by the caller. */
char *problem_list_text(const struct problem_list *list, const char *path);
