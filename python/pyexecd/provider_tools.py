"""Tools in the forms that the providers of models want for function calling, as `pyexecd schema` prints them.

Each provider accepts a subset of JSON Schema. Limits that it does not accept are moved into the description, where the
model reads them; the server checks the arguments in any case.
"""

from __future__ import annotations

import copy
from typing import Any, Callable, Dict, Iterable, List, Mapping, NamedTuple, Sequence

# For programs that get messages, and of inputs that strict schemas cannot describe; a model that calls functions has
# run_python.
OTHER_TOOLS = ("run_code_blocks", "run_many")

Json = Dict[str, Any]

# Keywords of JSON Schema, and the words for them in a description.
LIMITS = {"minLength": "At least {} characters.", "maxLength": "At most {} characters.", "minimum": "At least {}.",
          "maximum": "At most {}.", "exclusiveMinimum": "More than {}.", "exclusiveMaximum": "Less than {}.",
          "maxItems": "At most {} items."}


class ToolForm(NamedTuple):
    """The form of one provider. Its schemas take LIMITS, and SCHEMA is its name for a schema.

    Strict schemas have no members of any name. Where all members are required, an optional one takes null."""

    limits: Sequence[str]
    is_strict: bool
    requires_all: bool
    schema: str
    wrap: Callable[[List[Json]], List[Json]]


def _wrap_openai(functions: List[Json]) -> List[Json]:
    return [{"type": "function", "function": {**function, "strict": True}} for function in functions]


def _wrap_responses(functions: List[Json]) -> List[Json]:
    return [{"type": "function", **function, "strict": True} for function in functions]


def _wrap_anthropic(functions: List[Json]) -> List[Json]:
    return [{**function, "strict": True} for function in functions]


def _wrap_gemini(functions: List[Json]) -> List[Json]:
    return [{"functionDeclarations": functions}]


NUMBERS = ["minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum"]
TOOL_FORMS = {
    "openai": ToolForm(NUMBERS, True, True, "parameters", _wrap_openai),
    "openai-responses": ToolForm(NUMBERS, True, True, "parameters", _wrap_responses),
    "anthropic": ToolForm([], True, False, "input_schema", _wrap_anthropic),
    "gemini": ToolForm(["minimum", "maximum"], False, False, "parametersJsonSchema", _wrap_gemini),
}


def _move_limits(schema: Json, kept: Sequence[str]) -> None:
    for keyword, words in LIMITS.items():
        if keyword in schema and keyword not in kept:
            told = words.format("%.15g" % schema.pop(keyword))
            schema["description"] = f"{schema.get('description', '')} {told}".lstrip()


def _require_all(schema: Json) -> None:
    required = schema.get("required", ())
    for name, member in schema["properties"].items():
        if name not in required:
            member["type"] = [member.get("type"), "null"]
            if "enum" in member:
                member["enum"].append(None)
    schema["required"] = list(schema["properties"])


def _drop_objects(schema: Json) -> None:
    required = schema.get("required", ())
    members = schema.get("properties", {})
    for name in [name for name in members if members[name].get("type") == "object" and name not in required]:
        del members[name]


def _fit(schema: Json, form: ToolForm) -> None:
    """Adapts the SCHEMA of an object, and those of the items of its arrays, to FORM."""
    if form.is_strict:
        _drop_objects(schema)
    for member in schema.get("properties", {}).values():
        _move_limits(member, form.limits)
        _fit(member.get("items", {}), form)
    if form.requires_all and "properties" in schema:
        _require_all(schema)


def _function(tool: Mapping[str, Any], form: ToolForm) -> Json:
    schema = copy.deepcopy(tool["inputSchema"])
    schema.pop("$schema", None)
    _fit(schema, form)
    return {"name": tool["name"], "description": tool["description"], form.schema: schema}


def declared(provider: str, tools: Iterable[Mapping[str, Any]]) -> List[Any]:
    """TOOLS, entries of `tools/list`, in the form of PROVIDER. Raises ValueError if that is none of the four."""
    form = TOOL_FORMS.get(provider)
    if form is None:
        raise ValueError(f"unknown provider {provider!r}: must be {', '.join(TOOL_FORMS)}")
    return form.wrap([_function(tool, form) for tool in tools if tool["name"] not in OTHER_TOOLS])
