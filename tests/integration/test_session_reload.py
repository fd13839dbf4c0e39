"""Sessions that are older than the configuration: a new call in one is judged by the present configuration."""

import contextlib
import hashlib

import pytest

from client import RpcError, Server
from sessions import Session, call, text_of
from test_approval import ACCEPT, ELICITATION, Person
from test_reload import SYSTEM, TELL, generation, reload

DEFINE = {"define_environments": True}
TWO = {"environments": {"open": SYSTEM, "held": SYSTEM}, "default_environment": "held"}


@contextlib.contextmanager
def serve(**config):
    with Server("--log-level", "debug", config={"sessions": {}, **config}) as server:
        server.initialize()
        yield server


def manage(server, action, name=None):
    return server.call_tool("manage_sessions", {"action": action, **({"session": name} if name else {})})


def refusal(ask):
    """Why ASK() is refused, whichever way a refusal comes."""
    try:
        answer = ask()
    except RpcError as error:
        return str(error)
    assert answer["isError"], answer
    return text_of(answer)


def assert_refused(session, why, ways=("cell", "fork", "restart")):
    """SESSION is used no more, but it is there, and can be closed."""
    server = session.server
    asks = {"cell": lambda: call(server, "print('executed')", session.name),
            "fork": lambda: call(server, "print('executed')", fork=session.name),
            "restart": lambda: manage(server, "restart", session.name)}
    for way in ways:
        said = refusal(asks[way])
        assert why in said and session.name in said and "manage_sessions" in said, (way, said)
    assert text_of(manage(server, "list")).count("cells executed") >= 1
    assert session.name in text_of(manage(server, "list"))


def token_of(name):
    return name * 9


@contextlib.contextmanager
def serve_bob(tmp_path, **config):
    """A server, bob's connection to it, and a function that reloads it with other rights of bob."""
    tokens = tmp_path / "tokens"

    def write(options):
        tokens.write_text("".join(f"{name} sha256:{hashlib.sha256(token_of(name).encode()).hexdigest()} {more}\n"
                                  for name, more in (("alice", ""), ("bob", options))))
        tokens.chmod(0o600)

    write("")
    config = {"sessions": {}, "token_file": str(tokens), **config}
    with Server("--log-level", "debug", transport="tcp", config=config) as server:
        server.token = token_of("bob")

        def allow(options):
            write(options)
            reload(server, config)

        with contextlib.closing(server.connect()) as bob:
            bob.initialize()
            yield bob, allow


def test_who_may_not_use_an_environment_any_more_does_not_use_his_session_in_it(tmp_path):
    with serve_bob(tmp_path, **TWO) as (bob, allow):
        taken = Session(bob, "x = 1", environment="open")
        kept = Session(bob, "x = 2", environment="held")
        allow("environments=held")
        assert_refused(taken, 'you may not use environment "open"; you may use: held')
        assert kept.shown("x") == "2"
        allow("environments=held,open")
        assert taken.shown("x") == "1"
        allow("environments=held")
        assert "is closed" in text_of(manage(bob, "close", taken.name))


def test_who_may_not_define_environments_any_more_does_not_use_his_session_in_one(tmp_path):
    with serve_bob(tmp_path, **TWO, callers=DEFINE) as (bob, allow):
        session = Session(bob, "x = 1", environment_definition=SYSTEM)
        allow("environments=held")
        assert_refused(session, "you may not define environments; you may use: held")


def test_a_session_in_an_environment_that_is_gone_waits_for_it():
    with serve(**TWO) as server:
        session = Session(server, "x = 1", environment="open")
        reload(server, {"sessions": {}, "environments": {"held": SYSTEM}})
        assert_refused(session, 'there is no environment "open" any more')
        reload(server, {"sessions": {}, **TWO})
        assert session.shown("x") == "1"


@pytest.mark.parametrize("name", ["system", "inline"])  # what calls define is called "inline", too
def test_a_session_in_a_defined_environment_goes_on_only_while_calls_may_define_one(name):
    config = {"environments": {name: SYSTEM}, "sessions": {}, "callers": {"define_environments": False}}
    with serve(**{**config, "callers": DEFINE}) as server:
        session = Session(server, "x = 1", environment_definition=SYSTEM)
        configured = Session(server, "x = 2")
        reload(server, config)
        assert_refused(session, "this server lets no call define an environment")
        assert configured.shown("x") == "2"
        reload(server, {**config, "callers": DEFINE})
        assert session.shown("x") == "1"
        assert "new Python" in text_of(manage(server, "restart", session.name))
        assert session.shown("'x' in globals()") == "False"


def test_a_restart_gives_the_environment_of_today():
    with serve(**generation("old")) as server:
        session = Session(server, "x = 1\nopen('kept', 'w').close()")
        reload(server, generation("new", sessions={}))
        assert session.shown(TELL) == "old" and session.shown("x") == "1"
        assert "new Python" in text_of(manage(server, "restart", session.name))
        assert session.shown(TELL) == "new"
        assert session.shown("import os; 'x' in globals(), os.path.exists('kept')") == "(False, True)"


def test_a_restart_where_the_environment_has_another_isolation_is_refused():
    free = {"environments": {"system": {**SYSTEM, "isolation": "none"}}, "sessions": {}}
    with serve(**free) as server:
        session = Session(server, "x = 1")
        reload(server, {"environments": {"system": {**SYSTEM, "isolation": "sandbox"}}, "sessions": {}})
        said = refusal(lambda: manage(server, "restart", session.name))
        assert 'has isolation "sandbox" now' in said and "begin another one" in said
        reload(server, free)
        assert session.shown("x") == "1"


def test_a_restart_in_a_defined_environment_keeps_to_the_rules_of_today():
    python = {"type": "system", "executable": "/usr/bin/python3"}
    with serve(callers={**DEFINE, "allowed_paths": ["/usr"]}) as server:
        session = Session(server, "x = 1", environment_definition=python)
        assert "new Python" in text_of(manage(server, "restart", session.name))
        assert session.shown("x = 2; x") == "2"
        reload(server, {"sessions": {}, "callers": DEFINE})
        assert "callers.allowed_paths is empty" in refusal(lambda: manage(server, "restart", session.name))
        assert session.shown("x") == "2"


@pytest.mark.parametrize("where", [{}, {"environment_definition": SYSTEM}], ids=["configured", "defined"])
@pytest.mark.parametrize("began, now, asked", [
    ("never", "always", (True, True)),
    ("never", "first", (True, False)),
    ("first", "always", (True, True)),
    ("always", "never", (True, True)),
    ("never", "never", (False, False)),
])
def test_the_stricter_approval_counts(began, now, asked, where):
    config = {"sessions": {}, "callers": DEFINE}
    with Server("--log-level", "debug", config={**config, "approval": began}) as server:
        server.initialize("2025-11-25", ELICITATION)
        someone = Person(server, "2025-11-25")
        result, _ = someone.call({"code": "x = 1", "session": "new", **where}, *[ACCEPT] * (began != "never"))
        name = result["structuredContent"]["session"]["name"]
        reload(server, {**config, "approval": now})
        for is_asked in asked:
            result, _ = someone.call({"code": "print(x)", "session": name}, *[ACCEPT] * is_asked)
            assert result["structuredContent"]["stdout"] == "1\n"
        decline = [{"action": "decline"}] * asked[1]
        result, _ = someone.call({"code": "print(x)", "session": name}, *decline)
        assert result["isError"] == asked[1]
