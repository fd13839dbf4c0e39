"""Checks every message a server sends against the JSON Schema of its protocol revision.

The schemas lie beside the source tree, in ../shared/mcp-schema, and need the Python package
`jsonschema`. Where either is missing `UNAVAILABLE` says so, nothing is checked, and the test that
stands for this check is skipped with that reason.

What a tool returns is checked against the output schema under which it was last listed, as strict
clients do.
"""

import json
import os
import pathlib

try:
    import jsonschema
except ImportError:
    jsonschema = None

SOURCE_ROOT = pathlib.Path(os.environ.get("SOURCE_ROOT") or pathlib.Path(__file__).parents[2])
FOLDER = SOURCE_ROOT.parent / "shared" / "mcp-schema"

MODERN = "2026-07-28"
NEWEST_LEGACY = "2025-11-25"
SUBSCRIPTION_KEY = "io.modelcontextprotocol/subscriptionId"
VERSION_KEY = "io.modelcontextprotocol/protocolVersion"

RESULTS = {
    "initialize": "InitializeResult",
    "server/discover": "DiscoverResult",
    "ping": "EmptyResult",
    "logging/setLevel": "EmptyResult",
    "tools/list": "ListToolsResult",
    "tools/call": "CallToolResult",
    "resources/list": "ListResourcesResult",
    "resources/templates/list": "ListResourceTemplatesResult",
    "resources/read": "ReadResourceResult",
    "resources/subscribe": "EmptyResult",
    "resources/unsubscribe": "EmptyResult",
    "prompts/list": "ListPromptsResult",
    "prompts/get": "GetPromptResult",
    "completion/complete": "CompleteResult",
    "subscriptions/listen": "SubscriptionsListenResult",
}
INPUT_REQUIRED = "InputRequiredResult"
TASK_RESULTS = {  # 2025-11-25
    "tasks/get": "GetTaskResult",
    "tasks/result": "GetTaskPayloadResult",
    "tasks/cancel": "CancelTaskResult",
    "tasks/list": "ListTasksResult",
}
NOTIFICATIONS = {
    "notifications/progress": "ProgressNotification",
    "notifications/message": "LoggingMessageNotification",
    "notifications/cancelled": "CancelledNotification",
    "notifications/tools/list_changed": "ToolListChangedNotification",
    "notifications/prompts/list_changed": "PromptListChangedNotification",
    "notifications/resources/list_changed": "ResourceListChangedNotification",
    "notifications/resources/updated": "ResourceUpdatedNotification",
    "notifications/elicitation/complete": "ElicitationCompleteNotification",
    "notifications/subscriptions/acknowledged": "SubscriptionsAcknowledgedNotification",
    "notifications/tasks/status": "TaskStatusNotification",
}
REQUESTS = {
    "elicitation/create": "ElicitRequest",
    "sampling/createMessage": "CreateMessageRequest",
    "roots/list": "ListRootsRequest",
}
UNSUPPORTED_VERSION = -32022

# What the extension io.modelcontextprotocol/tasks says of a task in a result.
_TASK = {
    "type": "object",
    "properties": {
        "taskId": {"type": "string"},
        "status": {"enum": ["working", "input_required", "completed", "failed", "cancelled"]},
        "statusMessage": {"type": "string"},
        "createdAt": {"type": "string", "pattern": r"^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$"},
        "lastUpdatedAt": {"$ref": "#/properties/createdAt"},
        "ttlMs": {"type": ["integer", "null"]},
        "pollIntervalMs": {"type": "integer"},
        "resultType": {"enum": ["task", "complete"]},
        "_meta": {"type": "object"},
    },
    "required": ["taskId", "status", "createdAt", "lastUpdatedAt", "ttlMs", "resultType"],
    "additionalProperties": False,
}
# tasks/get has beside it what belongs to its status.
_DETAILED_TASK = {
    **_TASK,
    "properties": {**_TASK["properties"], "inputRequests": {"type": "object"},
                   "result": {"type": "object"},
                   "error": {"type": "object", "required": ["code", "message"]}},
    "allOf": [{"if": {"properties": {"status": {"const": status}}}, "then": {"required": [member]},
               "else": {"not": {"required": [member]}}}
              for status, member in [("input_required", "inputRequests"), ("completed", "result"),
                                     ("failed", "error")]],
}
_ACKNOWLEDGED = {"type": "object", "properties": {"resultType": {"const": "complete"},
                                                  "_meta": {"type": "object"}},
                 "required": ["resultType"], "additionalProperties": False}
