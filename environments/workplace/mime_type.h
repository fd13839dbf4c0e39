/* The media type of a file, told by the end of its name. */
#pragma once

#define MIME_TYPE_UNKNOWN "application/octet-stream"

/* "text/csv" for "data/table.csv"; MIME_TYPE_UNKNOWN where nothing better is known. Static storage.
 */
const char *mime_type_of_path(const char *path);
