"""run_code_blocks: the code blocks of a message, one after the other, without the faults of AutoGen's executors."""

import json
import pathlib
import time
import venv

import pytest
from client import Server, with_more_time
from leftovers import until

FENCE = "```"


def serve(code_blocks=None, **more):
    config = {"environments": {"it": {"type": "system"}}, "code_blocks": code_blocks or {}, **more}
    return Server("--results", "structured", config=config)


@pytest.fixture(scope="module")
def server():
    with serve() as server:
        server.initialize()
        yield server


def send(server, *blocks, **arguments):
    """BLOCKS are pairs of a language and code. The whole result."""
    given = [{"language": language, "code": code} for language, code in blocks]
    return server.call_tool("run_code_blocks", {"blocks": given, **arguments})


def text_of(result):
    return result["content"][0]["text"]


def outcomes(result):
    """The exit code and the standard output of each block that was tried."""
    return [(block["exit_code"], block["result"] and block["result"]["stdout"])
            for block in result["structuredContent"]["blocks"]]


def refusal(server, **arguments):
    result = server.call_tool("run_code_blocks", arguments)
    assert result["isError"], result
    return text_of(result)


def test_arguments_are_read_as_they_are_meant(server):
    blocks = json.dumps([{"language": "python", "code": "print(1)"}])
    result = server.call_tool("run_code_blocks", {"blocks": blocks, "message": "", "environment": None, "timeout": "30",
                                                  "working_directory": ""})
    assert outcomes(result) == [(0, "1\n")], result
    assert "blocks" in refusal(server, blocks="[print(1)]")


def test_it_is_there_where_the_operator_wants_it():
    with Server(config={"environments": {"it": {"type": "system"}}}) as server:
        server.initialize()
        assert "run_code_blocks" not in [tool["name"] for tool in server.request("tools/list")["tools"]]


def test_a_model_reads_once_what_an_environment_is():
    with serve(callers={"define_environments": True}) as server:
        server.initialize()
        tools = {tool["name"]: tool for tool in server.request("tools/list")["tools"]}
        whole, short = (json.dumps(tools[name]["inputSchema"]["properties"]) for name in ("run_python", "run_code_blocks"))
        assert "pip_packages" in whole and "pip_packages" not in short
        properties = tools["run_code_blocks"]["inputSchema"]["properties"]
        assert properties["environment"]["enum"] == ["it"]
        assert all("run_python" in properties[name]["description"] for name in ("environment", "environment_definition"))
        result = send(server, ("python", "print(1)"), environment_definition={"type": "system"})
        assert outcomes(result) == [(0, "1\n")], result


def test_blocks_run_in_order_in_one_directory(server):
    result = send(server, ("python", "open('a', 'w').write('1')\nprint('one')"), ("sh", "cat a; echo two"),
                  ("bash", "[[ -f a ]] && echo three"), ("py", "print(4)"))
    assert outcomes(result) == [(0, "one\n"), (0, "1two\n"), (0, "three\n"), (0, "4\n")], result
    structured = result["structuredContent"]
    assert (structured["success"], structured["exit_code"], structured["left_out"]) == (True, 0, 0)
    assert text_of(result).startswith("exitcode: 0 (execution succeeded)\nCode output:\nBlock 1 of 4 (python)\n")


def test_one_block_reads_as_run_python_does(server):
    result = send(server, ("python", "print('hello')"))
    assert text_of(result).startswith("exitcode: 0 (execution succeeded)\nCode output: hello\n")


def test_the_first_failure_is_the_last_and_no_output_is_lost(server):
    result = send(server, ("python", "print('kept')"), ("sh", "echo partly; exit 3"), ("sh", "echo never"))
    assert outcomes(result) == [(0, "kept\n"), (3, "partly\n")]
    assert result["isError"] and result["structuredContent"]["left_out"] == 1
    text = text_of(result)
    assert text.startswith("exitcode: 3 (execution failed)\nCode output:\n")
    assert "kept" in text and "partly" in text and text.endswith("Blocks that were not run: 1.")


def test_a_timeout_is_124_and_says_timeout_and_keeps_what_was_printed(server):
    blocks = [("sh", "echo first"), ("sh", "echo partly; sleep 60"), ("sh", "echo never")]
    result = with_more_time(lambda timeout: send(server, *blocks, timeout=timeout),
                            lambda result: (124, "partly\n") in outcomes(result))
    assert outcomes(result) == [(0, "first\n"), (124, "partly\n")]
    text = text_of(result)
    assert text.startswith("exitcode: 124 (execution failed)\n") and "Timeout" in text and "partly" in text