_EXTENSION_RESULTS = {"tools/call": _TASK, "tasks/get": _DETAILED_TASK,
                      "tasks/update": _ACKNOWLEDGED, "tasks/cancel": _ACKNOWLEDGED}


def _why_unavailable():
    if not FOLDER.is_dir():
        return f"the protocol's schemas are not at {FOLDER}"
    if jsonschema is None:
        return "the Python package jsonschema is not installed"
    return None


UNAVAILABLE = _why_unavailable()


class InvalidMessage(AssertionError):
    """The server sent something that its revision does not allow."""


class _Revision:
    """The definitions of one revision."""

    _loaded = {}

    def __init__(self, name):
        self.name = name
        self.document = json.loads((FOLDER / f"{name}.json").read_text())
        self.key = "$defs" if "$defs" in self.document else "definitions"
        self.validators = {}

    @classmethod
    def load(cls, name):
        if name not in cls._loaded:
            cls._loaded[name] = cls(name)
        return cls._loaded[name]

    def first_defined(self, *names):
        return next(name for name in names if name in self.document[self.key])

    def check(self, definition, value, message):
        if definition not in self.validators:
            schema = {"$schema": self.document["$schema"], "$ref": f"#/{self.key}/{definition}",
                      self.key: self.document[self.key]}
            self.validators[definition] = jsonschema.validators.validator_for(schema)(schema)
        problems = [f"{error.json_path}: {error.message[:300]}"
                    for error in self.validators[definition].iter_errors(value)]
        if problems:
            raise InvalidMessage(f"not a {definition} of {self.name}: {problems}\n"
                                 f"in {json.dumps(message)[:2000]}")


def _claimed_revision(message):
    params = message.get("params")
    meta = params.get("_meta") if isinstance(params, dict) else None
    claimed = meta.get(VERSION_KEY) if isinstance(meta, dict) else None
    return claimed if claimed == MODERN else None


def _without_null_id(message, revision):
    """MESSAGE as the schemas can describe it. Where no id could be read JSON-RPC wants null; the
    older schemas always want an id, the newer ones allow to leave it out."""
    if not isinstance(message, dict) or message.get("id", "") is not None:
        return message
    without = {key: value for key, value in message.items() if key != "id"}
    return without if "$defs" in revision.document else {**without, "id": 0}


def _check_extension(schema, result, message):
    problems = [f"{error.json_path}: {error.message[:300]}"
                for error in jsonschema.Draft202012Validator(schema).iter_errors(result)]
    if problems:
        raise InvalidMessage(f"not as the extension wants it: {problems}\n"
                             f"in {json.dumps(message)[:2000]}")


