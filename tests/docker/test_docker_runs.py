"""One script, one container: what the script sees, what comes back, what ends it, what is left."""

import base64
import contextlib
import os
import pathlib
import threading
import time

import pytest

import client
import leftovers
from docker_server import timed_out
from engine import ApiError
from pictures import BLUE, RED, Pixels, halves

SOON = 60.0  # on any machine


def our_containers(engine):
    return engine.api.get("/containers/json", all=1)


def wait_for_container(engine):
    """The description of the only container, once it runs. One that was asked for its Python may still be going."""
    def find():
        try:
            return [engine.api.get(f"/containers/{each['Id']}/json") for each in engine.api.get("/containers/json")]
        except ApiError:
            return None
    found = leftovers.until(lambda: len(running := find() or []) == 1 and running)
    assert found, our_containers(engine)
    return found[0]


def call(server, code, **arguments):
    """The result of a call with ARGUMENTS."""
    return server.run(code, arguments=arguments)


@contextlib.contextmanager
def background(server, code):
    """A call in the background, in a prepared environment; yields a list that gets its result."""
    results = []
    server.prepare()
    thread = threading.Thread(target=lambda: results.append(server.run(code)))
    thread.start()
    yield results
    thread.join()


@pytest.mark.parametrize("definition", [{}, {"start": "warm"}, {"keep_container_running": True}], ids=str)
def test_output_comes_while_the_script_runs(docker_server, definition):
    with docker_server(definition) as server:
        server.initialize()
        asks = {"progressToken": "p", "pyexecd/output": True}
        code = "import time\nprint('first', flush=True)\ntime.sleep(600)"
        call = server.start_request("tools/call", {"name": "run_python", "_meta": asks,
                                                   "arguments": {"code": code, "timeout": 600}})
        while not (pieces := [note["_meta"]["pyexecd/output"] for note in server.progress("p") if "_meta" in note]):
            message = server.receive()
            assert "method" in message, message
            server.notifications.append(message)
        assert pieces == [{"stream": "stdout", "offset": 0, "length": 6, "text": "first\n"}]
        server.cancel(call)


def test_a_picture_comes_back(docker_server):
    with docker_server() as server:
        server.initialize()
        code = ("import base64, os\n"
                f"open('plot.png', 'wb').write(base64.b64decode({base64.b64encode(halves(64, 32)).decode()!r}))\n"
                "os.symlink('/etc/passwd', 'link.png')\nos.mkfifo('fifo.png')\n")
        result = server.call_tool("run_python", {"code": code})
        [image] = [block for block in result["content"] if block["type"] == "image"]
        pixels = Pixels(base64.b64decode(image["data"]))
        assert (pixels[5, 5], pixels[5, 30]) == (RED, BLUE)


def test_a_script_runs_in_the_working_directory(docker_server):
    with docker_server() as server:
        server.initialize()
        result = server.run("import os, sys\nopen('made', 'w').write('x')\n"
                            "print(os.getcwd(), sys.argv, __file__, os.environ['HOME'])")
        assert result["stdout"] == \
            "/workspace ['/workspace/script.py'] /workspace/script.py /workspace\n"
        assert (result["environment"], result["isolation"]) == ("box", "docker")
        assert result["python_version"].startswith("3.11.")
        assert [file["path"] for file in result["files"]] == ["made"]
        made = pathlib.Path(result["script"]).parent / "made"
        assert made.stat().st_uid == os.geteuid() and made.read_text() == "x"
        again = call(server, "print(open('made').read())",
                     working_directory=result["working_directory"])
        assert again["stdout"] == "x\n"


def test_a_script_has_the_functions_of_the_operator(docker_server, tmp_path):
    (tmp_path / "file.py").write_text("def twice(x: int):\n    return 2 * x\n")
    with docker_server({"functions": str(tmp_path / "file.py")}) as server:
        assert "twice(x: int)" in server.initialize()["instructions"]
        for number in range(3):
            result = server.run(f"import functions\nprint(functions.twice({number}))")
            assert (result["stdout"], result["files"]) == (f"{2 * number}\n", []), result



