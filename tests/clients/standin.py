"""A stand-in for the model behind an agent: its API on loopback, in the forms of Anthropic, OpenAI
(Responses) and Gemini, streamed. It calls `run_python` as a script of the test says, and keeps
everything that the agent gives the model.

    with standin.Model([{"code": "print(42)"}, lambda read: {"code": ..., ...}]) as model:
        ...                                    # an agent that talks to model.url
    model.readings[0].text

A step is the arguments of a call, or a function of the readings so far that returns them; a `Call` is of
another tool. After the last one the model says DONE. Everything needed is in each request of an agent, since agents send the
whole conversation again: a step is found by the results that the request has. Requests that offer no
tools are an agent's own (a title, a choice of model) and get the same one word.
"""

import base64
import contextlib
import http.server
import json
import threading
import uuid

TOOL = "run_python"
DONE = "Done."


class Call(dict):
    """The arguments of a call of the tool NAME."""

    def __init__(self, name, **arguments):
        super().__init__(arguments)
        self.name = name


class Reading:
    """What the model was given as result of one call: TEXT as it reads it, PLAIN without the JSON
    that an agent has wrapped it in, and the files of its images."""

    def __init__(self, text, images=(), plain=None):
        self.text = text
        self.plain = plain or text
        self.images = [base64.b64decode(image) for image in images]

    def __repr__(self):
        return f"{self.text!r} and {[len(image) for image in self.images]}"


def parts_read(parts, text_of, image_of):
    """PARTS as a reading: TEXT_OF and IMAGE_OF give what a part has of each, or None."""
    texts = [text for text in map(text_of, parts) if text is not None]
    return Reading("\n".join(texts), [image for image in map(image_of, parts) if image is not None])


def data_of_url(url):
    return url.partition(";base64,")[2]


class Anthropic:
    """Messages: https://docs.anthropic.com/en/api/messages-streaming"""

    @staticmethod
    def serves(path):
        return path.startswith("/v1/messages")

    @staticmethod
    def tools(request):
        return [{"name": tool["name"], "description": tool.get("description", ""),
                 "schema": tool.get("input_schema"), "deferred": tool.get("defer_loading", False)}
                for tool in request.get("tools", [])]

    @staticmethod
    def blocks(request):
        for message in request.get("messages", []):
            if isinstance(message["content"], list):
                yield from message["content"]

    @classmethod
    def results(cls, request):
        """Readings by the id of the call."""
        return {block["tool_use_id"]: cls.reading(block["content"])
                for block in cls.blocks(request) if block["type"] == "tool_result"}

    @staticmethod
    def reading(content):
        if isinstance(content, str):
            return Reading(content)
        return parts_read(content, lambda part: part.get("text"),
                          lambda part: part.get("source", {}).get("data"))

    @classmethod
    def call(cls, number, tool, arguments):
        return cls.answer("tool_use", [
            {"type": "content_block_start", "index": 0, "content_block": {
                "type": "tool_use", "id": number, "name": tool["name"], "input": {}}},
            {"type": "content_block_delta", "index": 0, "delta": {
                "type": "input_json_delta", "partial_json": json.dumps(arguments)}}])

    @classmethod
    def say(cls, text):
        return cls.answer("end_turn", [
            {"type": "content_block_start", "index": 0,
             "content_block": {"type": "text", "text": ""}},
            {"type": "content_block_delta", "index": 0,
             "delta": {"type": "text_delta", "text": text}}])

    @staticmethod
    def answer(reason, block):
        usage = {"input_tokens": 1, "output_tokens": 1}
        return [
            {"type": "message_start", "message": {
                "id": "msg_1", "type": "message", "role": "assistant", "model": "standin",
                "content": [], "stop_reason": None, "stop_sequence": None, "usage": usage}},
            *block, {"type": "content_block_stop", "index": 0},
            {"type": "message_delta", "delta": {"stop_reason": reason, "stop_sequence": None},
             "usage": usage},
            {"type": "message_stop"}]

    @staticmethod
    def whole(events):
        """The message that EVENTS put together: it has one block."""
        begun, block, delta, *_, last, _ = events
        block = block["content_block"]
        if block["type"] == "text":
            block = {**block, "text": delta["delta"]["text"]}
        else:
            block = {**block, "input": json.loads(delta["delta"]["partial_json"])}
        return {**begun["message"], "content": [block], "stop_reason": last["delta"]["stop_reason"]}