class Wire:
    """What one connection has sent and received. `checked` counts the messages that passed."""

    def __init__(self):
        self.negotiated = None
        self.requests = {}  # id as JSON text -> (method, revision or None, name of the tool or None)
        self.output_schemas = {}  # of the tools listed so far, by name
        self.tokens = {}  # progress token as JSON text -> revision or None
        self.checked = 0

    def sent(self, message):
        """Notes a message of the client; anything goes, it may be wrong on purpose."""
        for part in message if isinstance(message, list) else [message]:
            if isinstance(part, dict) and isinstance(part.get("method"), str) and "id" in part:
                self._note_request(part)

    def _note_request(self, message):
        revision = _claimed_revision(message)
        params = message.get("params")
        params = params if isinstance(params, dict) else {}
        self.requests[json.dumps(message["id"])] = (message["method"], revision, params.get("name"))
        meta = params.get("_meta")
        if isinstance(meta, dict) and "progressToken" in meta:
            self.tokens[json.dumps(meta["progressToken"])] = revision

    def received(self, message):
        """Checks a message of the server."""
        self._note_handshake(message)
        if UNAVAILABLE:
            return
        if isinstance(message, list):
            revision = self._revision(None)
            parts = [_without_null_id(part, revision) for part in message]
            revision.check("JSONRPCBatchResponse", parts, message)
        for part in message if isinstance(message, list) else [message]:
            if not isinstance(part, dict):
                raise InvalidMessage(f"not an object: {part!r}")
            self._received_one(part)
            self.checked += 1

    def _note_handshake(self, message):
        result = message.get("result") if isinstance(message, dict) else None
        if isinstance(result, dict) and "protocolVersion" in result:
            self.negotiated = result["protocolVersion"]
            self.output_schemas = {}  # older revisions have none

    def _revision(self, claimed):
        return _Revision.load(claimed or self.negotiated or NEWEST_LEGACY)

    def _received_one(self, message):
        if "method" in message and "id" in message:
            self._received_request(message)
        elif "method" in message:
            self._received_notification(message)
        elif "error" in message:
            self._received_error(message)
        else:
            self._received_result(message)

    def _received_request(self, message):
        if message["method"] not in REQUESTS:
            raise InvalidMessage(f"this server has no reason to send {message!r}")
        self._revision(None).check(REQUESTS[message["method"]], message, message)

    def _received_notification(self, message):
        if message["method"] not in (*NOTIFICATIONS, "notifications/tasks"):
            raise InvalidMessage(f"this server has no reason to send {message!r}")
        params = message.get("params", {})
        if message["method"] == "notifications/tasks":
            _check_extension(_DETAILED_TASK, {"resultType": "complete", **params}, message)
            return
        claimed = self.tokens.get(json.dumps(params.get("progressToken")))
        if not self.negotiated or SUBSCRIPTION_KEY in params.get("_meta", {}):
            claimed = MODERN
        self._revision(claimed).check(NOTIFICATIONS[message["method"]], message, message)

    def _received_error(self, message):
        _, claimed, _ = self.requests.get(json.dumps(message.get("id")), (None, None, None))
        if message["error"].get("code") == UNSUPPORTED_VERSION:
            _Revision.load(MODERN).check("UnsupportedProtocolVersionError", message, message)
            return
        revision = self._revision(claimed)
        revision.check(revision.first_defined("JSONRPCErrorResponse", "JSONRPCError"),
                       _without_null_id(message, revision), message)

    def _received_result(self, message):
        key = json.dumps(message.get("id"))
        if key not in self.requests:
            raise InvalidMessage(f"an answer to nothing: {json.dumps(message)[:2000]}")
        method, claimed, name = self.requests[key]
        result = message.get("result")
        revision = self._revision(None if method == "initialize" else claimed)
        revision.check(revision.first_defined("JSONRPCResultResponse", "JSONRPCResponse"), message,
                       message)
        if self._is_of_tasks(method, claimed, result, message):
            return
        if method not in RESULTS:
            raise InvalidMessage(f"a result for {method}, which this server does not have")
        if result.get("resultType") == "input_required":
            revision.check(INPUT_REQUIRED, result, message)
            return
        revision.check(RESULTS[method], result, message)
        if method == "tools/list":
            self.output_schemas = {tool["name"]: tool["outputSchema"] for tool in result["tools"]
                                   if "outputSchema" in tool}
        if method == "tools/call" and name in self.output_schemas and not result.get("isError"):
            self._received_structured(self.output_schemas[name], result, message)

    def _is_of_tasks(self, method, claimed, result, message):
        """True for a result, which has been checked, that there is because there are tasks."""
        if claimed and (method.startswith("tasks/") or result.get("resultType") == "task"):
            _check_extension(_EXTENSION_RESULTS[method], result, message)
            return True
        if method in TASK_RESULTS and not claimed:
            self._revision(None).check(TASK_RESULTS[method], result, message)
            return True
        if method == "tools/call" and self.negotiated == NEWEST_LEGACY and "task" in result:
            self._revision(None).check("CreateTaskResult", result, message)
            return True
        return False

    @staticmethod
    def _received_structured(schema, result, message):
        if "structuredContent" not in result:
            raise InvalidMessage(f"no structured content in {json.dumps(message)[:2000]}")
        validator = jsonschema.Draft202012Validator(schema)
        problems = [f"{error.json_path}: {error.message[:300]}"
                    for error in validator.iter_errors(result["structuredContent"])]
        if problems:
            raise InvalidMessage(f"does not fit the output schema: {problems}\n"
                                 f"in {json.dumps(message)[:2000]}")
