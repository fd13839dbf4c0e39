#include "server/configuration/problem_list.h"

#include "base/cleanup.h"
#include "base/json.h"
#include "base/memory.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void problem_list_deinit(struct problem_list *list)
{
    for (size_t i = 0; i < list->count; i++) {
        free(list->problems[i].pointer);
        free(list->problems[i].message);
    }
    list->count = 0;
}

/* A value of a wrong type is no member of an enumeration, either: the words are the same. */
static bool problem_list_has(const struct problem_list *list, const char *pointer,
                             const char *message)
{
    for (size_t i = 0; i < list->count; i++)
        if (strcmp(list->problems[i].pointer, pointer) == 0 &&
            strcmp(list->problems[i].message, message) == 0)
            return true;
    return false;
}

void problem_list_add(struct problem_list *list, struct yaml_position position, const char *pointer,
                      const char *message)
{
    if (problem_list_has(list, pointer, message))
        return;
    if (list->count == PROBLEMS_KEPT) {
        list->has_more = true;
        return;
    }
    list->problems[list->count] = (struct problem){
        .position = position,
        .pointer = memory_copy_string(pointer),
        .message = memory_copy_string(message),
        .number = list->count,
    };
    list->count++;
}

/* True when POINTER is AROUND or something inside it. */
static bool is_inside(const char *pointer, const char *around)
{
    size_t length = strlen(around);

    return strncmp(pointer, around, length) == 0 && (!pointer[length] || pointer[length] == '/');
}

bool problem_list_covers(const struct problem_list *list, size_t count, const char *pointer)
{
    for (size_t i = 0; i < count; i++) {
        if (is_inside(pointer, list->problems[i].pointer))
            return true;
    }
    return false;
}

static int compare_problems(const void *left, const void *right)
{
    const struct problem *a = left;
    const struct problem *b = right;

    if (a->position.line != b->position.line)
        return a->position.line < b->position.line ? -1 : 1;
    if (a->position.column != b->position.column)
        return a->position.column < b->position.column ? -1 : 1;
    return a->number < b->number ? -1 : 1;
}

static void print_problem(FILE *stream, const char *file, const struct problem *problem)
{
    AUTO_FREE char *path = json_pointer_dotted(problem->pointer);

    if (file)
        fprintf(stream, "%s:", file);
    if (problem->position.line > 0)
        fprintf(stream, "%zu:%zu:", problem->position.line, problem->position.column);
    if (file)
        fputc(' ', stream);
    if (*path)
        fprintf(stream, "%s: ", path);
    fprintf(stream, "%s\n", problem->message);
}

char *problem_list_text(const struct problem_list *list, const char *path)
{
    struct problem_list sorted = *list;
    size_t length;
    char *text = NULL;
    FILE *stream = open_memstream(&text, &length);

    if (!stream)
        return memory_copy_string("out of memory\n");
    qsort(sorted.problems, sorted.count, sizeof *sorted.problems, compare_problems);
    for (size_t i = 0; i < sorted.count; i++)
        print_problem(stream, path, &sorted.problems[i]);
    if (sorted.has_more)
        fputs("... and more errors\n", stream);
    fclose(stream);
    return text;
}