def test_code_blocks_run_in_containers(docker_server):
    with docker_server(config={"code_blocks": {}}) as server:
        server.initialize()
        result = server.call_tool("run_code_blocks", {"message": """
```python
# filename: lib.py
open("a", "w").write("one")
```
```sh
cat a; python -c "import lib"; pwd
```
```bash
exit 3
```
"""}, timeout=180)
    text = result["content"][0]["text"]
    assert text.startswith("exitcode: 3 (execution failed)\n") and "one/workspace" in text, text



@pytest.mark.parametrize("code, returncode, signal", [
    ("raise SystemExit(7)", 7, None),
    ("import os; os._exit(255)", 255, None),
    ("import os; os.kill(os.getpid(), 9)", -9, "SIGKILL"),
    ("import os; os.abort()", -6, "SIGABRT"),
    ("import os; os.kill(os.getpid(), 15)", -15, "SIGTERM"),
])
def test_the_real_exit_status_comes_back(docker_server, code, returncode, signal):
    with docker_server() as server:
        server.initialize()
        result = server.run(code)
        assert (result["returncode"], result["signal"]) == (returncode, signal)
        assert not result["out_of_memory"] and not result["timed_out"]


def test_streams_are_apart_and_whole(docker_server):
    with docker_server() as server:
        server.initialize()
        result = server.run("import os\nfor i in range(2000):\n    os.write(1, b'o' * 500)\n"
                            "    os.write(2, b'\\0\\xff' * 5)\n")
        assert (result["stdout_bytes"], result["stderr_bytes"]) == (1_000_000, 20_000)
        assert set(result["stdout"]) == {"o"}


def test_a_script_that_needs_too_much_memory(docker_server):
    with docker_server({"limits": {"memory": "64MiB"}}) as server:
        server.initialize()
        result = server.run("x = bytearray(500 << 20)")
        assert result["out_of_memory"] and result["returncode"] == -9


def test_a_script_finds_its_user_its_host_and_shared_memory(docker_server):
    code = ("import getpass, os, socket\nroom = os.statvfs('/dev/shm')\n"
            "print(getpass.getuser(), socket.gethostbyname(socket.gethostname()), room.f_blocks * room.f_frsize >> 20)")
    with docker_server({"user": "4321:4321", "limits": {"memory": "300MiB"}}) as server:
        server.initialize()
        assert server.run(code)["stdout"] == "user 127.0.0.1 300\n"


def test_what_a_script_used_is_told(docker_server):
    with docker_server() as server:
        server.initialize()
        usage = server.run("x = bytearray(50 << 20)\nimport time\nend = time.process_time() + 0.3\n"
                           "while time.process_time() < end: pass")["usage"]
        assert usage["cpu_seconds"] >= 0.3
        assert usage["peak_memory_bytes"] > 50 << 20


def test_a_timeout_tells_what_was_used(docker_server):
    with docker_server() as server:
        server.initialize()
        result = timed_out(lambda timeout: call(server, "x = bytearray(50 << 20)\nprint('on', flush=True)\n"
                                                        "while True: pass", timeout=timeout),
                           lambda result: result["stdout"] == "on\n" and result["usage"]["cpu_seconds"] > 0.1)
        assert result["usage"]["cpu_seconds"] > 0.1
        assert result["usage"]["peak_memory_bytes"] > 50 << 20


def test_a_script_cannot_end_its_container_by_a_signal(docker_server):
    with docker_server() as server:
        server.initialize()
        result = server.run("import os, time\nfor number in range(1, 65):\n"
                            "    try: os.kill(1, number)\n    except OSError: pass\n"
                            "time.sleep(0.3); print('alive')")
        assert (result["returncode"], result["stdout"]) == (0, "alive\n")


