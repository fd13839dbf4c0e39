"""Tool calls in the forms of the providers of models, and their answers, as `pyexecd call` reads and prints them:

    openai            {"id", "type": "function", "function": {"name", "arguments": "{...}"}}
                      {"role": "tool", "tool_call_id", "content"}
    openai-responses  {"type": "function_call", "call_id", "name", "arguments": "{...}"}
                      {"type": "function_call_output", "call_id", "output"}
    anthropic         {"type": "tool_use", "id", "name", "input": {...}}
                      {"type": "tool_result", "tool_use_id", "content", "is_error"}
    gemini            {"functionCall": {"id", "name", "args": {...}}}, or what is in it alone
                      {"functionResponse": {"id", "name", "response": {"output" or "error"}}}

A call is a dict or an object of an SDK with these members. Pictures reach the model through openai-responses and
anthropic; the others take text here.
"""

from __future__ import annotations

import json
import re
from typing import Any, Callable, Dict, Iterator, List, Mapping, NamedTuple, Optional, Sequence, Tuple

Json = Dict[str, Any]
Content = Sequence[Mapping[str, Any]]
Parts = Tuple[Any, Any, Any]  # of a call: id, name, arguments

# What the text says of pictures that are not handed on.
PICTURES_SHOWN = re.compile(r"\nPictures shown below: .*\n(Pictures not shown: .*\n)?\Z")

# Where the calls of a response are, from the outside to the inside. Of several choices the first counts.
CHOICES = ("choices", "candidates")
INSIDE = ("message", "tool_calls", "output", "content", "parts")


def _member(thing: Any, *names: str) -> Any:
    """The first member of THING, an object or a dict, that is called one of NAMES and is not None."""
    for name in names:
        found = thing.get(name) if isinstance(thing, Mapping) else getattr(thing, name, None)
        if found is not None:
            return found
    return None


def _has(thing: Any, name: str) -> bool:
    return name in thing if isinstance(thing, Mapping) else hasattr(thing, name)


def _is_openai(thing: Any) -> bool:
    return _member(thing, "function") is not None and _member(thing, "type") in ("function", None)


def _is_responses(thing: Any) -> bool:
    return bool(_member(thing, "type") == "function_call")


def _is_anthropic(thing: Any) -> bool:
    return bool(_member(thing, "type") == "tool_use")


def _gemini_call(thing: Any) -> Any:
    """The call in a part of a message, or THING, which may be a call."""
    return _member(thing, "functionCall", "function_call") or thing


def _is_gemini(thing: Any) -> bool:
    own = _gemini_call(thing)
    return _member(own, "name") is not None and _has(own, "args")


def _read_openai(thing: Any) -> Parts:
    function = _member(thing, "function")
    return _member(thing, "id"), _member(function, "name"), _member(function, "arguments")


def _read_responses(thing: Any) -> Parts:
    return _member(thing, "call_id"), _member(thing, "name"), _member(thing, "arguments")


def _read_anthropic(thing: Any) -> Parts:
    return _member(thing, "id"), _member(thing, "name"), _member(thing, "input")


def _read_gemini(thing: Any) -> Parts:
    own = _gemini_call(thing)
    return _member(own, "id"), _member(own, "name"), _member(own, "args")


def _has_pictures(content: Content) -> bool:
    return any(block.get("type") == "image" for block in content)


def _text_of(content: Content) -> str:
    text = "\n\n".join(block["text"] for block in content if block.get("type") == "text")
    return PICTURES_SHOWN.sub("", text) if _has_pictures(content) else text


def _blocks_of(content: Content, text: Callable[[Any], Json], image: Callable[[Any], Json]) -> Any:
    """CONTENT as TEXT and IMAGE make blocks of it, or its text where there are no pictures."""
    makers = {"text": text, "image": image}
    if not _has_pictures(content):
        return _text_of(content)
    return [makers[block["type"]](block) for block in content if block.get("type") in makers]


def _answer_openai(call: ModelCall, content: Content, is_error: bool) -> Json:
    return {"role": "tool", "tool_call_id": call.id, "content": _text_of(content)}


