"""The operator's tools, as functions.

    from tools import github
    issues = github.search_issues(query="crash", per_page=50)

A tool is an attribute of its server, or an item: tools["my-server"]["odd.name"].

    github.search_issues.aio(query="crash")             a coroutine
    tools.map(github.get_issue, numbers, parallel=8)    several calls at once, in the order of the list
    tools.call("github.search_issues", {"query": "crash"}, timeout=10)
    tools.search("issues")                              the tools that fit, best first
    tools.help("github.search_issues")                  prints what is known of a tool, a server or all

A result is the structured content of the tool, else its text (parsed, if that is a JSON object or array), else a Media
with save(), or a list of these. A failure is a ToolError: Denied, Timeout, Unavailable, LimitReached, or what the tool
itself has said.
"""

import json as _json
import os as _os
import select as _select
import sys as _sys
import threading as _threading
import time as _time

_AT_ONCE = 8  # calls of all processes together; more wait here
_LIST_SECONDS = 60
_SHOWN = 40  # signatures that help() shows
_META = {
    "io.modelcontextprotocol/protocolVersion": "2026-07-28",
    "io.modelcontextprotocol/clientCapabilities": {},
    "io.modelcontextprotocol/clientInfo": {"name": "tools", "version": "1"},
}
_FAILURE = "pyexecd/failure"  # in the _meta of a result: why there is none


class ToolError(Exception):
    """A call has failed. `tool` is its name, `content` what the tool has answered."""

    def __init__(self, message="", tool=None, content=None):
        super().__init__(message)
        self.tool = tool
        self.content = content


class Denied(ToolError):
    """The operator, or a person who was asked, does not allow the call."""


class Timeout(ToolError):
    """There was no answer in time."""


class Unavailable(ToolError):
    """The server of the tool cannot be reached."""


class LimitReached(ToolError):
    """This run has used up its calls, or what they may return."""


_KINDS = {"denied": Denied, "timeout": Timeout, "unavailable": Unavailable, "limit": LimitReached}


class Media:
    """A picture, a sound or another file: `data` has its bytes."""

    def __init__(self, data, mime_type=None, uri=None):
        self.data = data
        self.mime_type = mime_type or "application/octet-stream"
        self.uri = uri

    def save(self, path=None):
        """Writes the file and returns its path; without a path it gets a free name here."""
        if path is None:
            path = self._free_name()
        with open(path, "wb") as file:
            file.write(self.data)
        return path

    def _free_name(self):
        import mimetypes

        kind = self.mime_type.partition(";")[0]
        ending = mimetypes.guess_extension(kind) or ".bin"
        stem = {"image": "picture", "audio": "sound"}.get(kind.partition("/")[0], "file")
        number = 1
        while _os.path.lexists(f"{stem}-{number}{ending}"):
            number += 1
        return f"{stem}-{number}{ending}"

    def __repr__(self):
        return f"<{self.mime_type}, {len(self.data)} bytes>"

    def _repr_mimebundle_(self, include=None, exclude=None):
        import base64

        return {self.mime_type: base64.b64encode(self.data).decode()}


def _frame(message):
    text = _json.dumps(dict(message, jsonrpc="2.0"), allow_nan=False, default=_plain)
    return b"\n%s\n" % text.encode("utf-8", "replace")


class _Reply:
    """A request that waits for its answer."""

    def __init__(self):
        self.message = None
        self.failure = None

    def is_there(self):
        return self.message is not None or self.failure is not None