def test_the_time_is_that_of_all_blocks(server):
    taken = []

    def send_many(timeout):
        begun = time.monotonic()
        result = send(server, *[("python", "import time\ntime.sleep(1)")] * 20, timeout=timeout)
        taken[:] = [timeout, time.monotonic() - begun]
        return result

    result = with_more_time(send_many, lambda result: len(outcomes(result)) >= 2, (3, 6, 12))
    assert result["structuredContent"]["exit_code"] == 124
    assert 2 <= len(outcomes(result)) <= taken[0] + 1 and taken[1] < taken[0] + 20


def test_a_message_is_read_as_commonmark_has_it(server):
    message = f"""Plan:

~~~python
print("tilde")
~~~
1. In a list:
   {FENCE}sh
   echo indented
   {FENCE}

{FENCE}{FENCE}python
print('''
{FENCE}python
nested
{FENCE}
''')
{FENCE}{FENCE}

It prints
{FENCE}text
not code
{FENCE}
{FENCE}
print("guessed")
{FENCE}
""".replace("\n", "\r\n")
    result = server.call_tool("run_code_blocks", {"message": message})
    assert outcomes(result) == [(0, "tilde\n"), (0, "indented\n"), (0, f"\n{FENCE}python\nnested\n{FENCE}\n\n"),
                                (0, "guessed\n")], result


def test_names_of_files(server):
    result = send(server, ("python", "# filename: part/lib.py\nVALUE = 7"), ("python", "from part.lib import VALUE\nprint(VALUE)"),
                  ("sh", "# filename: tool.sh\necho $0"), ("html", "<!-- filename: page.html -->\n<p>"),
                  ("sh", "cat page.html; ls part"), ("python", "# Compute the sum\nprint(1)"))
    assert outcomes(result)[1:] == [(0, "7\n"), (0, "tool.sh\n"), (0, ""), (0, "<!-- filename: page.html -->\n<p>lib.py\n"),
                                    (0, "1\n")], result
    assert "Code saved to page.html" in text_of(result)
    assert [block["file"] for block in result["structuredContent"]["blocks"]] == \
        ["part/lib.py", None, "tool.sh", "page.html", "block-5.sh", None]


@pytest.mark.parametrize("name", ["../out.py", "/tmp/out.py", "a/../../b.py"])
def test_a_name_outside_is_refused_before_anything_runs(server, name):
    text = refusal(server, blocks=[{"language": "sh", "code": "touch ran"}, {"language": "python", "code": f"# filename: {name}\n1"}])
    assert "Filename is not in the workspace" in text and "block 2" in text


@pytest.mark.parametrize("arguments, said", [
    ({}, "either blocks or message"),
    ({"blocks": [{"code": "1"}], "message": "x"}, "either blocks or message"),
    ({"message": "No code here."}, "there are no code blocks"),
    ({"blocks": [{"language": "c++", "code": "int"}]}, "unknown language c++"),
    ({"message": "x" * 300000}, "262144"),
    ({"blocks": [{"code": "1"}], "timeout": 100000}, "timeout"),
    ({"blocks": [{"code": "print(1)\0"}]}, "NUL"),
    ({"blocks": [{"language": "sh", "code": "# filename: script.py\nls"}]}, "script.py is the program"),
])
def test_mistakes_are_told(server, arguments, said):
    assert said in refusal(server, **arguments)


def test_what_the_operator_says_of_languages():
    with serve({"bash": "refuse", "javascript": "save", "file_names": "comment"}) as server:
        server.initialize()
        assert "the operator does not allow bash" in refusal(server, blocks=[{"language": "bash", "code": "id"}])
        result = send(server, ("javascript", "// app.js\nx"), ("sh", "cat app.js"))
        assert outcomes(result) == [(0, ""), (0, "// app.js\nx")]
        tool = next(tool for tool in server.request("tools/list")["tools"] if tool["name"] == "run_code_blocks")
        assert "that are run: python, sh;" in tool["description"]


def test_a_shell_has_signals_as_ever(server):
    result = send(server, ("bash", "yes | head -1; echo ${PIPESTATUS[0]}"), timeout=20)
    assert outcomes(result) == [(0, "y\n141\n")], result


def test_names_that_look_otherwise(server):
    result = send(server, ("sh", "# filename: -x\necho ran"), ("sh", "# filename: ./a.sh\nexit 124"))
    assert outcomes(result) == [(0, "ran\n"), (124, "")], result
    assert "Timeout" not in text_of(result)