def test_a_timeout_ends_what_runs_inside(docker_server, engine):
    with docker_server() as server:
        server.initialize()
        code = ("import subprocess, time\nsubprocess.Popen(['sleep', '1000'])\n"
                "print('early', flush=True)\ntime.sleep(1000)")
        result = timed_out(lambda timeout: call(server, code, timeout=timeout),
                           lambda result: result["stdout"] == "early\n")
        assert result["duration"] < SOON
        assert leftovers.until(lambda: our_containers(engine) == [])
        assert leftovers.until(lambda: not engine.shims())


def test_a_timeout_shows_what_was_printed_and_where_the_script_stood(docker_server):
    with docker_server() as server:
        server.initialize()
        code = "import time\nprint('early')\ntime.sleep(1000)"
        result = client.given_time(lambda: timed_out(lambda timeout: call(server, code, timeout=timeout),
                                                     lambda result: result["stdout"] == "early\n"))
        assert result["stdout"] == "early\n"
        assert "script.py\", line 3" in result["stderr"] and result["stderr"].endswith("KeyboardInterrupt\n")


def test_what_a_stubborn_script_has_printed_is_in_its_result(docker_server):
    with docker_server() as server:
        server.initialize()
        code = "import signal, time\nsignal.signal(signal.SIGINT, signal.SIG_IGN)\nprint('early')\ntime.sleep(1000)"
        result = timed_out(lambda timeout: call(server, code, timeout=timeout),
                           lambda result: result["stdout"] == "early\n")
        assert result["signal"] == "SIGKILL"


def test_a_script_does_not_see_its_starter(docker_server):
    with docker_server() as server:
        server.initialize()
        result = server.run("import os, sys\nprint(sys.path[0], [each for each in sys.path if 'fd' in each],"
                            " 'PYTHONPATH' in os.environ, os.listdir('/proc/self/fd'))")
        assert result["stdout"] == "/workspace [] False ['0', '1', '2', '3']\n", result


def test_the_time_of_a_script_begins_when_its_container_has_started(docker_server):
    with docker_server() as server:
        server.initialize()
        server.run("pass")
        result = call(server, "import time; time.sleep(100)", timeout=2)
        assert result["timed_out"]
        start, run = result["timings"]["start"], result["timings"]["run"]
        assert start > 0 and run > 2 - start / 2, result["timings"]


def test_a_cancel_ends_what_runs_inside(docker_server, engine):
    with docker_server() as server:
        server.initialize()
        server.prepare()
        running = server.start_tool("run_python", {"code": "import time; time.sleep(1000)"})
        wait_for_container(engine)
        server.cancel(running)
        assert leftovers.until(lambda: our_containers(engine) == [])


def test_a_client_that_leaves_ends_what_runs_inside(docker_server, engine):
    with docker_server() as server:
        server.initialize()
        server.start_tool("run_python", {"code": "import time; time.sleep(1000)"})
        wait_for_container(engine)
    assert leftovers.until(lambda: our_containers(engine) == [])


def test_nothing_a_script_starts_outlives_it(docker_server):
    with docker_server() as server:
        server.initialize()
        result = server.run("import os, subprocess\n"
                            "subprocess.Popen(['sleep', '1000'], start_new_session=True)\n"
                            "print('done')")
        assert result["success"] and result["stdout"] == "done\n", result


def test_a_container_is_fresh_for_each_call(docker_server):
    with docker_server() as server:
        server.initialize()
        server.run("open('/tmp/left', 'w')")
        assert server.run("import os; print(os.path.exists('/tmp/left'))")["stdout"] == "False\n"


def test_it_is_hardened(docker_server):
    code = """
import os, socket
status = dict(line.split(':\\t', 1) for line in open('/proc/self/status') if ':\\t' in line)
print(status['CapEff'].strip(), status['CapBnd'].strip(), status['NoNewPrivs'].strip())
for path in ('/usr/x', '/etc/x', '/x'):
    try:
        open(path, 'w')
        print('wrote', path)
    except OSError:
        pass
print(sorted(os.listdir('/sys/class/net')))
"""
    with docker_server() as server:
        server.initialize()
        assert server.run(code)["stdout"] == "0000000000000000 0000000000000000 1\n['lo']\n"