class _Connection:
    """The socket to the server, for all threads of this process, and for its forks in turn.

    One of the threads that wait reads for all of them. Of several processes that share the socket, one has it as long as
    it waits for answers; the kernel gives it to the next when that one ends. Whatever one of them has left of a line is
    skipped: frames are enclosed in line ends, and an answer counts only for the request with its id.
    """

    def __init__(self, descriptor):
        self.descriptor = descriptor
        self.begin()
        _os.register_at_fork(after_in_child=self.begin)

    def begin(self):
        """In this process nothing waits."""
        self.process = _os.getpid()
        self.changed = _threading.Condition()
        self.writing = _threading.Lock()
        self.places = _threading.BoundedSemaphore(_AT_ONCE)
        self.waiting = {}
        self.is_reading = False
        self.is_ours = False  # the socket, among processes
        self.users = set()  # what is asked
        self.count = 0
        self.mark = _os.urandom(6).hex()
        self.rest = []  # of a line

    def ask(self, method, params, seconds=None, reply=None):
        """The result of a request, which is cancelled after SECONDS, or by cancel(REPLY)."""
        if self.process != _os.getpid():
            self.begin()
        reply = reply or _Reply()
        deadline = None if seconds is None else _time.monotonic() + seconds
        if not self.places.acquire(timeout=_left(deadline)):
            raise Timeout("8 other calls wait for their answers")
        try:
            self.enter(reply, deadline)
            return self.exchange(method, params, deadline, reply)
        finally:
            self.leave(reply)
            self.places.release()

    def enter(self, reply, deadline):
        pause = 0.001
        while True:
            with self.changed:
                if self.is_ours or self.lock():
                    self.users.add(reply)
                    return
            if _left(deadline) == 0:
                raise Timeout("another process waits for its answers")
            _time.sleep(pause)
            pause = min(2 * pause, 0.02)

    def leave(self, reply):
        with self.changed:
            self.users.discard(reply)
            if self.is_ours and not self.users:
                self.is_ours = False
                self.lock(is_taken=False)

    def lock(self, is_taken=True):
        """A lock of a process, which a fork does not inherit."""
        import fcntl

        try:
            fcntl.lockf(self.descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB if is_taken else fcntl.LOCK_UN)
        except (BlockingIOError, PermissionError):
            return False
        except OSError as error:
            raise Unavailable(f"there is no way to the tools any more: {error.strerror}") from None
        self.is_ours = is_taken
        self.rest = []
        return True

    def exchange(self, method, params, deadline, reply):
        with self.changed:
            self.count += 1
            key = f"{self.mark}-{self.count}"
        frame = _frame({"id": key, "method": method, "params": dict(params, _meta=_META)})
        is_over = False
        try:
            with self.changed:
                self.waiting[key] = reply
            self.send(frame)
            is_over = self.wait(reply, deadline)
        finally:  # an interrupt may have come before it was sent, or at any moment behind that
            with self.changed:
                self.waiting.pop(key, None)
            if not is_over or reply.failure:
                self.cancel_request(key)
        if not is_over:
            raise Timeout("there was no answer in time")
        if reply.failure:
            raise reply.failure
        if "error" in reply.message:
            raise ToolError(str((reply.message["error"] or {}).get("message", "the request was refused")))
        return reply.message.get("result") or {}

    def cancel(self, reply):
        """Who waits for REPLY waits no longer."""
        with self.changed:
            reply.failure = reply.failure or ToolError("cancelled")
            self.changed.notify_all()

    def cancel_request(self, key):
        try:
            self.send(_frame({"method": "notifications/cancelled", "params": {"requestId": key}}))
        except Unavailable:
            pass

    def send(self, frame):
        data = memoryview(frame)
        with self.writing:
            try:
                while data:
                    data = data[_os.write(self.descriptor, data) :]
            except OSError as error:
                raise Unavailable(f"there is no way to the tools any more: {error.strerror}") from None

    def wait(self, reply, deadline):
        """True when the answer is there, False at the deadline."""
        while True:
            is_mine = False
            try:
                with self.changed:
                    while self.is_reading and not reply.is_there():
                        if not self.changed.wait(_left(deadline)) and _left(deadline) == 0:
                            return False
                    if reply.is_there():
                        return True
                    is_mine = self.is_reading = True
                self.read(reply, deadline)
            finally:
                if is_mine:
                    self.stop_reading()
            if not reply.is_there() and _left(deadline) == 0:
                return False

    def stop_reading(self):
        with self.changed:
            self.is_reading = False
            self.changed.notify_all()

    def read(self, reply, deadline):
        """Reads for all threads until REPLY is there, at most until the deadline. It looks up now and then: REPLY may be
        cancelled meanwhile."""
        poll = _select.poll()
        poll.register(self.descriptor, _select.POLLIN)
        while not reply.is_there():
            left = _left(deadline)
            if left == 0:
                return
            if not poll.poll(50 if left is None else min(50, int(left * 1000) + 1)):
                continue
            try:
                data = _os.read(self.descriptor, 1 << 16)
            except OSError as error:
                data = b""
                reason = error.strerror
            else:
                reason = "the server has closed it"
            if not data:
                self.fail(f"there is no way to the tools any more: {reason}")
                return
            self.take(data)

    def take(self, data):
        lines = data.split(b"\n")
        self.rest.append(lines[0])
        for line in lines[1:]:
            self.take_line(b"".join(self.rest))
            self.rest = [line]

    def take_line(self, line):
        try:
            message = _json.loads(line)
        except ValueError:
            return
        if not isinstance(message, dict) or not ("result" in message or "error" in message):
            return
        with self.changed:
            reply = self.waiting.get(message.get("id")) if isinstance(message.get("id"), str) else None
            if reply:
                reply.message = message
                self.changed.notify_all()

    def fail(self, text):
        with self.changed:
            for reply in self.waiting.values():
                reply.failure = reply.failure or Unavailable(text)