def _answer_responses(call: ModelCall, content: Content, is_error: bool) -> Json:
    output = _blocks_of(content, lambda block: {"type": "input_text", "text": block["text"]}, lambda block: {
        "type": "input_image", "detail": "auto", "image_url": f"data:{block['mimeType']};base64,{block['data']}"})
    return {"type": "function_call_output", "call_id": call.id, "output": output}


def _answer_anthropic(call: ModelCall, content: Content, is_error: bool) -> Json:
    blocks = _blocks_of(content, lambda block: {"type": "text", "text": block["text"]}, lambda block: {
        "type": "image", "source": {"type": "base64", "media_type": block["mimeType"], "data": block["data"]}})
    return {"type": "tool_result", "tool_use_id": call.id, "content": blocks, "is_error": is_error}


def _answer_gemini(call: ModelCall, content: Content, is_error: bool) -> Json:
    """In the form of the call: a part of a message, or only the response in it."""
    response: Json = {"id": call.id} if call.id else {}
    response.update(name=call.name, response={"error" if is_error else "output": _text_of(content)})
    return response if _gemini_call(call.written) is call.written else {"functionResponse": response}


class CallForm(NamedTuple):
    """How a provider writes a call and its answer."""

    is_call: Callable[[Any], bool]
    read: Callable[[Any], Parts]
    answer: Callable[[ModelCall, Content, bool], Json]


CALL_FORMS = [
    CallForm(_is_openai, _read_openai, _answer_openai), CallForm(_is_responses, _read_responses, _answer_responses),
    CallForm(_is_anthropic, _read_anthropic, _answer_anthropic), CallForm(_is_gemini, _read_gemini, _answer_gemini),
]


class ModelCall:
    """A call of a model, as WRITTEN in FORM."""

    def __init__(self, form: CallForm, written: Any) -> None:
        self.written = written
        self._form = form
        number, name, self._arguments = form.read(written)
        self.id: str = number or ""
        self.name: str = name or ""

    def arguments(self) -> Mapping[str, Any]:
        """Raises ValueError if they are no object: some providers write them as JSON in a string."""
        arguments = self._arguments or {}
        if isinstance(arguments, str):
            try:
                arguments = json.loads(arguments)
            except (ValueError, RecursionError) as error:  # a model can nest as deep as it likes
                raise ValueError(f"the arguments are not valid JSON: {error}") from error
        if not isinstance(arguments, Mapping):
            raise ValueError(f"the arguments must be an object, not {type(arguments).__name__}")
        return arguments

    def answered(self, result: Mapping[str, Any]) -> Json:
        """RESULT, that of `tools/call`, as the provider wants it."""
        return self._form.answer(self, result.get("content", ()), bool(result.get("isError")))

    def failed(self, error: Exception) -> Json:
        """The answer if ERROR came before a tool was called: the model reads that, too."""
        return self._form.answer(self, [{"type": "text", "text": f"error: {error}"}], True)


def _call_of(thing: Any) -> Optional[ModelCall]:
    for form in CALL_FORMS:
        if form.is_call(thing):
            return ModelCall(form, thing)
    return None


def _found(said: Any) -> Iterator[ModelCall]:
    if said is None or isinstance(said, str):
        return
    call = _call_of(said)
    if isinstance(said, (list, tuple)):
        for each in said:
            yield from _found(each)
    elif call:
        yield call
    else:
        choices = _member(said, *CHOICES)
        yield from _found(choices[:1] if choices else _member(said, *INSIDE))


def calls_in(said: Any) -> List[ModelCall]:
    """The calls in SAID: a response, a message, one call, or a list with calls; of an SDK, or dicts.

    Raises TypeError if SAID is none of these."""
    if not (said is None or isinstance(said, (list, tuple)) or _call_of(said)
            or any(_has(said, name) for name in (*CHOICES, *INSIDE, "type"))):
        raise TypeError(f"a tool call or the response of a model is wanted, not {type(said).__name__}")
    return list(_found(said))