class OpenAI:
    """Responses: https://platform.openai.com/docs/api-reference/responses-streaming"""

    @staticmethod
    def serves(path):
        return path.startswith("/v1/responses")

    @classmethod
    def tools(cls, request):
        listed = list(request.get("tools", []))
        for item in request.get("input", []):
            if item.get("type") in ("tool_search_output", "additional_tools"):
                listed += item.get("tools", [])
        return [told for tool in listed for told in cls.unfolded(tool)]

    @staticmethod
    def unfolded(tool):
        """A namespace is a tool with tools in it; each of them says its namespace when called."""
        inner = tool.get("tools", [tool])
        for each in inner:
            told = {"name": each.get("name", each["type"]), "schema": each.get("parameters"),
                    "description": each.get("description", ""), "kind": tool["type"],
                    "deferred": each.get("defer_loading", False)}
            if tool["type"] == "namespace":
                told |= {"namespace": tool["name"], "of_namespace": tool.get("description", "")}
            yield told

    @classmethod
    def results(cls, request):
        return {item["call_id"]: cls.reading(item.get("output", ""))
                for item in request.get("input", [])
                if item.get("type", "").endswith("_output") and item.get("call_id")}

    @staticmethod
    def reading(output):
        if isinstance(output, str):
            return Reading(output)
        return parts_read(output, lambda part: part.get("text"), lambda part: data_of_url(
            part["image_url"]) if "image_url" in part else None)

    @classmethod
    def call(cls, number, tool, arguments):
        item = {"type": "function_call", "id": "fc_" + number, "call_id": number,
                "name": tool["name"], "arguments": json.dumps(arguments), "status": "completed"}
        if "namespace" in tool:
            item["namespace"] = tool["namespace"]
        if tool["kind"] == "tool_search":
            item = {"type": "tool_search_call", "call_id": number, "execution": "client",
                    "arguments": arguments, "status": "completed"}
        return cls.answer(item)

    @classmethod
    def say(cls, text):
        return cls.answer({
            "type": "message", "id": "msg_1", "role": "assistant", "status": "completed",
            "content": [{"type": "output_text", "text": text, "annotations": []}]})

    @staticmethod
    def answer(item):
        # LangChain takes two messages with one id for two versions of one.
        response = {"id": f"resp_{uuid.uuid4().hex}", "object": "response", "model": "standin", "status": "completed",
                    "output": [item], "usage": {
                        "input_tokens": 1, "output_tokens": 1, "total_tokens": 2,
                        "input_tokens_details": {"cached_tokens": 0},
                        "output_tokens_details": {"reasoning_tokens": 0}}}
        return [
            {"type": "response.created",
             "response": {**response, "status": "in_progress", "output": []}},
            {"type": "response.output_item.added", "output_index": 0, "item": item},
            {"type": "response.output_item.done", "output_index": 0, "item": item},
            {"type": "response.completed", "response": response}]

    @staticmethod
    def whole(events):
        return events[-1]["response"]


class Gemini:
    """generateContent: https://ai.google.dev/api/generate-content"""

    @staticmethod
    def serves(path):
        return ":generateContent" in path or ":streamGenerateContent" in path

    @staticmethod
    def tools(request):
        return [{"name": tool["name"], "description": tool.get("description", ""),
                 "schema": tool.get("parametersJsonSchema", tool.get("parameters")),
                 "deferred": False}
                for group in request.get("tools", [])
                for tool in group.get("functionDeclarations", [])]

    @classmethod
    def results(cls, request):
        """A result's pictures are in it, or parts beside it."""
        found = {}
        for content in request.get("contents", []):
            for part in content["parts"]:
                if "functionResponse" in part:
                    response = part["functionResponse"]
                    last = response.get("id", str(len(found)))
                    found[last] = cls.reading(response)
                elif "inlineData" in part and found:
                    found[last].images.append(base64.b64decode(part["inlineData"]["data"]))
        return found

    @classmethod
    def reading(cls, response):
        """The text, whichever member of the response has it; several are shown as JSON."""
        members = response["response"]
        texts = [text for text in members.values() if isinstance(text, str)]
        images = [part["inlineData"]["data"] for part in response.get("parts", [])
                  if "inlineData" in part]
        text = texts[0] if len(members) == len(texts) == 1 else json.dumps(members)
        return Reading(text, images, cls.plain(text))

    @staticmethod
    def plain(text):
        """Gemini CLI shows the whole result of a call that failed, as JSON in its own message."""
        _, marker, quoted = text.partition(" with response: ")
        if not marker:
            return text
        (part,) = json.loads(quoted)
        content = part["functionResponse"]["response"]["content"]
        return "\n".join(each["text"] for each in content if each["type"] == "text")

    @classmethod
    def call(cls, number, tool, arguments):
        return cls.answer({"functionCall": {"id": number, "name": tool["name"], "args": arguments}})

    @classmethod
    def say(cls, text):
        return cls.answer({"text": text})

    @staticmethod
    def answer(part):
        return [{"candidates": [{"index": 0, "finishReason": "STOP",
                                 "content": {"role": "model", "parts": [part]}}],
                 "usageMetadata": {"promptTokenCount": 1, "candidatesTokenCount": 1,
                                   "totalTokenCount": 2}, "modelVersion": "standin"}]

    @staticmethod
    def whole(events):
        return events[0]