def _left(deadline):
    return None if deadline is None else max(0, deadline - _time.monotonic())


def _plain(value):
    """What JSON has for a VALUE of another library, such as a number or an array of numpy."""
    for name in ("tolist", "isoformat", "__fspath__"):
        if hasattr(value, name):
            return getattr(value, name)()
    if isinstance(value, (set, frozenset)):
        return sorted(value, key=repr)
    raise TypeError(f"an argument has a {type(value).__name__}, which JSON does not have")


# Results


def _part(block):
    import base64

    kind = block.get("type")
    if kind == "text":
        return block.get("text", "")
    if kind in ("image", "audio"):
        return Media(base64.b64decode(block.get("data", "")), block.get("mimeType"))
    resource = block.get("resource") or {}
    if kind == "resource" and "text" in resource:
        return resource["text"]
    if kind == "resource" and "blob" in resource:
        return Media(base64.b64decode(resource["blob"]), resource.get("mimeType"), resource.get("uri"))
    return block  # a link


def _parsed(text):
    if text.lstrip()[:1] in ("{", "["):
        try:
            return _json.loads(text)
        except (ValueError, RecursionError):
            pass
    return text


def _value(result, tool):
    try:
        content = [_part(block) for block in result.get("content") or ()]
    except (AttributeError, TypeError, ValueError):
        raise Unavailable(f"{tool}: it answers with something that is no result", tool, result["content"]) from None
    if result.get("isError"):
        text = "\n".join(part for part in content if isinstance(part, str)) or "the call has failed"
        kind = _KINDS.get((result.get("_meta") or {}).get(_FAILURE), ToolError)
        raise kind(f"{tool}: {text}", tool, content)
    if result.get("structuredContent") is not None:
        return result["structuredContent"]
    if len(content) == 1:
        return _parsed(content[0]) if isinstance(content[0], str) else content[0]
    return content or None


# Signatures

_TYPES = {"string": "str", "integer": "int", "number": "float", "boolean": "bool", "array": "list", "object": "dict",
          "null": "None"}
_CLASSES = {"string": str, "boolean": bool, "array": (list, tuple, set, frozenset), "object": dict, "null": type(None)}


def _type_text(schema, depth=0):
    """A SCHEMA as an annotation of Python; "Any" when it says nothing of the type."""
    if not isinstance(schema, dict) or depth > 4:
        return "Any"
    if "const" in schema:
        return repr(schema["const"])
    if isinstance(schema.get("enum"), list):
        return " | ".join([repr(each) for each in schema["enum"][:12]] + ["..."] * (len(schema["enum"]) > 12)) or "Any"
    choices = schema.get("anyOf") or schema.get("oneOf")
    if isinstance(choices, list):
        return " | ".join(dict.fromkeys(_type_text(each, depth + 1) for each in choices)) or "Any"
    kinds = schema.get("type")
    kinds = kinds if isinstance(kinds, list) else [kinds]
    return " | ".join(_one_type(kind, schema, depth) for kind in kinds) or "Any"


def _one_type(kind, schema, depth):
    if kind == "array" and isinstance(schema.get("items"), dict):
        item = _type_text(schema["items"], depth + 1)
        return "list" if item == "Any" else f"list[{item}]"
    return _TYPES.get(kind, "Any") if isinstance(kind, str) else "Any"