def test_limits_of_a_container(docker_server, engine):
    with docker_server({"limits": {"memory": "256MiB", "processes": 40, "cpus": 0.5}}) as server:
        server.initialize()
        server.begin("import time; time.sleep(1000)")
        host = wait_for_container(engine)["HostConfig"]
    assert (host["Memory"], host["MemorySwap"]) == (256 << 20, 256 << 20)
    assert (host["PidsLimit"], host["NanoCpus"]) == (42, 500_000_000)


def test_labels_and_name_of_a_container(docker_server, engine):
    with docker_server({"container_name_prefix": "lab_"}) as server:
        server.initialize()
        server.begin("import time; time.sleep(1000)")
        found = wait_for_container(engine)
    assert found["Name"].startswith("/lab_")
    labels = found["Config"]["Labels"]
    assert labels["pyexecd.environment"] == "box"
    assert labels["pyexecd.owner"] == str(os.geteuid())
    assert 0 < float(labels["pyexecd.deadline"]) - time.time() < 180


def test_variables_of_the_operator(docker_server):
    with docker_server({"environment": {"GREETING": "hello = you", "HOME": "/tmp"}}) as server:
        server.initialize()
        assert server.run("import os; print(os.environ['GREETING'], os.environ['HOME'],"
                          " os.environ.get('PYEXECD_NONCE'))")["stdout"] == \
            "hello = you /tmp None\n"


def test_volumes_are_read_only_unless_said(docker_server, tmp_path):
    (tmp_path / "a").mkdir()
    (tmp_path / "b").mkdir()
    (tmp_path / "a" / "file").write_text("from outside")
    volumes = {str(tmp_path / "a"): "/a", str(tmp_path / "b"): {"path": "/b", "mode": "rw"}}
    with docker_server({"volumes": volumes}) as server:
        server.initialize()
        result = server.run("print(open('/a/file').read())\nopen('/b/made', 'w').write('inside')\n"
                            "open('/a/made', 'w')")
    assert result["stdout"] == "from outside\n" and "Read-only file system" in result["stderr"]
    assert (tmp_path / "b" / "made").read_text() == "inside"


def test_overlapping_calls_of_one_directory_run_their_own_code(docker_server):
    with docker_server(config={"limits": {"concurrent_runs": 3}}) as server:
        server.initialize()
        codes = [f"import time; time.sleep(0.5); print({number}, open(__file__).read()[-2:])"
                 for number in range(3)]
        calls = [server.start_tool("run_python", {"code": code + f"#{number}"})
                 for number, code in enumerate(codes)]
        results = [server.wait(one, 180)["result"]["structuredContent"] for one in calls]
    assert [result["stdout"] for result in results] == [f"{n} #{n}\n" for n in range(3)]


def test_a_container_can_be_left_to_be_looked_at(docker_server, engine):
    with docker_server({"cleanup_container": False}) as server:
        server.initialize()
        server.run("print('what it said'); raise SystemExit(3)")
    left, = our_containers(engine)
    assert left["State"] == "exited"
    details = engine.api.get(f"/containers/{left['Id']}/json")
    assert details["State"]["ExitCode"] == 3
    assert details["HostConfig"]["LogConfig"]["Type"] == "json-file"
    assert float(details["Config"]["Labels"]["pyexecd.deadline"]) > time.time() + 3600
    log = engine.api.get(f"/containers/{left['Id']}/logs", stdout=1, stderr=1)
    assert log == b"\1\0\0\0\0\0\0\x0dwhat it said\n"
    engine.api.delete(f"/containers/{left['Id']}")


def test_few_containers_of_a_client_are_left_to_be_looked_at(docker_server, engine):
    with docker_server({"cleanup_container": False}) as server:
        server.initialize()
        for number in range(10):
            assert server.run(f"print({number})")["success"]
        left = leftovers.until(lambda: len(our_containers(engine)) == 8 and our_containers(engine))
        assert left, our_containers(engine)
    for container in our_containers(engine):
        engine.api.delete(f"/containers/{container['Id']}")