FORMS = [Anthropic, OpenAI, Gemini]
SEARCHES = ("ToolSearch", "tool_search")
CALL = "call_{}"
SEARCH = "search_1"


class Model:
    def __init__(self, steps, tool=TOOL):
        self.steps = steps
        self.tool = tool
        self.url = None
        self.readings = []
        self.tools = []  # as last listed
        self.first_request = None  # with what the model knows before it calls anything
        self.requests = []  # their paths, for messages of failed tests
        self.outside = []  # where the agent wanted to connect to, beyond loopback
        self.trouble = []  # exceptions of steps
        self.ended = False
        self.changing = threading.Lock()

    def __enter__(self):
        handler = type("Handler", (ModelHandler,), {"model": self})
        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler)
        self.url = f"http://127.0.0.1:{self.server.server_address[1]}"
        self.thread = threading.Thread(target=self.server.serve_forever)
        self.thread.start()
        return self

    def __exit__(self, *_):
        self.server.shutdown()
        self.thread.join()
        self.server.server_close()

    def answer(self, form, request):
        """The events of the answer to REQUEST."""
        tools = form.tools(request)
        if not tools:
            return form.say(DONE)
        with self.changing:
            return self.next_event(form, request, tools)

    def next_event(self, form, request, tools):
        self.first_request = self.first_request or request
        self.tools = tools
        results = form.results(request)
        found = [tool for tool in tools
                 if tool["name"].endswith(self.tool) and not tool["deferred"] or SEARCH in results
                 and tool["name"].endswith(self.tool)]
        if not found and SEARCH not in results:
            return self.search(form, tools)
        self.readings = [results[CALL.format(number)] for number in range(len(self.steps))
                         if CALL.format(number) in results]
        return self.next_step(form, tools, found[0])

    def search(self, form, tools):
        """A deferred tool is asked for."""
        (search,) = [tool for tool in tools if tool["name"] in SEARCHES]
        return form.call(SEARCH, search, {"query": f"{self.tool} python"})

    def next_step(self, form, tools, tool):
        if len(self.readings) == len(self.steps):
            self.ended = True
            return form.say(DONE)
        step = self.steps[len(self.readings)]
        arguments = step(self.readings) if callable(step) else step
        if isinstance(arguments, Call):
            (tool,) = [each for each in tools if each["name"].endswith(arguments.name)]
        return form.call(CALL.format(len(self.readings)), tool, arguments)


class ModelHandler(http.server.BaseHTTPRequestHandler):
    """Forms are told apart by their paths."""

    model = None
    protocol_version = "HTTP/1.1"

    def do_POST(self):
        request = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        self.model.requests.append(self.path)
        for form in FORMS:
            if form.serves(self.path) and "count" not in self.path.lower():
                self.respond(form, request)
                return
        self.refuse()

    def respond(self, form, request):
        try:
            events = self.model.answer(form, request)
        except Exception as error:
            self.model.trouble.append(error)
            self.send_error(400, "the stand-in failed")
            raise
        if not request.get("stream") and "streamGenerateContent" not in self.path:
            self.send_body("application/json", json.dumps(form.whole(events)))
        else:
            self.send_body("text/event-stream", "".join(map(as_event, events)))

    def send_body(self, kind, text):
        body = text.encode()
        self.send_response(200)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        with contextlib.suppress(BrokenPipeError, ConnectionResetError):
            self.wfile.write(body)

    def refuse(self):
        self.model.requests.append(self.path)
        self.send_error(404)

    def refuse_to_connect(self):
        self.model.outside.append(self.path)
        self.send_error(403)

    do_GET = do_HEAD = refuse
    do_CONNECT = refuse_to_connect

    def log_message(self, *_):
        """Quiet: a test that fails prints model.requests."""


def as_event(event):
    name = f"event: {event['type']}\n" if "type" in event else ""
    return f"{name}data: {json.dumps(event)}\n\n"