def _fits(value, schema):
    """Whether the type of VALUE, as far as the outermost SCHEMA tells. The server checks all of it."""
    kinds = schema.get("type")
    if kinds is None or hasattr(value, "tolist"):
        return True
    for kind in kinds if isinstance(kinds, list) else [kinds]:
        if kind in ("integer", "number"):
            is_number = isinstance(value, (int, float)) and not isinstance(value, bool)
            if is_number and (kind == "number" or value == value // 1):
                return True
        elif kind == "string" and (hasattr(value, "isoformat") or hasattr(value, "__fspath__")):
            return True
        elif kind not in _CLASSES or isinstance(value, _CLASSES[kind]):
            return True
    return False


def _nearest(name, names):
    import difflib

    folded = {_folded(each): each for each in names}
    found = difflib.get_close_matches(_folded(name), folded, 1)
    return folded[found[0]] if found else None


def _folded(name):
    """NAME as an attribute can be called."""
    return "".join(letter if letter.isalnum() else "_" for letter in name).lower()


def _hint(name, names):
    near = _nearest(name, names)
    return f"; did you mean {near!r}?" if near else ""


def _word(name):
    return name if name.isidentifier() else repr(name)


def _sentence(text):
    """The first sentence of the TEXT of a server, on one line; invisible characters are named."""
    import re

    text = " ".join(re.split(r"\n\s*\n|(?<=[.!?])\s+(?![a-z])", text.strip())[0].split())[:200]
    return "".join(letter if letter.isprintable() else f"<U+{ord(letter):04X}>" for letter in text)


class _Tool:
    def __init__(self, definition):
        self._name = definition["name"]
        self._schema = definition.get("inputSchema") or {}
        self._output = definition.get("outputSchema")
        self._text = definition.get("description") or definition.get("title") or ""
        self._properties = {name: schema if isinstance(schema, dict) else {}
                            for name, schema in (self._schema.get("properties") or {}).items()}
        required = self._schema.get("required") or []
        self._required = [name for name in self._properties if name in required]
        self._order = [*self._required, *(name for name in self._properties if name not in required)]
        self.__name__ = self._name.partition(".")[2]
        self.__qualname__ = self._name
        self.__doc__ = self._describe()

    def __call__(self, /, *values, **arguments):
        return _unnoticed(_call, self, self._bind, values, arguments)

    async def aio(self, /, *values, **arguments):
        """The same as a coroutine; to cancel it cancels the call."""
        import asyncio

        given = _unnoticed(self._bind, values, arguments)
        loop, reply = asyncio.get_running_loop(), _Reply()
        future = loop.create_future()

        def settle(set_end, end):
            if not future.done():
                set_end(end)

        def work():
            try:
                end = future.set_result, _ask(self, given, None, reply)
            except BaseException as error:
                end = future.set_exception, error
            try:
                loop.call_soon_threadsafe(settle, *end)
            except RuntimeError:  # the loop is closed
                pass

        _threading.Thread(target=work, daemon=True).start()
        try:
            return await future
        except asyncio.CancelledError:
            _connection.cancel(reply)
            raise

    def _bind(self, values, arguments):
        """The arguments to send; TypeError with the signature when they cannot be right."""
        given = dict(zip(self._order, values))
        twice = [name for name in arguments if name in given]
        if len(values) > len(self._order) or twice:
            self._refuse(f"got {twice[0]!r} twice" if twice else f"takes {len(self._order)} arguments, not {len(values)}")
        given.update(arguments)
        for name in list(given):
            self._check(name, given)
        missing = [name for name in self._required if name not in given]
        if missing:
            self._refuse("lacks " + ", ".join(repr(name) for name in missing))
        return given

    def _check(self, name, given):
        schema, value = self._properties.get(name), given[name]
        if schema is None:
            if not self._takes_others():
                self._refuse(f"has no argument {name!r}" + _hint(name, self._properties))
        elif value is None and name not in self._required:
            del given[name]  # as if it had been left out
        elif not _fits(value, schema):
            self._refuse(f"takes {_type_text(schema)} as {name!r}, not {type(value).__name__}")
        elif isinstance(schema.get("enum"), list) and value not in schema["enum"]:
            near = _hint(value, [each for each in schema["enum"] if isinstance(each, str)]) if isinstance(value, str) else ""
            self._refuse(f"takes {_type_text(schema)} as {name!r}, not {value!r}{near}")

    def _takes_others(self):
        return bool(self._schema.get("additionalProperties") or self._schema.get("patternProperties")
                    or not self._properties and "additionalProperties" not in self._schema)

    def _refuse(self, text):
        raise TypeError(f"{self._name} {text}\n  {self._line()}")

    def _line(self):
        parts = []
        for name in self._order:
            schema = self._properties[name]
            part = f"{_word(name)}: {_type_text(schema)}"
            if name not in self._required:
                part += f" = {schema.get('default')!r}"
            parts.append(part)
        end = f" -> {_type_text(self._output)}" if isinstance(self._output, dict) else ""
        return f"{self._name}({', '.join(parts)}){end}"

    def _describe(self):
        lines = [self._line(), "", self._text] if self._text else [self._line()]
        told = [f"    {_word(name)}: {_sentence(schema['description'])}" for name, schema in self._properties.items()
                if isinstance(schema.get("description"), str)]
        return "\n".join([*lines, *([""] + told if told else [])])

    def _brief(self):
        text = " ".join(self._text.split())
        return self._line() + (f"\n    {text}" if text else "")

    @property
    def __signature__(self):
        import inspect

        parameters, has_default = [], False
        for name in self._order:
            if not name.isidentifier():
                continue
            default = inspect.Parameter.empty if name in self._required else self._properties[name].get("default")
            kind = inspect.Parameter.KEYWORD_ONLY if has_default else inspect.Parameter.POSITIONAL_OR_KEYWORD
            parameters.append(inspect.Parameter(name, kind, default=default, annotation=_type_text(self._properties[name])))
        return inspect.Signature(parameters)

    def __repr__(self):
        return f"<tool {self._line()}>"


class _Server:
    def __init__(self, name, reason=None):
        self._name = name
        self._reason = reason  # why it cannot be reached
        self._tools = {}

    def _look(self):
        if self._reason:
            raise Unavailable(f"{self._name}: {self._reason}")

    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)
        _unnoticed(self._look)
        found = self._tools.get(name) or _by_attribute(name, self._tools)
        if found is None:
            raise AttributeError(f"server {self._name!r} has no tool {name!r}" + _hint(name, self._tools))
        return found

    def __getitem__(self, name):
        _unnoticed(self._look)
        if name not in self._tools:
            raise KeyError(f"server {self._name!r} has no tool {name!r}" + _hint(name, self._tools))
        return self._tools[name]

    def __iter__(self):
        return iter(self._tools)

    def __len__(self):
        return len(self._tools)

    def __dir__(self):
        return [_folded(name) if not name.isidentifier() else name for name in self._tools]

    def _line(self):
        return f"{self._name}: {self._reason or f'{len(self)} tools'}"

    def __repr__(self):
        return f"<server {self._line()}>"


