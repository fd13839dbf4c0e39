"""`pyexecd map`: one script for many inputs, as people use it in a shell."""

import fcntl
import json
import os
import pathlib
import platform
import re
import select
import signal
import subprocess
import sys
import termios

import pytest

import leftovers
import terminal
import wheels

LIMITED = str(pathlib.Path(__file__).with_name("limited.py"))
SQUARE = "def main(n):\n    return n ** 2\n"


@pytest.fixture(autouse=True)
def at_a_place_to_work(tmp_path, monkeypatch):
    """`pyexecd map` works where it is called."""
    monkeypatch.chdir(tmp_path)


@pytest.fixture
def write(tmp_path):
    def written(name, text):
        path = tmp_path / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(text)
        return path
    return written


def mapped(*arguments, command=(os.environ["PYEXECD"],), **options):
    """Runs `pyexecd map`. What this machine's containment lacks is told on stderr, which is left out."""
    result = subprocess.run([*command, "map", *map(str, arguments)], capture_output=True, text=True,
                            check=False, timeout=120, **{"input": "", **options})
    result.stderr = re.sub(r"^pyexecd: containment is weaker .*\n", "", result.stderr, flags=re.M)
    return result


def results(done):
    """The results that it printed, by the index of their input."""
    found = [json.loads(line) for line in done.stdout.splitlines()]
    assert sorted(each["index"] for each in found) == list(range(len(found)))
    return {each["index"]: each for each in found}


def values(done):
    return {index: json.loads(each["stdout"]) for index, each in results(done).items()}


