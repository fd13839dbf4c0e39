/* Input: a digit for the revision that was negotiated (0: none), then lines, as a session receives
 * them; 32 zeros stand for the id of the last task. Whatever they are, each message that comes back
 * is JSON on one line, and an id in it is null or one that was sent (as far as a plain parser can
 * tell); at the end nothing is left over. A line is read as a plain parser reads it, or refused as
 * by it. */
#undef NDEBUG
#include "base/json.h"
#include "base/list.h"
#include "base/memory.h"
#include "base/protocol/message.h"
#include "base/protocol/scan.h"
#include "server/jsonrpc/session.h"
#include "server/mcp/server.h"
#include "server/tools/registry.h"
#include "tests/fixture/tools.h"

#include <assert.h>
#include <jansson.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum { TASK_DIGITS = 32 };

static const char ANY_TASK[] = "00000000000000000000000000000000";

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

struct peer {
    struct sink sink;
    struct session session;
    const char *input; /* everything that is sent */
    size_t input_length;
    json_t *ids;                /* of the messages in it that a plain parser can read */
    bool is_unreadable;         /* the line at hand, for a plain parser */
    char task[TASK_DIGITS + 1]; /* the id of the last */
};

/* DIGITS stand for an id that no parser reads: they must stand in the input, too. */
static bool was_sent(const struct peer *peer, const json_t *id, const char *digits)
{
    json_t *sent;
    size_t i;

    if (peer->is_unreadable)
        return true;
    if (digits)
        return memmem(peer->input, peer->input_length, digits, strlen(digits));
    json_array_foreach (peer->ids, i, sent) {
        if (json_equal(sent, id))
            return true;
    }
    return false;
}

static void check_message(const struct peer *peer, const json_t *message, const char *digits)
{
    const json_t *id = json_object_get(message, "id");

    assert(json_is_object(message));
    if (json_object_get(message, "method"))
        assert(!id || json_is_integer(id)); /* what the client is asked has ids of ours */
    else
        assert(id && (json_is_null(id) || was_sent(peer, id, digits)));
}

static void note_task(struct peer *peer, const char *text)
{
    static const char BEFORE[] = "\"taskId\":\"";
    const char *place = strstr(text, BEFORE);

    if (place && strcspn(place + strlen(BEFORE), "\"") == TASK_DIGITS)
        memcpy(peer->task, place + strlen(BEFORE), TASK_DIGITS);
}

static void check(struct sink *sink, const char *text, size_t length, bool last,
                  enum error_code code)
{
    struct peer *peer = CONTAINER_OF(sink, struct peer, sink);
    AUTO_FREE char *copy = memory_format("%.*s", (int)length, text);
    AUTO(scan_deinit) struct scan scan = {0};
    AUTO_JSON json_t *message = NULL;
    struct error err = ERROR_INIT;
    json_t *member;
    size_t i;

    assert(strlen(copy) == length && !strpbrk(copy, "\n\r"));
    assert(scan_text(&scan, copy, length, &err) == 0);
    message = json_loadb(copy, length, JSON_ALLOW_NUL | JSON_REJECT_DUPLICATES, NULL);
    assert(message);
    assert(last == !json_object_get(message, "method"));
    note_task(peer, copy);
    if (json_is_object(message))
        check_message(peer, message, scan_find(&scan, 0, SCAN_ID));
    json_array_foreach (message, i, member) {
        assert(code == 0 && !json_object_get(member, "method"));
        check_message(peer, member, scan_find(&scan, i, SCAN_ID));
    }
}

static void note_ids(struct peer *peer, const json_t *message)
{
    json_t *member;
    size_t i;

    json_array_append(peer->ids, json_object_get(message, "id"));
    json_array_foreach (message, i, member) {
        json_array_append(peer->ids, json_object_get(member, "id"));
    }
}

/* A copy of TEXT that is just as long, so that a read beyond it is seen. */
static char *copy_of(const char *text, size_t length)
{
    return memcpy(memory_new(length, 1), text, length);
}

/* A copy of LINE that names the last task where it wants to. */
static char *with_task(const struct peer *peer, const char *line, size_t length)
{
    char *text = copy_of(line, length);
    char *place;

    while (*peer->task && (place = memmem(text, length, ANY_TASK, TASK_DIGITS)) != NULL)
        memcpy(place, peer->task, TASK_DIGITS);
    return text;
}

/* Long strings do not go through the parser. */
static void check_parsing(const char *line, size_t length)
{
    AUTO_FREE char *text = copy_of(line, length);
    AUTO_FREE char *readable = copy_of(line, length);
    AUTO(scan_deinit) struct scan scan = {0};
    AUTO(scan_deinit) struct scan other = {0};
    struct error err = ERROR_INIT;
    AUTO_JSON json_t *value = message_parse(text, length, &scan, &err);
    AUTO_JSON json_t *expected = NULL;

    error_clear(&err);
    if (scan_text(&other, readable, length, &err) == 0)
        expected = json_loadb(readable, length,
                              JSON_ALLOW_NUL | JSON_DECODE_ANY | JSON_REJECT_DUPLICATES, NULL);
    assert(!value == !expected && (!value || json_equal(value, expected)));
}

static void send_line(struct peer *peer, const char *line, size_t length)
{
    AUTO_FREE char *text = with_task(peer, line, length);
    AUTO_FREE char *readable = copy_of(text, length);
    AUTO_FREE char *copy = copy_of(text, length);
    AUTO(scan_deinit) struct scan scan = {0};
    AUTO_JSON json_t *message = NULL;
    struct error err = ERROR_INIT;

    if (scan_text(&scan, readable, length, &err) == 0)
        message = json_loadb(readable, length, JSON_ALLOW_NUL, NULL);
    note_ids(peer, message);
    peer->is_unreadable = !message;
    check_parsing(text, length);
    session_receive(&peer->session, copy, length);
    ev_run(EV_DEFAULT, EVRUN_NOWAIT); /* what has changed is told */
}

static void send_lines(struct peer *peer)
{
    const char *line = peer->input;
    const char *end = peer->input + peer->input_length;

    while (line < end) {
        const char *newline = memchr(line, '\n', (size_t)(end - line));
        size_t length = (size_t)((newline ? newline : end) - line);

        if (length > 0)
            send_line(peer, line, length);
        line += length + 1;
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct mcp_server server = {
        .loop = EV_DEFAULT, .name = "n", .version = "1", .registry = registry_new()};
    struct peer peer = {.sink = {.send = check}, .ids = json_array()};
    struct fixture fixture;

    mcp_server_init(&server);
    fixture_init(&fixture, server.registry);
    session_init(&peer.session, &server,
                 &(struct mcp_peer_settings){.principal = "fuzzer", .lasting = true}, &peer.sink);
    if (size > 0 && data[0] > '0' && data[0] < '0' + MCP_2026_07_28)
        peer.session.peer.negotiated = (enum mcp_version)(data[0] - '0');
    if (size > 0) {
        peer.input = (const char *)data + 1;
        peer.input_length = size - 1;
        send_lines(&peer);
    }
    session_deinit(&peer.session);
    assert(session_is_idle(&peer.session) && peer.session.call_count == 0);
    mcp_server_stop(&server);
    assert(peer.session.held_bytes == 0 && list_is_empty(&fixture.held));
    json_decref(peer.ids);
    mcp_server_deinit(&server);
    registry_free(server.registry);
    return 0;
}
