/* The arguments of a call as they are meant: models and clients fill in what they need not, and
 * write numbers and lists as text. */
#pragma once

#include <jansson.h>

/* A copy of ARGUMENTS, an object, for SCHEMA, an object's with its properties; neither has to fit.
 * - null, "" and {} for a property that is optional are left out;
 * - text where a property is of another type is read as JSON, if that gives the type and the text
 *   has at most 256 KiB;
 * - a mapping of paths to texts is a list of files, where items have a `path` and a `text`, also as
 *   such a text.
 * The same inside of objects that have properties. The recursion is no deeper than the schema. New
 * reference. */
json_t *lenient_arguments_read(json_t *arguments, const json_t *schema);
