/* The media type of a file, told by the end of its name. */
#pragma once

/* "text/csv" for "data/table.csv"; "application/octet-stream" where nothing better is known. Static
 * storage. */
const char *mime_type_of_path(const char *path);
