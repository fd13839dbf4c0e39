"""A conversation through a provider's own SDK: its tools are what `pyexecd schema` prints, each call
goes to `pyexecd call` as the SDK writes it, and the result has to be of the SDK's types.

    provider_loop.py PYEXECD PROVIDER API

The model is at the URL API. What it says last is printed. Only the provider's own SDK is imported:
all of them together take a busy machine a minute.
"""

import json
import subprocess
import sys

from pydantic import TypeAdapter

MODEL = "standin"
TASK = "Write a poem."


def checked(form, value):
    """VALUE, of the type FORM in every member."""
    TypeAdapter(form).validate_python(value, strict=True)
    assert set(value) <= set(form.__annotations__), value
    return value


def definitions(pyexecd, provider):
    printed = subprocess.run([pyexecd, "schema", "--for", provider], capture_output=True, text=True, check=True)
    decoder = json.JSONDecoder()
    text = printed.stdout.strip()
    while text:
        tool, end = decoder.raw_decode(text)
        yield tool
        text = text[end:].strip()


def answer(pyexecd, call):
    """What is printed for CALL, an object of an SDK, with all the members that it has."""
    done = subprocess.run([pyexecd, "call"], input=call.model_dump_json(), capture_output=True, text=True, check=True)
    return json.loads(done.stdout)


def talk_to_anthropic(pyexecd, url):
    import anthropic
    from anthropic.types import ToolParam, ToolResultBlockParam

    client = anthropic.Anthropic(api_key="none", base_url=url)
    tools = [checked(ToolParam, tool) for tool in definitions(pyexecd, "anthropic")]
    messages = [{"role": "user", "content": TASK}]
    while True:
        with client.messages.stream(model=MODEL, max_tokens=1000, tools=tools, messages=messages) as stream:
            said = stream.get_final_message()
        calls = [block for block in said.content if block.type == "tool_use"]
        if not calls:
            return said.content[0].text
        results = [checked(ToolResultBlockParam, answer(pyexecd, call)) for call in calls]
        messages += [{"role": "assistant", "content": said.content}, {"role": "user", "content": results}]


def talk_to_openai(pyexecd, url):
    import openai
    from openai.types.responses import FunctionToolParam
    from openai.types.responses.response_input_param import FunctionCallOutput

    client = openai.OpenAI(api_key="none", base_url=f"{url}/v1")
    tools = [checked(FunctionToolParam, tool) for tool in definitions(pyexecd, "openai-responses")]
    items = [{"role": "user", "content": TASK}]
    while True:
        *_, last = client.responses.create(model=MODEL, input=items, tools=tools, stream=True)
        calls = [item for item in last.response.output if item.type == "function_call"]
        if not calls:
            return last.response.output_text
        items += [*last.response.output, *(checked(FunctionCallOutput, answer(pyexecd, call)) for call in calls)]


def talk_to_gemini(pyexecd, url):
    from google import genai
    from google.genai import types

    client = genai.Client(api_key="none", http_options=types.HttpOptions(base_url=url))
    config = types.GenerateContentConfig(
        tools=[types.Tool.model_validate(tool) for tool in definitions(pyexecd, "gemini")])
    contents = [types.Content(role="user", parts=[types.Part(text=TASK)])]
    while True:
        said = client.models.generate_content(model=MODEL, contents=contents, config=config).candidates[0].content
        calls = [part for part in said.parts if part.function_call]
        if not calls:
            return said.parts[0].text
        alone = types.FunctionResponse.model_validate(answer(pyexecd, calls[0].function_call))
        results = [types.Part.model_validate(answer(pyexecd, call)) for call in calls]
        assert alone.name == results[0].function_response.name and alone.response
        contents += [said, types.Content(role="user", parts=results)]


def talk_to_chat(pyexecd, _url):
    """Without a model: the stand-in does not speak its form."""
    from openai.types.chat import (ChatCompletionFunctionToolParam, ChatCompletionMessageFunctionToolCall,
                                   ChatCompletionToolMessageParam)

    for tool in definitions(pyexecd, "openai"):
        checked(ChatCompletionFunctionToolParam, tool)
    call = ChatCompletionMessageFunctionToolCall(
        id="call_0", type="function", function={"name": "run_python", "arguments": '{"code": "print(6 * 7)"}'})
    result = checked(ChatCompletionToolMessageParam, answer(pyexecd, call))
    assert result["tool_call_id"] == call.id
    return result["content"]


TALKS = {"anthropic": talk_to_anthropic, "openai-responses": talk_to_openai, "gemini": talk_to_gemini,
         "openai": talk_to_chat}

if __name__ == "__main__":
    program, provider_name, api = sys.argv[1:]
    print(TALKS[provider_name](program, api))
