#include "toolbox/line_ends.h"

#include "base/memory.h"

#include <stdlib.h>
#include <string.h>

enum { LINE_ENDS_DIGITS = 9 };

void line_ends_add(struct line_ends *line, const char *bytes, size_t length)
{
    const size_t begun = size_min(length, LINE_ENDS_BYTES - line->head_length);
    const size_t taken = size_min(length, LINE_ENDS_BYTES);
    const size_t kept = size_min(line->tail_length, LINE_ENDS_BYTES - taken);

    memcpy(line->head + line->head_length, bytes, begun);
    line->head_length += begun;
    memmove(line->tail, line->tail + line->tail_length - kept, kept);
    memcpy(line->tail + kept, bytes + length - taken, taken);
    line->tail_length = kept + taken;
    line->length += length;
}

/* The id that TEXT, NUL-terminated, begins with; *RET_END is behind its digits. */
static unsigned line_ends_read_id(const char *text, const char **ret_end)
{
    const size_t digits = strspn(text += strspn(text, " "), "0123456789");

    *ret_end = text + digits;
    return digits > 0 && digits <= LINE_ENDS_DIGITS ? (unsigned)strtoul(text, NULL, 10) : 0;
}

/* Finds KEY, a name in quotation marks, in TEXT. Returns what is behind its colon, or NULL. */
static const char *line_ends_find_member(const char *text, const char *key)
{
    for (const char *found = text; (found = strstr(found, key));) {
        found += strlen(key);
        found += strspn(found, " ");
        if (*found == ':')
            return found + 1;
    }
    return NULL;
}

/* The member that only responses have, unless it may lie within parameters. */
static const char *line_ends_find_outcome(const char *head)
{
    const char *method = line_ends_find_member(head, "\"method\"");
    const char *result = line_ends_find_member(head, "\"result\"");
    const char *outcome = result ? result : line_ends_find_member(head, "\"error\"");

    return outcome && method && method < outcome ? NULL : outcome;
}

static unsigned line_ends_find_first(const char *head)
{
    const char *found = line_ends_find_member(head, "\"id\"");
    const char *outcome = line_ends_find_outcome(head);
    const char *end;

    if (!found || !outcome || found > outcome)
        return 0;
    return line_ends_read_id(found, &end);
}

/* Nothing but the version may stand between the id and the end. */
static unsigned line_ends_find_last(const char *tail)
{
    const char *last = NULL;
    const char *end;
    unsigned id;

    for (const char *found = tail; (found = line_ends_find_member(found, "\"id\""));)
        last = found;
    id = last ? line_ends_read_id(last, &end) : 0;
    if (id == 0 || (strcmp(end, "}") != 0 && strcmp(end, ",\"jsonrpc\":\"2.0\"}") != 0))
        return 0;
    return id;
}

/* A NUL in the line ends the search. */
unsigned line_ends_find_id(const struct line_ends *line)
{
    char head[LINE_ENDS_BYTES + 1] = {0};
    char tail[LINE_ENDS_BYTES + 1] = {0};
    unsigned id;

    memcpy(head, line->head, line->head_length);
    memcpy(tail, line->tail, line->tail_length);
    tail[strcspn(tail, "\r\n")] = '\0';
    id = line_ends_find_first(head);
    return id > 0 ? id : line_ends_find_last(tail);
}

bool line_ends_are_of_answer(const struct line_ends *line)
{
    char head[LINE_ENDS_BYTES + 1] = {0};

    memcpy(head, line->head, line->head_length);
    return head[strspn(head, " \t")] == '{' && line_ends_find_outcome(head);
}