def test_one_block_that_is_saved(server):
    result = send(server, ("html", "<!-- filename: one.html -->"))
    assert text_of(result) == "exitcode: 0 (execution succeeded)\nCode output:\nCode saved to one.html"


def test_a_block_that_is_saved_has_defined_nothing():
    with serve({"python": "save"}) as server:
        server.initialize()
        saved = send(server, ("python", "rows = 1\nrows"))
        directory = saved["structuredContent"]["blocks"][0]["result"]["working_directory"]
        result = server.call_tool("run_python", {"code": "print(rows)", "working_directory": directory})
    assert "NameError" in text_of(result) and "earlier call" not in text_of(result), result


def test_a_venv_comes_first_on_the_path(tmp_path):
    venv.create(tmp_path / "venv")
    environments = {"it": {"type": "venv", "venv_path": str(tmp_path / "venv")}}
    with serve(environments=environments) as server:
        server.initialize()
        result = send(server, ("sh", "command -v python; python -c 'import sys; print(sys.prefix)'"))
    assert outcomes(result) == [(0, f"{tmp_path}/venv/bin/python\n{tmp_path}/venv\n")], result


def test_a_program_that_is_not_there(server):
    result = send(server, ("python", "import os\nprint(os.environ['PATH'])"), ("javascript", "console.log(1 + 1)"))
    (_, node) = result["structuredContent"]["blocks"]
    if node["exit_code"] == 0:
        assert node["result"]["stdout"] == "2\n"
    else:
        assert node["exit_code"] == 1 and "there is no node in this environment" in node["result"]["stderr"]


def test_what_a_block_leaves_running_ends_with_it(server):
    result = send(server, ("sh", "sleep 1000 & echo $!"), ("sh", "ls /proc | grep -c '^[0-9]'"))
    assert [code for code, _ in outcomes(result)] == [0, 0]
    assert result["structuredContent"]["blocks"][0]["result"]["ended_processes"] == 1


def test_a_cancel_ends_the_block_that_runs_and_those_behind_it(server):
    directory = pathlib.Path(send(server, ("sh", "pwd"))["structuredContent"]["blocks"][0]["result"]["script"]).parent
    call = server.start_tool("run_code_blocks", {"blocks": [
        {"language": "sh", "code": "touch begun; sleep 1000"}, {"language": "sh", "code": "touch after"}]})
    assert until(lambda: (directory / "begun").exists())
    server.cancel(call)
    assert until(lambda: send(server, ("sh", "true"))["structuredContent"]["success"])
    assert not (directory / "after").exists()


def test_progress_rises_from_block_to_block(server):
    with serve() as server:
        server.initialize()
        server.call_tool("run_code_blocks", {"blocks": [
            {"language": "sh", "code": f"echo {number}; sleep 1.3"} for number in range(3)]}, progress_token="p")
        told = [note["progress"] for note in server.progress("p")]
    assert len(told) >= 3 and told == sorted(set(told)), told


def test_a_person_is_asked_once_for_all_of_them():
    with serve(approval="always") as server:
        server.initialize(capabilities={"elicitation": {}})
        call = server.start_tool("run_code_blocks", {"blocks": [
            {"language": "python", "code": "print('one')"}, {"language": "sh", "code": "echo two"}]})
        question = server.receive()
        assert question["method"] == "elicitation/create"
        assert "print('one')" in question["params"]["message"] and "echo two" in question["params"]["message"]
        server.send({"jsonrpc": "2.0", "id": question["id"], "result": {"action": "accept", "content": {"approve": "yes"}}})
        result = server.wait(call)["result"]
    assert outcomes(result) == [(0, "one\n"), (0, "two\n")], result


@pytest.mark.parametrize("transport", ["unix", "http"])
def test_other_transports(transport, tmp_path):
    config = {"environments": {"it": {"type": "system"}}, "code_blocks": {}}
    with Server("--results", "structured", transport=transport, config=config) as server:
        server.initialize()
        result = send(server, ("python", "open('a', 'w').write('1')"), ("sh", "cat a"))
    assert outcomes(result) == [(0, ""), (0, "1")]


def test_much_output_of_many_blocks_is_one_result_for_a_model(server):
    result = send(server, *[("python", f"print('line of {number}\\n' * 20000)") for number in range(10)])
    text = text_of(result)
    assert result["structuredContent"]["success"] and len(text) < 30000
    assert all(f"line of {number}" in text for number in range(10))
