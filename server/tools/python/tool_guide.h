/* The text for a model about the tools that its scripts may call: their signatures, if these are
 * short, else their names, else their servers. It is the same from call to call. */
#pragma once

struct buffer;
struct python_offer;

enum { TOOL_GUIDE_BYTES = 2048 }; /* of the tools */

/* Appends it as a paragraph of its own; nothing where no environment of OFFER has tools. */
void tool_guide_append(struct buffer *text, const struct python_offer *offer);
