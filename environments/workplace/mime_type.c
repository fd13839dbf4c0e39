#include "environments/workplace/mime_type.h"

#include "base/memory.h"

#include <stdbool.h>
#include <stddef.h>
#include <string.h>
#include <strings.h>

/* The types of files that scripts write. */
static const struct mime_type {
    const char *suffix;
    const char *name;
} mime_types[] = {
    {".7z", "application/x-7z-compressed"},
    {".aac", "audio/aac"},
    {".avi", "video/x-msvideo"},
    {".avif", "image/avif"},
    {".bmp", "image/bmp"},
    {".bz2", "application/x-bzip2"},
    {".c", "text/x-c"},
    {".conf", "text/plain"},
    {".cpp", "text/x-c++"},
    {".css", "text/css"},
    {".csv", "text/csv"},
    {".db", "application/vnd.sqlite3"},
    {".doc", "application/msword"},
    {".docx", "application/vnd.openxmlformats-officedocument.wordprocessingml.document"},
    {".eps", "application/postscript"},
    {".epub", "application/epub+zip"},
    {".flac", "audio/flac"},
    {".geojson", "application/geo+json"},
    {".gif", "image/gif"},
    {".gz", "application/gzip"},
    {".h5", "application/x-hdf5"},
    {".hdf5", "application/x-hdf5"},
    {".htm", "text/html"},
    {".html", "text/html"},
    {".ics", "text/calendar"},
    {".ini", "text/plain"},
    {".ipynb", "application/x-ipynb+json"},
    {".jpeg", "image/jpeg"},
    {".jpg", "image/jpeg"},
    {".js", "text/javascript"},
    {".json", "application/json"},
    {".jsonl", "application/jsonl"},
    {".log", "text/plain"},
    {".md", "text/markdown"},
    {".mid", "audio/midi"},
    {".mkv", "video/x-matroska"},
    {".mov", "video/quicktime"},
    {".mp3", "audio/mpeg"},
    {".mp4", "video/mp4"},
    {".ndjson", "application/x-ndjson"},
    {".ods", "application/vnd.oasis.opendocument.spreadsheet"},
    {".odt", "application/vnd.oasis.opendocument.text"},
    {".ogg", "audio/ogg"},
    {".parquet", "application/vnd.apache.parquet"},
    {".pdf", "application/pdf"},
    {".png", "image/png"},
    {".ppt", "application/vnd.ms-powerpoint"},
    {".pptx", "application/vnd.openxmlformats-officedocument.presentationml.presentation"},
    {".py", "text/x-python"},
    {".rst", "text/x-rst"},
    {".rtf", "application/rtf"},
    {".sh", "application/x-sh"},
    {".sql", "application/sql"},
    {".sqlite", "application/vnd.sqlite3"},
    {".sqlite3", "application/vnd.sqlite3"},
    {".svg", "image/svg+xml"},
    {".tar", "application/x-tar"},
    {".tex", "application/x-tex"},
    {".tif", "image/tiff"},
    {".tiff", "image/tiff"},
    {".toml", "application/toml"},
    {".tsv", "text/tab-separated-values"},
    {".txt", "text/plain"},
    {".wasm", "application/wasm"},
    {".wav", "audio/wav"},
    {".webm", "video/webm"},
    {".webp", "image/webp"},
    {".xls", "application/vnd.ms-excel"},
    {".xlsx", "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet"},
    {".xml", "application/xml"},
    {".xz", "application/x-xz"},
    {".yaml", "application/yaml"},
    {".yml", "application/yaml"},
    {".zip", "application/zip"},
    {".zst", "application/zstd"},
};

static bool mime_type_ends_with(const char *name, const char *suffix)
{
    size_t name_length = strlen(name);
    size_t suffix_length = strlen(suffix);

    return name_length > suffix_length &&
           strcasecmp(name + name_length - suffix_length, suffix) == 0;
}

const char *mime_type_of_path(const char *path)
{
    const char *slash = strrchr(path, '/');
    const char *name = slash ? slash + 1 : path;

    for (size_t i = 0; i < ARRAY_SIZE(mime_types); i++)
        if (mime_type_ends_with(name, mime_types[i].suffix))
            return mime_types[i].name;
    return MIME_TYPE_UNKNOWN;
}
