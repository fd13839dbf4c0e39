#include "server/tools/code/message_blocks.h"

#include "base/memory.h"
#include "server/tools/code/code_fence.h"

#include <cmark.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

/* A copy of MESSAGE in which lines end by a newline: a shell takes "\r" for a part of a word. */
static char *message_blocks_unify_lines(const char *message, size_t length, size_t *ret_length)
{
    char *ret = memory_new(length + 1, 1);
    size_t end = 0;

    for (size_t i = 0; i < length; i++)
        if (message[i] != '\r' || i + 1 == length || message[i + 1] != '\n')
            ret[end++] = message[i] == '\r' ? '\n' : message[i];
    *ret_length = end;
    return ret;
}

/* A line of the text. Blocks come in the order of their lines, so it only moves on: a message can
 * have many of both. */
struct message_line {
    const char *start;
    const char *end; /* of the text, which may have NUL characters */
    int number;      /* from 1 */
};

/* Where NODE begins in the text. */
static const char *message_blocks_seek(struct message_line *line, cmark_node *node)
{
    const size_t column = (size_t)cmark_node_get_start_column(node) - 1;

    while (line->number < cmark_node_get_start_line(node)) {
        const char *newline = memchr(line->start, '\n', (size_t)(line->end - line->start));

        if (!newline)
            return "";
        line->start = newline + 1;
        line->number++;
    }
    return strcspn(line->start, "\n") < column ? "" : line->start + column;
}

/* The parser tells fenced code from indented code in one way only: the first line of the latter
 * is where the block begins, while a fence is no part of its block. */
static bool message_blocks_is_fenced(cmark_node *node, const char *opening)
{
    const char *code = cmark_node_get_literal(node);
    const size_t width = strcspn(opening, "\n");

    if (*cmark_node_get_fence_info(node))
        return true;
    if (*opening != '`' && *opening != '~')
        return false;
    return strcspn(code, "\n") != width || strncmp(code, opening, width) != 0;
}

static json_t *message_blocks_describe(cmark_node *node)
{
    const char *info = cmark_node_get_fence_info(node);
    size_t length;
    const char *language = code_fence_language(info, strlen(info), &length);

    return json_pack("{s:s%, s:s}", "language", language, length, //
                     "code", cmark_node_get_literal(node));
}

json_t *message_blocks_read(const char *message, size_t length)
{
    size_t unified = 0;
    char *text = message_blocks_unify_lines(message, length, &unified);
    cmark_node *document = cmark_parse_document(text, unified, CMARK_OPT_VALIDATE_UTF8);
    cmark_iter *nodes = cmark_iter_new(document);
    struct message_line line = {text, text + unified, 1};
    json_t *ret = json_array();

    while (cmark_iter_next(nodes) != CMARK_EVENT_DONE) {
        cmark_node *node = cmark_iter_get_node(nodes);

        if (cmark_node_get_type(node) == CMARK_NODE_CODE_BLOCK &&
            message_blocks_is_fenced(node, message_blocks_seek(&line, node)))
            json_array_append_new(ret, message_blocks_describe(node));
    }
    cmark_iter_free(nodes);
    cmark_node_free(document);
    free(text);
    return ret;
}