def _by_attribute(name, things):
    """The only one of THINGS whose name is NAME but for letters that no attribute has."""
    found = [thing for each, thing in things.items() if _folded(each) == name.lower()]
    return found[0] if len(found) == 1 else None


# The catalogue

_servers = {}


def _all():
    """The servers by name, as they were when they were asked for first."""
    if not _servers:
        _servers.update(_read_all())
    return _servers


def _read_all():
    found, params = {}, {}
    while True:
        page = _connection.ask("tools/list", params, _LIST_SECONDS)
        for definition in page.get("tools") or ():
            server, dot, name = definition["name"].partition(".")
            if dot:
                found.setdefault(server, _Server(server))._tools[name] = _Tool(definition)
            else:  # it stands for a server that cannot be reached
                found[server] = _Server(server, definition.get("description"))
        if not page.get("nextCursor"):
            return found
        params = {"cursor": page["nextCursor"]}


def _each():
    return [tool for server in _all().values() for tool in server._tools.values()]


def _find(name):
    server, _, rest = str(name).partition(".")
    found = _all()[server] if server in _all() else _by_attribute(server, _all())
    if found is not None:
        found._look()
    tool = None if found is None else found._tools.get(rest) or _by_attribute(rest, found._tools)
    if not tool:
        raise LookupError(f"there is no tool {name!r}" + _hint(str(name), [each._name for each in _each()]))
    return tool


# Calls


def _ask(tool, arguments, seconds=None, reply=None):
    try:
        result = _connection.ask("tools/call", {"name": tool._name, "arguments": arguments}, seconds, reply)
    except ToolError as error:
        if error.tool:
            raise
        raise type(error)(f"{tool._name}: {error}", tool._name) from None
    return _value(result, tool._name)


def _call(tool, bind, values, arguments, seconds=None):
    return _ask(tool, bind(values, arguments), seconds)


