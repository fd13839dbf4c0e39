/* Forms for clients of 2025-06-18, which know fewer kinds of fields than later clients. */
#pragma once

#include <jansson.h>

/* SCHEMA of a form as 2025-06-18 has it: where several choices may be made, each becomes a field of
 * its own. New reference. */
json_t *form_translate(const json_t *schema);

/* The ANSWER to the translated SCHEMA (form_translate), as an answer to SCHEMA itself. New
 * reference. */
json_t *form_restore(const json_t *schema, const json_t *answer);