@pytest.mark.parametrize("user", ["1234", "1234:5678", "nobody"])
def test_another_user_can_use_the_working_directory(docker_server, user):
    with docker_server({"user": user}) as server:
        server.initialize()
        first = server.run("import os\nos.makedirs('deep/er')\nopen('deep/er/made', 'w').write('x')\n"
                           "print(os.getuid())")
        assert first["success"] and first["stdout"] in ("1234\n", "65534\n"), first
        handle = first["working_directory"]
        again = call(server, "print(open('deep/er/made').read())", working_directory=handle)
        assert again["stdout"] == "x\n"
        here = pathlib.Path(first["script"]).parent
        assert (here / "deep" / "er" / "made").read_text() == "x"


@pytest.mark.parametrize("user", [None, "1234"])
@pytest.mark.parametrize("kept", [False, True])
def test_files_of_a_call_belong_to_its_script(docker_server, user, kept):
    definition = {"keep_container_running": kept, **({"user": user} if user else {})}
    code = ("import os; print(open('d/f').read()); open('d/f', 'a').write('2'); open('d/g', 'w')\n"
            "os.remove('top'); os.remove('d/f')")
    files = [{"path": "d/f", "text": "1"}, {"path": "top", "text": ""}]
    with docker_server(definition) as server:
        server.initialize()
        for _ in range(2):  # what is there from the first time is replaced
            result = server.call_tool("run_python", {"code": code, "files": files}, timeout=180)
            assert result["structuredContent"]["stdout"] == "1\n", result
            assert [file["path"] for file in result["structuredContent"]["files"]] == ["d/g"]


@pytest.mark.parametrize("user", [None, "1234"])
def test_what_a_container_wrote_is_a_resource(docker_server, user):
    with docker_server({"user": user} if user else {}) as server:
        server.initialize()
        result = server.call_tool("run_python", {
            "code": "import os; os.umask(0o77); open('f', 'w').write('7'); os.mkfifo('p')"},
            timeout=180)
        (link,) = result["content"][1:]
        (contents,) = server.request("resources/read", {"uri": link["uri"]})["contents"]
        assert contents["text"] == "7"


@pytest.mark.parametrize("user", [None, "1234"])
def test_what_is_left_out_is_in_a_file_for_the_next_script(docker_server, user):
    with docker_server({"user": user} if user else {}) as server:
        server.initialize()
        code = "for i in range(60000): print('line', i)\n"
        if not user:  # his own directory
            code += "import os; os.chmod('.', 0)\n"
        result = server.call_tool("run_python", {"code": code + "1 / 0"}, timeout=180)
        block = result["content"][0]
        assert "The whole is in output.txt.\n" in block["text"]
        assert '  File "script.py", line ' in block["text"]
        again = server.run("print(len(open('output.txt').read().splitlines()))")
        assert again["stdout"] == "60000\n", again


def test_overlapping_calls_of_another_user_run_their_own_code(docker_server):
    with docker_server({"user": "1234"}, config={"limits": {"concurrent_runs": 3}}) as server:
        server.initialize()
        calls = [server.start(f"import time; time.sleep(0.5); print({number})")
                 for number in range(3)]
        results = [server.wait(one, 180)["result"]["structuredContent"] for one in calls]
    assert [result["stdout"] for result in results] == ["0\n", "1\n", "2\n"]


# Images that trip who trusts an image.

@pytest.mark.parametrize("image", ["entrypoint", "user", "no-such-user", "volume", "healthcheck",
                                   "onbuild", "workdir", "variables", "no-path", "only-python3",
                                   "only-python"])
