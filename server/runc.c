#include "server/runc.h"

#include "base/memory.h"

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Those that let a container's program become root of the host, by the releases between which runc
 * had them. */
static const struct weakness {
    const char *names;
    const char *since;
    const char *fixed_in;
} weaknesses[] = {
    {"CVE-2019-5736", "0.0", "1.0-rc7"},
    {"CVE-2024-21626", "1.0.0-rc93", "1.1.12"},
    {"CVE-2025-31133, CVE-2025-52565, CVE-2025-52881", "0.0", "1.2.8"},
    {"CVE-2025-31133, CVE-2025-52565, CVE-2025-52881", "1.3.0-rc.1", "1.3.3"},
    {"CVE-2025-31133, CVE-2025-52565, CVE-2025-52881", "1.4.0-rc.1", "1.4.0-rc.3"},
};

/* Major, minor, patch, candidate: the release itself comes after its candidates. */
enum { PARTS = 4 };

static bool read_number(const char **text, int *ret)
{
    int length;

    if (sscanf(*text, "%d%n", ret, &length) != 1 || *ret < 0)
        return false;
    *text += length;
    return true;
}

/* "1.2.8", "1.0-rc7", "1.0.0~rc93+ds1", "1.4.0-rc.3". */
static bool read_version(const char *text, int parts[static PARTS])
{
    memset(parts, 0, sizeof *parts * (PARTS - 1));
    parts[PARTS - 1] = INT_MAX;
    for (int i = 0; i < PARTS - 1; i++) {
        if (!read_number(&text, &parts[i]))
            return false;
        if (*text != '.')
            break;
        text++;
    }
    if (strncmp(text, "-rc", 3) != 0 && strncmp(text, "~rc", 3) != 0)
        return true;
    text += text[3] == '.' ? 4 : 3;
    return read_number(&text, &parts[PARTS - 1]);
}

static int compare(const int a[static PARTS], const int b[static PARTS])
{
    for (int i = 0; i < PARTS; i++)
        if (a[i] != b[i])
            return a[i] < b[i] ? -1 : 1;
    return 0;
}

static bool has(const struct weakness *weakness, const int version[static PARTS])
{
    int since[PARTS];
    int fixed_in[PARTS];

    return read_version(weakness->since, since) && read_version(weakness->fixed_in, fixed_in) &&
           compare(since, version) <= 0 && compare(version, fixed_in) < 0;
}

char *runc_weaknesses(const char *version)
{
    int parts[PARTS];
    char *text = NULL;

    if (!read_version(version, parts))
        return NULL;
    for (size_t i = 0; i < sizeof weaknesses / sizeof *weaknesses; i++) {
        const struct weakness *weakness = &weaknesses[i];
        char *before = text;

        if (!has(weakness, parts))
            continue;
        text = memory_format("%s%s%s (fixed in %s)", before ? before : "", before ? ", " : "",
                             weakness->names, weakness->fixed_in);
        free(before);
    }
    return text;
}