@pytest.fixture
def begun():
    """Begins `pyexecd map`, which is not left behind."""
    processes = []

    def begin(*arguments, **options):
        processes.append(subprocess.Popen([os.environ["PYEXECD"], "map", *map(str, arguments)], text=True,
                                          **{"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, **options}))
        return processes[-1]

    yield begin
    for process in processes:
        process.kill()
        process.wait()
        for stream in (process.stdin, process.stdout):
            if stream:
                stream.close()


def test_a_script_runs_once_for_each_line(write):
    lines = "".join(f"{n}\n" for n in range(20))
    done = mapped(write("square.py", SQUARE), write("inputs.jsonl", lines))
    assert values(done) == {n: n ** 2 for n in range(20)}
    assert (done.returncode, done.stderr) == (0, "")
    for arguments in ([], ["-"]):
        assert values(mapped(write("square.py", SQUARE), *arguments, input=lines)) == values(done)


def test_nothing_to_do_is_done(write):
    done = mapped(write("square.py", SQUARE), input="\n \r\n")
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


def test_an_input_is_anything_that_json_can_say(write):
    inputs = [None, True, -1.5, 10 ** 30, "süß\n\"'\\ \u2028 \U0001F600 \0", [1, [2]], {"a": {"ü": None}}]
    lines = "\r\n".join(json.dumps(each, ensure_ascii=False) for each in inputs)
    done = mapped(write("same.py", "# -*- coding: latin-1 -*-\ndef main(value):\n    return [value]"), input=lines)
    assert values(done) == {index: [value] for index, value in enumerate(inputs)}


def test_a_failure_costs_only_itself_and_says_where_it_is(write):
    lines = '2\n{"n": 3\n"x"\n\n4'
    done = mapped(write("square.py", SQUARE), write("inputs.jsonl", lines))
    found = results(done)
    assert done.returncode == 1
    assert [found[index]["success"] for index in range(4)] == [True, False, False, True]
    assert set(found[1]) == {"index", "success", "error"}
    assert re.match(r".*/inputs\.jsonl:2:\d+: ", found[1]["error"])
    assert re.search(r'square\.py", line 2, in main', found[2]["stderr"])


def test_the_results_have_the_structured_form(write):
    (found,) = results(mapped(write("fail.py", "def main(n):\n    raise SystemExit(n)"), input="3")).values()
    assert (found["returncode"], found["timed_out"], found["stdout"], found["truncated"]) == (3, False, "", False)
    (found,) = results(mapped("-t", "2", write("slow.py", "import time\ndef main(n):\n    time.sleep(n)"),
                              input="3000")).values()
    assert found["timed_out"] and not found["success"]


def test_what_the_command_writes_to_is_no_file_of_a_run(write, tmp_path):
    """The first run sees how the result of the second is written."""
    script = write("see.py", "import os, time\ndef main(name):\n    open(f'made-{name}', 'w').close()\n"
                             "    while name == 'first' and not os.path.getsize('out.jsonl'): time.sleep(0.01)\n")
    with open(tmp_path / "out.jsonl", "w+") as output:
        subprocess.run([os.environ["PYEXECD"], "map", "-j2", "-t", "100", script], input='"first"\n"second"\n',
                       text=True, stdout=output, stderr=output, timeout=120, check=True)
        output.seek(0)
        lines = [json.loads(line) for line in output if line.startswith("{")]
    files = {each["index"]: {file["path"] for file in each["files"]} for each in lines}
    assert "made-first" in files[0] and "made-second" in files[1]
    assert "out.jsonl" not in files[0] | files[1]


def test_a_script_finds_its_modules_and_the_users_files_stay(write, tmp_path):
    write("lib/helper.py", "x = 6 * 7")
    script = write("lib/script.py", "import helper, os\ndef main(n):\n    return [helper.x + n, __file__, os.getcwd()]")
    for _ in range(2):
        done = mapped(script, input="0\n1\n2")
        assert values(done) == {n: [42 + n, str(script), str(tmp_path)] for n in range(3)}
    assert not script.read_text().endswith("\n")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["lib"]


def test_what_the_call_of_main_imports_is_imported_ahead(write, monkeypatch, tmp_path):
    """Else it would be most of what a run takes."""
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    assert mapped(write("square.py", "import csv\n" + SQUARE), input="1").returncode == 0
    seen = subprocess.run([os.environ["PYEXECD"], "doctor"], capture_output=True, text=True, check=False, timeout=120)
    ahead = re.search(r"^ *preload (.*)$", seen.stdout, re.M)
    assert ahead and {"csv", "json"} <= set(re.findall(r"\w+", ahead[1])), seen.stdout


@pytest.mark.skipif(platform.machine() != "x86_64", reason="limited.py knows x86-64 alone")
def test_what_cannot_be_laid_over_the_script_is_run_all_the_same(write, tmp_path):
    config = write("config.yaml", json.dumps({"containment": "best-effort"}))
    done = mapped("--config", config, write("square.py", SQUARE), input="2\n3\n4",
                  command=[sys.executable, LIMITED, "namespaces", "--", os.environ["PYEXECD"]])
    assert values(done) == {0: 4, 1: 9, 2: 16}
    assert sorted(path.name for path in tmp_path.iterdir()) == ["config.yaml", "square.py"]


def test_runs_go_at_the_same_time_and_results_come_as_they_end(write, begun):
    """The first waits for the second, whose result comes before the inputs end."""
    script = write("meet.py", "import os, time\ndef main(name):\n"
                              "    while name and not os.path.exists(name): time.sleep(0.01)\n"
                              "    return name\n")
    process = begun("-t", "100", script)
    process.stdin.write('"go"\n""\n')
    process.stdin.flush()
    assert json.loads(process.stdout.readline())["index"] == 1
    write("go", "")
    assert json.loads(process.stdout.readline())["index"] == 0
    process.stdin.write('""')
    process.stdin.close()
    assert json.loads(process.stdout.readline())["index"] == 2
    assert process.wait(60) == 0


ALONE = """
import os, time
def main(n):
    os.close(os.open("alone", os.O_CREAT | os.O_EXCL))
    time.sleep(0.05)
    os.unlink("alone")
"""


def test_no_more_run_at_a_time_than_was_said(write):
    script = write("alone.py", ALONE)
    assert mapped("-j1", "-t", "100", script, input="1\n" * 8).returncode == 0
    write("alone", "")
    assert mapped("-j", "1", "-t", "100", script, input="1\n").returncode == 1


def test_as_many_run_at_a_time_as_was_said(write):
    """More than the configuration has: each waits for all others."""
    script = write("all.py", "import os, time\ndef main(n):\n    open(f'begun-{n}', 'w').close()\n"
                             "    while len([name for name in os.listdir() if name.startswith('begun-')]) < 6:\n"
                             "        time.sleep(0.01)\n")
    done = mapped("--parallel", "6", "-t", "100", script, input="".join(f"{n}\n" for n in range(6)))
    assert done.returncode == 0, done.stdout


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_ends_all(number, write, begun):
    script = write("long.py", "import os, time\ndef main(n):\n    open(f'begun-{n}', 'w').close()\n"
                              "    time.sleep(3000)\n")
    process = begun("-j2", "-t", "500", script)
    process.stdin.write("1\n2\n3\n")
    process.stdin.flush()
    here = script.parent
    assert leftovers.until(lambda: (here / "begun-1").exists() and (here / "begun-2").exists())
    children = leftovers.descendants(process.pid)
    process.send_signal(number)
    assert process.wait(60) == 128 + number
    assert process.stdout.read() == ""
    assert leftovers.until(lambda: not leftovers.alive(children))


def test_it_ends_when_nobody_reads_on(write, begun):
    process = begun(write("square.py", SQUARE))
    process.stdin.write("1\n" * 2)
    process.stdin.flush()
    process.stdout.readline()
    process.stdout.close()
    process.stdin.write("1\n" * 100)
    process.stdin.flush()
    assert process.wait(60) == 128 + signal.SIGPIPE


# More than a pipe holds, so that nobody who does not read gets it whole.
LARGE = """
import pathlib, time
def main(n):
    pathlib.Path(f"begun-{n}").touch()
    while n == 100: time.sleep(3000)
    return n * 100000 * "x"
"""


def test_a_reader_that_pauses_holds_up_no_script(write, begun):
    """Else time would pass unnoticed, and what has ended would count as timed out."""
    script = write("large.py", LARGE)
    process = begun("-j1", "-t", "100", script, write("inputs.jsonl", "1\n2\n3\n4\n"))
    assert leftovers.until((script.parent / "begun-4").exists)
    found = [json.loads(line) for line in process.stdout]
    assert [json.loads(each["stdout"]) for each in found] == [n * 100000 * "x" for n in (1, 2, 3, 4)]
    assert process.wait(60) == 0


def test_no_more_is_begun_than_a_reader_who_pauses_may_want(write, begun):
    """What he has not read takes memory."""
    script = write("large.py", LARGE)
    process = begun("-j2", "-t", "100", script, write("inputs.jsonl", "".join(f"{n}\n" for n in range(5, 35))))
    assert leftovers.until((script.parent / "begun-6").exists)
    assert not leftovers.until((script.parent / "begun-15").exists, 3)
    assert sorted(json.loads(line)["index"] for line in process.stdout) == list(range(30))
    assert process.wait(60) == 0


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_ends_all_while_the_reader_pauses(number, write, begun):
    script = write("large.py", LARGE)
    process = begun("-j2", "-t", "500", script, write("inputs.jsonl", "100\n2\n"))
    assert leftovers.until((script.parent / "begun-100").exists)
    assert leftovers.until(lambda: any(fcntl.ioctl(process.stdout, termios.FIONREAD, bytes(4))))
    children = leftovers.descendants(process.pid)
    process.send_signal(number)
    assert process.wait(60) == 128 + number
    assert leftovers.until(lambda: not leftovers.alive(children))


def test_a_signal_ends_all_while_a_terminal_takes_nothing(write, begun):
    theirs, ours = os.openpty()
    script = write("large.py", LARGE)
    process = begun("-j2", "-t", "500", script, write("inputs.jsonl", "100\n2\n"), stdout=ours)
    os.close(ours)
    assert leftovers.until((script.parent / "begun-100").exists)
    assert leftovers.until(lambda: select.select([theirs], [], [], 0)[0])
    process.send_signal(signal.SIGINT)
    assert process.wait(60) == 128 + signal.SIGINT
    os.close(theirs)


def test_it_ends_when_a_reader_who_paused_is_gone(write, begun):
    script = write("large.py", LARGE)
    process = begun("-j2", "-t", "500", script, write("inputs.jsonl", "100\n2\n"))
    assert leftovers.until(lambda: any(fcntl.ioctl(process.stdout, termios.FIONREAD, bytes(4))))
    process.stdout.close()
    assert process.wait(60) == 128 + signal.SIGPIPE


def test_an_output_that_others_made_nonblocking_is_waited_for(write, begun):
    reading, writing = os.pipe()
    os.set_blocking(writing, False)
    script = write("large.py", LARGE)
    process = begun("-j1", script, write("inputs.jsonl", "3\n4\n"), stdout=writing)
    os.close(writing)
    with open(reading, encoding="utf-8") as output:
        assert leftovers.until((script.parent / "begun-4").exists)
        found = [json.loads(line) for line in output]
    assert [json.loads(each["stdout"]) for each in found] == [n * 100000 * "x" for n in (3, 4)]
    assert process.wait(60) == 0


@pytest.mark.parametrize("length", [(1 << 20) + 1, (1 << 20) + (1 << 16) + 7, 2 << 20, 3 << 20])
def test_a_line_that_is_too_long_costs_only_itself(length, write):
    for end, indices in (("\n3\n", [0, 1, 3]), ("\n", [0, 1]), ("", [0, 1])):
        done = mapped(write("square.py", SQUARE), write("inputs.jsonl", "1\n2\n" + length * "3" + end))
        found = results(done)
        assert re.match(r".*/inputs\.jsonl:3: the line is longer than 1048576 bytes", found.pop(2)["error"])
        assert {index: json.loads(each["stdout"]) for index, each in found.items()} == \
               {index: (1, 4, None, 9)[index] for index in indices}
        assert (done.returncode, done.stderr) == (1, "")


def test_the_longest_line_is_an_input(write):
    text = json.dumps("x" * ((1 << 20) - 2))
    assert values(mapped(write("length.py", "def main(text):\n    return len(text)\n"), input=text + "\n" + text)) == \
           {index: (1 << 20) - 2 for index in range(2)}


def test_a_byte_order_mark_is_passed_over(write, tmp_path):
    (tmp_path / "inputs.jsonl").write_text("2\n3\n", "utf-8-sig")
    assert values(mapped(write("square.py", SQUARE), tmp_path / "inputs.jsonl")) == {0: 4, 1: 9}


def test_a_mistake_is_told_before_anything_runs(write, tmp_path):
    done = mapped(write("no.py", "# main\nprint(1)\n"), input="1")
    assert done.returncode == 65 and "no.py must define main(input)" in done.stderr
    done = mapped(tmp_path / "nowhere.py", input="1")
    assert done.returncode == 66 and done.stdout == ""
    done = mapped(write("square.py", SQUARE), tmp_path / "nowhere.jsonl")
    assert done.returncode != 0 and "cannot read" in done.stderr and done.stdout == ""
    done = mapped("-j", "0", write("square.py", SQUARE), input="1")
    assert done.returncode == 64 and "must be a number from 1 to 256" in done.stderr


def test_on_a_terminal_inputs_are_asked_for(write):
    code, text = terminal.on_terminal("map", write("square.py", SQUARE), typed=b"3\n\x04")
    assert code == 0
    assert "reading inputs from the terminal" in text and "preparing" not in text and " done" not in text
    (result,) = (json.loads(line) for line in text.splitlines() if line.startswith("{"))
    assert result["stdout"] == "9\n"


def test_what_cannot_be_prepared_is_told_once(write, tmp_path, monkeypatch):
    with wheels.Index(tmp_path) as index:
        monkeypatch.setenv("PIP_INDEX_URL", index.url)
        monkeypatch.setenv("PIP_TRUSTED_HOST", index.host)
        monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
        done = mapped("-j2", "--with", "gadget", write("square.py", SQUARE), input="3\n" * 50)
    assert (done.returncode, done.stdout) == (69, "")
    assert done.stderr.count("Name another version or another package") == 1


def test_a_terminal_shows_how_many_are_over(write):
    code, text = terminal.on_terminal("map", write("slow.py", "import time\ndef main(n):\n    time.sleep(n)"),
                                      write("inputs.jsonl", "0\n0\n1\n1"))
    assert code == 0
    assert re.search(r"slow\.py +\d done, 0 failed", text)
    assert len([line for line in terminal.screen(text) if line.startswith("{")]) >= 1
