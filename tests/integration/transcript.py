"""Transcripts: what is said and what must be answered, in files that need no code.

A file in tests/transcripts has a few lines about itself, then cases:

    # a comment
    % server fixture            "any" (the program and the fixture), "fixture" or "pyexecd"
    % revisions 2024-11-05 none the revisions it is run at; none: without a handshake

    = a name for the case       what follows belongs to it; runs on a connection that has done
                                the handshake of the revision
    -> {"jsonrpc": ...          a line sent as it stands
    -> b"\\xff" + b"[" * 1000    bytes, as a Python expression of literals, + and *
    <- {"jsonrpc": ...          the next message: equal as JSON
    <? {"jsonrpc": ...          one of neighbouring messages that may come in any order

A case whose answers end earlier than the server's fails, for it is followed by a ping that must be
answered next. After `=`, `->`, `<-` and `<?` a revision may be asked for; the line is skipped at
others: @legacy, @modern, @since=2025-11-25, @until=2025-06-18, @only=2025-03-26. After `=` also:

    @stream    not over HTTP, where each message has a head of its own
    @session   not over HTTP at the modern revision, whose requests know nothing of each other

In a line these words are replaced:

    $meta      "_meta":{...} as a request of the revision must have it
    $+         the members of that object with a comma behind, or nothing
    $complete  what every result has at the end: resultType and _meta, with a comma before, or nothing
    $cached    the same for a result that may be cached

In an expected message "$any" fits any value, "text$any" any string that begins so, a member
"...": "..." any further members, and an element "..." at the end of an array any further elements.
"""

import ast
import json
import pathlib

import client
import http_peer
import wire

FOLDER = wire.SOURCE_ROOT / "tests" / "transcripts"
NONE = "none"

META = json.dumps(client.modern_meta())
COMPLETE = ',"resultType":"complete","_meta":{"io.modelcontextprotocol/serverInfo":"$any"}'
CACHED = ',"ttlMs":300000,"cacheScope":"public"' + COMPLETE


class Step:
    """One line of a case."""

    def __init__(self, kind, conditions, text, place):
        self.kind = kind  # "->", "<-" or "<?"
        self.conditions = conditions
        self.text = text
        self.place = place

    def data(self, revision):
        """The bytes to send."""
        if self.text.startswith(("b'", 'b"')):
            return _evaluate(ast.parse(self.text, mode="eval").body)
        return _replace_words(self.text, revision).encode()

    def expected(self, revision):
        return json.loads(_replace_words(self.text, revision))


class Case:
    def __init__(self, transcript, name, conditions):
        self.transcript = transcript
        self.name = name
        self.conditions = conditions
        self.steps = []

    def runs_over(self, transport, revision):
        if transport != "http":
            return True
        if "stream" in self.conditions or revision == NONE:
            return False
        return revision != wire.MODERN or "session" not in self.conditions and \
            not any(map(_depends_on_others, self.steps_at(revision)))

    def steps_at(self, revision):
        return [step for step in self.steps if _applies(step.conditions, revision)]


def _depends_on_others(step):
    """True for a request that does not say its revision, though it is the modern one."""
    try:
        message = json.loads(step.data(wire.MODERN)) if step.kind == "->" else None
    except (ValueError, RecursionError):
        return False
    return isinstance(message, dict) and "method" in message and "id" in message and \
        http_peer.claimed_version(message) is None


class Transcript:
    def __init__(self, path):
        self.name = path.stem
        self.server = "any"
        self.revisions = client.REVISIONS
        self.cases = []
        for number, line in enumerate(path.read_text().splitlines(), 1):
            self._add_line(line, f"{path.name}:{number}")
        names = [case.name for case in self.cases]
        assert len(names) == len(set(names)), f"{path.name}: a name is used twice"

    def _add_line(self, line, place):
        if not line.strip() or line.startswith("#"):
            return
        kind, _, rest = line.partition(" ")
        conditions, text = _split_conditions(rest.strip())
        if kind == "%":
            self._set(*text.split(), place=place)
        elif kind == "=":
            self.cases.append(Case(self, text, conditions))
        elif kind in ("->", "<-", "<?"):
            self.cases[-1].steps.append(Step(kind, conditions, text, place))
        else:
            raise ValueError(f"{place}: what is {kind!r}?")

    def _set(self, key, *values, place):
        if key == "server":
            (self.server,) = values
        elif key == "revisions":
            self.revisions = list(values)
        else:
            raise ValueError(f"{place}: what is {key!r}?")

    def cases_at(self, revision, transport):
        return [case for case in self.cases
                if _applies(case.conditions, revision) and case.runs_over(transport, revision)]