def test_odd_images_run_scripts_all_the_same(docker_server, image):
    with docker_server({"image": image}) as server:
        server.initialize()
        result = server.run("import os\nopen('made', 'w')\nprint(os.getcwd(), os.environ['HOME'])")
        assert result["stdout"] == "/workspace /workspace\n", result
        assert (pathlib.Path(result["script"]).parent / "made").stat().st_uid == os.geteuid()


def test_healthchecks_of_an_image_do_not_run(docker_server):
    with docker_server({"image": "healthcheck"}) as server:
        server.initialize()
        result = server.run("import time; time.sleep(2.5)")
        assert result["files"] == []


def test_volumes_of_an_image_cannot_be_filled(docker_server):
    with docker_server({"image": "volume", "limits": {"memory": "64MiB"}}) as server:
        server.initialize()
        result = server.run("with open('/data/x', 'wb') as file:\n"
                            "    while True: file.write(bytes(1 << 20))")
        assert "No space left" in result["stderr"] or result["out_of_memory"], result


# What cannot be had.

def error_of(server, code="print(1)"):
    server.initialize()
    result = server.run(code)
    assert result["returncode"] is None and not result["success"]
    return result["error"]


def test_no_engine(docker_server, tmp_path):
    socket = f"unix://{tmp_path}/no.sock"
    with docker_server({"host": socket},
                       config={"environments": {"other": {"type": "system"}}}) as server:
        assert error_of(server) == ('cannot prepare environment "box": asking the engine: '
                                    f"no Docker engine at {socket}: No such file or directory; start it, or name "
                                    "another in host")
        assert call(server, "print(1)", environment="other")["stdout"] == "1\n"


def test_an_image_that_is_not_there(docker_server):
    with docker_server({"image": "nowhere/nothing:1", "pull": "never"}) as server:
        assert "does not have image nowhere/nothing:1" in error_of(server)


def test_an_image_without_python(docker_server):
    with docker_server({"image": "no-python"}) as server:
        assert "neither python3 nor python" in error_of(server)


def test_an_image_for_another_machine(docker_server):
    with docker_server({"image": "arm64"}) as server:
        assert "image arm64 is for arm64, the engine's machine is amd64" in error_of(server)


def test_a_network_that_is_not_there(docker_server):
    with docker_server({"network": "nowhere"}) as server:
        assert "nowhere" in error_of(server)


@pytest.mark.parametrize("network", ["none", "bridge"])
def test_names_of_hosts_have_the_addresses_of_the_operator(docker_server, network):
    hosts = ["db.example:192.0.2.7", "six.example:2001:db8::7"]
    with docker_server({"network": network, "extra_hosts": hosts}) as server:
        server.initialize()
        result = server.run("import socket\nprint(socket.gethostbyname('db.example'))\n"
                            "print('2001:db8::7\\tsix.example' in open('/etc/hosts').read())")
        assert result["stdout"] == "192.0.2.7\nTrue\n", result


def test_a_runtime_that_is_not_there(docker_server):
    with docker_server({"runtime": "nowhere"}) as server:
        assert "nowhere" in error_of(server)


def test_a_volume_that_is_not_there(docker_server, tmp_path):
    with docker_server({"volumes": {str(tmp_path / "nothing"): "/data"}}) as server:
        assert f"{tmp_path}/nothing: No such file or directory" in error_of(server)


def test_the_engines_socket_is_never_mounted(docker_server, engine, tmp_path):
    socket = pathlib.Path(engine.environment["DOCKER_HOST"].removeprefix("unix://"))
    (tmp_path / "link").symlink_to(socket)
    (tmp_path / "parent").symlink_to(socket.parent)
    for path in (socket, socket.parent, tmp_path / "link", tmp_path / "parent"):
        with docker_server({"volumes": {str(path): "/data"}}) as server:
            assert "the engine's socket" in error_of(server)


def test_a_container_that_does_not_start_in_time(docker_server):
    with docker_server() as server:
        server.initialize()
        server.run("pass")
    with docker_server({"container_startup_timeout": 0.01}) as server:
        assert "within 0.01 seconds" in error_of(server)


