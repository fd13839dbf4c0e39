/* The misfits of a value that was sent, in one error: every problem in the order of discovery, as
 * far as there is room. */
#pragma once

#include "base/error.h"
#include "base/schema/schema.h"

#include <stddef.h>

enum { MISFITS_BYTES = 800 }; /* leaves room in a long error for the text around them */

struct misfits {
    const char *whole;  /* the name of the whole: "the call"; borrowed */
    const char *prefix; /* before the path of each part: "", or "definition."; borrowed */

    /* Private. */
    char text[MISFITS_BYTES];
    size_t length;
    size_t unnamed;
};

/* MISFIT is a fragment such as "timeout must be number, not string". */
void misfits_add(struct misfits *misfits, const char *misfit);

/* A schema_problem_fn; MISFITS is a struct misfits. */
void misfits_on_problem(void *misfits, enum schema_problem_place place, const char *pointer,
                        const char *message);

/* 0 when there is none; else -1 with ERR: "INTRODUCTION: " and all of them. */
int misfits_tell(const struct misfits *misfits, const char *introduction, struct error *err);