def load_all():
    return [Transcript(path) for path in sorted(FOLDER.glob("*.jsonl"))]


def _split_conditions(text):
    conditions = []
    while text.startswith("@"):
        condition, _, text = text.partition(" ")
        conditions.append(condition[1:])
    return conditions, text


def _applies(conditions, revision):
    return all(_holds(condition, revision) for condition in conditions)


def _holds(condition, revision):
    word, _, bound = condition.partition("=")
    return {"stream": True, "session": True, "legacy": revision != wire.MODERN, "modern": revision == wire.MODERN,
            "since": revision >= bound, "until": revision <= bound,
            "only": revision == bound}[word]


def _replace_words(text, revision):
    modern = revision == wire.MODERN
    words = {"$meta": '"_meta":' + (META if modern else "{}"),
             "$+": META[1:-1] + "," if modern else "",
             "$complete": COMPLETE if modern else "",
             "$cached": CACHED if modern else ""}
    for word, replacement in words.items():
        text = text.replace(word, replacement)
    return text


def _evaluate(node):
    """The value of an expression of literals, + and *."""
    if isinstance(node, ast.Constant):
        return node.value
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add):
        return _evaluate(node.left) + _evaluate(node.right)
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Mult):
        return _evaluate(node.left) * _evaluate(node.right)
    raise ValueError(f"not a literal: {ast.dump(node)}")


# Comparing

ANY = "$any"


def fits(expected, got):
    """True when GOT is what EXPECTED describes; 1, 1.0 and true are three different things."""
    if expected == ANY:
        return True
    if isinstance(expected, str) and expected.endswith(ANY):
        return isinstance(got, str) and got.startswith(expected.removesuffix(ANY))
    if type(expected) is not type(got):
        return False
    if isinstance(expected, dict):
        return _object_fits(expected, got)
    if isinstance(expected, list):
        return _array_fits(expected, got)
    return expected == got


def _array_fits(expected, got):
    if expected[-1:] == ["..."]:
        expected = expected[:-1]
        got = got[:len(expected)]
    return len(expected) == len(got) and all(map(fits, expected, got))


def _object_fits(expected, got):
    named = {key for key in expected if key != "..."}
    if named - got.keys() or ("..." not in expected and got.keys() - named):
        return False
    return all(fits(expected[key], got[key]) for key in named)


# Running

SENTINEL = {"jsonrpc": "2.0", "id": "sentinel", "method": "ping"}


def run(case, connection, revision):
    """Runs CASE on CONNECTION, which has done the handshake. AssertionError says what is wrong. Over HTTP an answer and
    news come over streams of their own, in any order."""
    steps = case.steps_at(revision)
    unordered = ("<?", "<-") if connection.http else ("<?",)
    while steps:
        if steps[0].kind == "->":
            connection.send_line(steps.pop(0).data(revision), timeout=60)
            continue
        count = 1
        if steps[0].kind in unordered:
            count = next((i for i, step in enumerate(steps) if step.kind not in unordered), len(steps))
        _expect(steps[:count], connection, revision)
        del steps[:count]
    if connection.http:
        _expect_nothing_over_http(connection)
    else:
        _expect_nothing(connection)


def _expect_nothing(connection):
    connection.send(SENTINEL)
    answer = connection.receive_any()
    assert answer == {"jsonrpc": "2.0", "id": "sentinel", "result": {}}, \
        f"nothing more was expected, but there came {_show(answer)}"


def _expect_nothing_over_http(connection):
    """Every response is complete, but for the session's own stream, and no message is left."""
    for exchange in connection.http.exchanges:
        if exchange is connection.http.stream:
            exchange.read_some()
        else:
            exchange.wait()
        answer = exchange.take()
        assert answer is None, f"nothing more was expected, but there came {_show(answer)}"


def _expect(steps, connection, revision):
    """As many messages as there are STEPS, in any order."""
    left = list(steps)
    while left:
        try:
            got = connection.receive_any()
        except (TimeoutError, EOFError) as problem:
            raise AssertionError(f"{left[0].place}: {problem}") from None
        found = next((step for step in left if fits(step.expected(revision), got)), None)
        assert found, "\n".join([
            f"{left[0].place}: unexpected answer", f"  got      {_show(got)}",
            *(f"  expected {_show(step.expected(revision))}" for step in left)])
        left.remove(found)


def _show(message):
    return json.dumps(message, ensure_ascii=False)[:2000]
