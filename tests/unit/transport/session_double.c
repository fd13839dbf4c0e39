#include "tests/unit/transport/session_double.h"

#include "base/memory.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct session_double session_double;

void session_double_reset(void)
{
    assert(session_double.live == 0);
    session_double = (struct session_double){0};
}

static void answer(struct session *session, const char *text)
{
    session->sink->send(session->sink, text, strlen(text), true, 0);
}

void session_double_answer(const char *text)
{
    assert(session_double.session->call_count > 0);
    answer(session_double.session, text); /* the call is not over yet, as in the real one */
    session_double.session->call_count--;
}

void session_init(struct session *session, struct mcp_server *server,
                  const struct mcp_peer_settings *settings, struct sink *sink)
{
    (void)server;
    *session = (struct session){.sink = sink};
    snprintf(session_double.principal, sizeof(session_double.principal), "%s", settings->principal);
    session_double.session = session;
    session_double.live++;
}

void session_deinit(struct session *session)
{
    session_double.cancelled += session->call_count;
    session->call_count = 0;
    if (session->sink)
        session_double.live--;
    session->sink = NULL; /* counted once */
    if (session_double.session == session)
        session_double.session = NULL;
}

static void fill(struct session *session, size_t count)
{
    char *text = memory_new(count, 1);

    memset(text, 'f', count);
    session->sink->send(session->sink, text, count, true, 0);
    free(text);
}

void session_receive(struct session *session, char *text, size_t length)
{
    size_t kept = length < sizeof(session_double.last_line) ? length : 0;
    char line[sizeof(session_double.last_line)] = {0};

    memcpy(line, text, kept);
    memcpy(session_double.last_line, line, sizeof(line));
    session_double.last_length = length;
    session_double.lines++;
    memset(text, 'X', length); /* it is ours */
    if (strncmp(line, "echo ", 5) == 0)
        answer(session, line + 5);
    else if (strncmp(line, "fill ", 5) == 0)
        fill(session, strtoul(line + 5, NULL, 10));
    else if (strcmp(line, "call") == 0)
        session->call_count++;
}

void session_refuse_line(struct session *session, size_t limit)
{
    char text[64];

    session_double.refused++;
    snprintf(text, sizeof(text), "longer than %zu", limit);
    answer(session, text);
}

bool session_is_idle(const struct session *session)
{
    return session->call_count == 0;
}

void session_set_slow(struct session *session, bool slow)
{
    session->peer.slow = slow;
}

void session_conclude(struct session *session)
{
    (void)session;
}
