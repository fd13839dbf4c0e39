"""Tool calls as OpenAI's SDK writes them, answered by `pyexecd call`: its types take the results.

    openai_types.py PYEXECD
"""

import json
import subprocess
import sys

from openai.types.chat import ChatCompletionMessageFunctionToolCall, ChatCompletionToolMessageParam
from openai.types.responses import ResponseFunctionToolCall
from openai.types.responses.response_input_param import FunctionCallOutput
from pydantic import TypeAdapter

CODE = json.dumps({"code": "print(6 * 7)"})


def answer(call, form):
    done = subprocess.run([sys.argv[1], "call"], input=call.model_dump_json(), capture_output=True, text=True,
                          check=True)
    return TypeAdapter(form).validate_python(json.loads(done.stdout), strict=True)


chat = answer(ChatCompletionMessageFunctionToolCall(
    id="call_1", type="function", function={"name": "run_python", "arguments": CODE}), ChatCompletionToolMessageParam)
item = answer(ResponseFunctionToolCall(
    type="function_call", call_id="call_2", name="run_python", arguments=CODE), FunctionCallOutput)
print(chat["tool_call_id"], "Code output: 42" in chat["content"])
print(item["call_id"], "Code output: 42" in item["output"])
