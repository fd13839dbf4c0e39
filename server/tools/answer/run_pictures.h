/* The pictures of a run in its result: the sentences about them, and the pictures themselves. */
#pragma once

#include <jansson.h>

struct invocation;

/* TEXT (taken) of a result, followed by which of PICTURES (pictures/gallery.h; NULL: none) are
 * shown, and why others are not. New reference. */
json_t *run_pictures_add_text(json_t *text, const json_t *pictures);

/* Appends the PICTURES that are shown to the content of INVOCATION's result, behind its text. */
void run_pictures_show(struct invocation *invocation, const json_t *pictures);