def _unnoticed(function, *args, **kwargs):
    """What FUNCTION returns; of an error the script does not see how it came about in here."""
    try:
        return function(*args, **kwargs)
    except Exception as error:
        failure = error
    raise failure.with_traceback(None) from failure.__cause__


def call(name, arguments=None, /, *, timeout=None):
    """Calls the tool NAME, "server.tool", with a dict of arguments. TIMEOUT is in seconds."""
    return _unnoticed(lambda: _call(_find(name), _find(name)._bind, (), dict(arguments or {}), timeout))


def map(function, items, /, *, parallel=8):
    """The results of FUNCTION for each of ITEMS, in their order, several at a time. A tool gets an item that is a dict as
    its arguments. The first error is raised when all that has begun is over."""
    waiting = list(enumerate(items))
    waiting.reverse()
    results, errors = [None] * len(waiting), {}

    def work():
        while waiting and not errors:
            try:
                number, item = waiting.pop()
            except IndexError:
                return
            try:
                is_named = isinstance(function, _Tool) and isinstance(item, dict)
                results[number] = function(**item) if is_named else function(item)
            except BaseException as error:
                errors[number] = error

    threads = [_threading.Thread(target=work, daemon=True) for _ in range(max(1, min(parallel, _AT_ONCE, len(waiting))))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if errors:
        raise errors[min(errors)]
    return results


class _Lines(list):
    def __str__(self):
        return "\n".join(self)

    __repr__ = __str__


def search(text, /, *, most=20):
    """The signatures of the tools whose names and descriptions have the words of TEXT, best first."""
    words = _folded(text).replace("_", " ").split()

    def rank(tool):
        name, told = _folded(tool._name), _folded(tool._text)
        return sum(3 * (word in name) + (word in told) for word in words)

    ranked = sorted(((rank(tool), tool) for tool in _unnoticed(_each)), key=lambda pair: -pair[0])
    return _Lines(tool._brief() for score, tool in ranked[:most] if score or not words)


def help(thing=None, /):
    """Prints what is known of a tool, a server (themselves, or their names), or of all."""
    print(_unnoticed(_help_text, thing))


def _help_text(thing):
    if isinstance(thing, str):
        thing = _all()[thing] if thing in _all() else _find(thing)
    if isinstance(thing, _Tool):
        return thing.__doc__
    chosen = list(thing._tools.values()) if isinstance(thing, _Server) else _each()
    servers = list(_all().values())
    if thing is None and len(chosen) > _SHOWN:
        return "\n".join([*(server._line() for server in servers),
                          "tools.search(\"...\") finds tools, tools.help(\"server\") shows those of a server."])
    lost = [server._line() for server in ([thing] if thing else servers) if server._reason]
    return "\n".join([*(tool._brief() for tool in chosen), *lost])


# The module


def _is_ours(trace):
    return trace.tb_frame.f_globals is globals()


def _without_us(trace):
    while trace is not None and _is_ours(trace):
        trace = trace.tb_next
    if trace is not None:
        trace.tb_next = _without_us(trace.tb_next)
    return trace


def _show_error(kind, error, trace):
    """A traceback ends where the script has called a tool."""
    if trace is not None and isinstance(error, Exception) and not _is_ours(trace):
        trace = _without_us(trace)
        error = error.with_traceback(trace)
    _shown_before(kind, error, trace)


class _Module(type(_sys)):
    def __getattr__(self, name):
        if name.startswith("_"):
            raise AttributeError(f"module 'tools' has no attribute {name!r}")
        servers = _unnoticed(_all)
        found = servers[name] if name in servers else _by_attribute(name, servers)
        if found is None:
            raise AttributeError(f"there is no server {name!r}" + _hint(name, _all()))
        return found

    def __getitem__(self, name):
        servers = _unnoticed(_all)
        if name not in servers:
            raise KeyError(f"there is no server {name!r}" + _hint(str(name), servers))
        return servers[name]

    def __iter__(self):
        return iter(_unnoticed(_all))

    def __dir__(self):
        return [*(name for name in vars(self) if not name.startswith("_")), *_all()]


_connection = _Connection(_descriptor)  # noqa: F821 - who loads this has put it there
_sys.modules[__name__].__class__ = _Module
_shown_before, _sys.excepthook = _sys.excepthook, _show_error