def test_a_container_that_is_killed_from_outside(docker_server, engine):
    with docker_server() as server:
        server.initialize()
        running = server.begin("import time; time.sleep(1000)")
        engine.api.post(f"/containers/{wait_for_container(engine)['Id']}/kill")
        result = server.wait(running)["result"]["structuredContent"]
        assert result["returncode"] == -9 and result["stdout"] == "on\n"
        assert not result["timed_out"] and not result["out_of_memory"]
        assert server.run("print(1)")["stdout"] == "1\n"


def test_a_container_that_is_removed_from_outside(docker_server, engine):
    with docker_server() as server:
        server.initialize()
        with background(server, "import time; time.sleep(1000)") as results:
            engine.api.delete(f"/containers/{wait_for_container(engine)['Id']}", force=1)
        assert not results[0]["success"]
        assert server.run("print(1)")["stdout"] == "1\n"


def test_an_image_that_is_removed_between_calls_is_got_again(docker_server, engine, images):
    images.load(engine, images.derived("brief", Labels={"brief": "yes"}))
    with docker_server({"image": "brief"}) as server:
        server.initialize()
        server.prepare()  # the engine keeps the image while a container of it is there
        engine.api.delete("/images/brief", force=1)
        assert "No such image" in server.run("print(1)")["error"]
        images.load(engine, images.derived("brief", Labels={"brief": "yes"}))
        assert server.run("print(2)")["stdout"] == "2\n"
    engine.api.delete("/images/brief", force=1)


def test_many_containers_at_once(docker_server):
    limits = {"concurrent_runs": 8, "queued_runs": 200}
    with docker_server(config={"limits": limits}) as server:
        server.initialize()
        calls = [server.start_tool("run_python", {"code": f"print({number})", "timeout": 120})
                 for number in range(48)]
        outputs = [server.wait(one, 400)["result"]["structuredContent"]["stdout"]
                   for one in calls]
    assert outputs == [f"{number}\n" for number in range(48)]


def test_deleted_files_that_are_open_are_limited(docker_server):
    """They are in no directory."""
    with docker_server({"limits": {"disk": "64MiB"}}) as server:
        server.initialize()
        result = server.run("import os, time\nfiles = [open(f'{i}', 'wb', buffering=0) for i in range(32)]\n"
                            "for i, file in enumerate(files):\n    os.unlink(f'{i}')\n"
                            "    for _ in range(16): file.write(bytes(1 << 20))\ntime.sleep(100)",
                            arguments={"timeout": 120})
    assert "grew beyond the limit" in (result["error"] or ""), result


SPOIL = """
import os
for change in (lambda: open("servers/t.py", "a"), lambda: os.remove("servers/t.py"), lambda: os.rename("servers", "x"),
               lambda: open("servers/new", "w"), lambda: os.chmod("servers", 0o777)):
    try:
        change()
        print("spoilt")
    except OSError:
        pass
open("out", "w").write("1")
"""


@pytest.mark.parametrize("more", [{}, {"keep_container_running": True}, {"start": "warm"}], ids=["cold", "kept", "warm"])
def test_scripts_only_read_what_the_server_executes_in_their_directory(docker_server, tmp_path, more):
    """Also when it has been replaced between two calls."""
    path = tmp_path / "project/servers/t.py"
    path.parent.mkdir(parents=True)
    path.write_text("first")
    config = {"working_directory": str(tmp_path / "project"), "tools": {"t": {"command": ["/usr/bin/python3", str(path)]}}}
    with docker_server(more, config=config) as server:
        server.initialize()
        for text in ("first", "first", "second"):
            if text == "second":
                path.parent.rename(tmp_path / "first")
                path.parent.mkdir()
                path.write_text(text)
            result = server.run(SPOIL)
            assert (result["success"], result["stdout"]) == (True, ""), result
            assert path.read_text() == text and [each.name for each in path.parent.iterdir()] == ["t.py"]
    assert (tmp_path / "project/out").read_text() == "1"
