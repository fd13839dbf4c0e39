"""How an environment gets its image: pulled, built, with packages in it; what becomes of failures."""

import os
import pathlib
import secrets

import pytest

import leftovers
import wheels


def error_of(server, code="print(1)"):
    server.initialize()
    result = server.run(code)
    assert result["returncode"] is None and not result["success"], result
    return result["error"]


def output_of(server, code):
    server.initialize()
    result = server.run(code)
    assert result["success"], result
    return result["stdout"]


def our_images(engine):
    return {name for image in engine.api.get("/images/json") for name in image["RepoTags"] or []
            if name.startswith("pyexecd:")}


def several_layers(images):
    return [images.layer(f"part{number}", {f"opt/{number}": os.urandom(2_000_000)})
            for number in range(4)]


# Pulls.

def test_an_image_is_pulled_when_it_is_missing_and_only_then(docker_server, images, registry):
    name = registry.serve(images.derived("pulled", *several_layers(images)))
    with docker_server({"image": name}) as server:
        server.initialize()
        call = server.start("print(1)", progress_token="p")
        result = server.wait(call, 180)["result"]["structuredContent"]
        assert result["stdout"] == "1\n", result
        steps = [step["message"] for step in server.progress("p") if "message" in step]
    assert any("pulling layer" in step for step in steps), steps
    asked = len(registry.requests)
    with docker_server({"image": name}) as server:
        assert output_of(server, "print(2)") == "2\n"
    assert len(registry.requests) == asked


def test_pull_always_asks_the_registry(docker_server, images, registry):
    name = registry.serve(images.derived("always", *several_layers(images)))
    for _ in range(2):
        asked = len(registry.requests)
        with docker_server({"image": name, "pull": "always"}) as server:
            assert output_of(server, "print(1)") == "1\n"
        assert len(registry.requests) > asked


def test_an_image_that_no_registry_has(docker_server, images, registry):
    name = registry.serve(images.derived("there")).rpartition("/")[0] + "/not-there:1"
    with docker_server({"image": name}) as server:
        error = error_of(server)
    assert error.startswith(f'cannot prepare environment "box": pulling {name}: ')
    assert "not-there" in error


def test_a_pull_that_is_cut_off_can_be_tried_again(docker_server, images, registry):
    layers = several_layers(images)
    name = registry.serve(images.derived("cut", *layers))
    registry.cut(layers[2], after=500_000)
    with docker_server({"image": name}) as server:
        assert "pulling" in error_of(server)
        registry.heal()
        assert server.run("print(1)")["stdout"] == "1\n"


def test_a_pull_that_nobody_waits_for_is_given_up(docker_server, engine, images, registry):
    layers = several_layers(images)
    name = registry.serve(images.derived("held", *layers))
    registry.hold(layers[1])
    with docker_server({"image": name}) as server:
        server.initialize()
        call = server.start("print(1)")
        assert leftovers.until(lambda: any("/blobs/" in path for path in registry.requests))
        server.cancel(call)
        server.request("ping")
        registry.release()
        assert server.run("print(2)")["stdout"] == "2\n"


# Dockerfiles.

DOCKERFILE = """FROM python:3.11-slim
ARG WORD=none
RUN echo $WORD > /opt/word
COPY data /opt/data
"""


@pytest.fixture
def context(tmp_path):
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / "kept").write_text("kept")
    (tmp_path / "data" / "ignored").write_text("ignored")
    (tmp_path / ".dockerignore").write_text("data/ignored\nDockerfile\n")
    (tmp_path / "Dockerfile").write_text(DOCKERFILE)
    return tmp_path


LOOK = "import os; print(open('/opt/word').read().strip(), sorted(os.listdir('/opt/data')))"


def test_an_image_is_built_from_a_dockerfile(docker_server, engine, context):
    definition = {"dockerfile": str(context / "Dockerfile"), "build_args": {"WORD": "hello you"}}
    with docker_server(definition) as server:
        assert output_of(server, LOOK) == "hello you ['kept']\n"
    assert len(our_images(engine)) == 1


def test_a_build_has_the_memory_of_its_environment(docker_server, context):
    (context / "Dockerfile").write_text(DOCKERFILE + "RUN cat /sys/fs/cgroup/memory.max > /opt/most || "
                                        f"cat /sys/fs/cgroup/memory/memory.limit_in_bytes > /opt/most # {secrets.token_hex()}\n")
    definition = {"dockerfile": str(context / "Dockerfile"), "limits": {"memory": "3 GiB"}}
    with docker_server(definition) as server:
        assert int(output_of(server, "print(open('/opt/most').read())")) == 3 << 30


def test_what_was_built_is_found_again_and_built_anew_when_anything_changes(
        docker_server, engine, context, tmp_path_factory):
    definition = {"dockerfile": str(context / "Dockerfile")}
    state = tmp_path_factory.mktemp("state")

    def prepare():
        with docker_server(definition, environment={"XDG_STATE_HOME": str(state)}) as server:
            server.initialize()
            result = server.run(LOOK)
            assert result["success"], result
            return result["stdout"], result["timings"]["prepare"]

    output, seconds = prepare()
    assert output == "none ['kept']\n"
    assert prepare()[1] < seconds
    assert len(our_images(engine)) == 1
    (context / "data" / "more").write_text("x")
    assert prepare()[0] == "none ['kept', 'more']\n"
    (context / "data" / "ignored").write_text("changed")
    prepare()
    assert len(our_images(engine)) == 2
    definition["build_args"] = {"WORD": "other"}
    assert prepare()[0] == "other ['kept', 'more']\n"
    assert len(our_images(engine)) == 3


def test_a_build_that_fails_shows_the_last_lines_and_leaves_nothing(docker_server, engine, context):
    (context / "Dockerfile").write_text("FROM python:3.11-slim\nRUN echo one\n"
                                        "RUN echo this went wrong; exit 7\n")
    with docker_server({"dockerfile": str(context / "Dockerfile")}) as server:
        error = error_of(server)
    assert 'cannot prepare environment "box": building step 3 of' in error
    assert "this went wrong" in error and "7" in error
    assert our_images(engine) == set()


def test_a_build_that_is_cancelled_leaves_nothing(docker_server, engine, context):
    (context / "Dockerfile").write_text("FROM python:3.11-slim\nRUN echo first\nRUN sleep 1000\n")
    with docker_server({"dockerfile": str(context / "Dockerfile")}) as server:
        server.initialize()
        call = server.start("print(1)")
        assert leftovers.until(lambda: any("sleep" in container["Command"] for container in
                                           engine.api.get("/containers/json")))
        server.cancel(call)
        assert leftovers.until(lambda: engine.api.get("/containers/json", all=1) == [])


def test_a_dockerfile_that_is_not_there(docker_server, tmp_path):
    with docker_server({"dockerfile": str(tmp_path / "Dockerfile")}) as server:
        assert f"{tmp_path}/Dockerfile: No such file" in error_of(server)


def test_a_base_image_with_onbuild_builds_what_it_says(docker_server, context):
    (context / "Dockerfile").write_text("FROM onbuild\n")
    with docker_server({"dockerfile": str(context / "Dockerfile")}) as server:
        assert "building" in error_of(server)


# Packages.

@pytest.fixture
def index(engine, tmp_path):
    folder = tmp_path / "index"
    folder.mkdir()
    wheels.wheel(folder, "gadget", "1.0", requires=["widget>=2"])
    wheels.wheel(folder, "gadget", "2.0", requires=["widget>=2"])
    wheels.wheel(folder, "widget", "2.5")
    wheels.sdist(folder, "source_only", "1.0")
    wheels.sdist(folder, "slow", "1.0", build="import time; time.sleep(1000)")
    with wheels.Index(folder, engine.gateway) as index:
        yield index


VERSIONS = "import gadget, widget; print(gadget.VERSION, widget.VERSION)"


def test_packages_are_installed_into_an_image_of_their_own(docker_server, engine, index, tmp_path):
    definition = {"pip_packages": ["gadget==1.0"], "pip_index_url": index.url}
    state = {"XDG_STATE_HOME": str(tmp_path)}
    with docker_server(definition, environment=state) as server:
        server.initialize()
        call = server.start(VERSIONS, progress_token="p")
        result = server.wait(call, 180)["result"]["structuredContent"]
        assert result["stdout"] == "1.0 2.5\n", result
        steps = [step["message"] for step in server.progress("p") if "message" in step]
    assert any("installing gadget" in step for step in steps), steps
    image, = our_images(engine)
    assert engine.api.get(f"/images/{image}/json")["Config"]["Labels"]["pyexecd.image"]
    asked = len(index.requests)
    with docker_server(definition, environment=state) as server:
        server.initialize()
        again = server.run(VERSIONS)
        assert again["stdout"] == "1.0 2.5\n"
    assert len(index.requests) == asked and our_images(engine) == {image}


def test_containers_of_a_derived_image_are_not_taken_for_ours(docker_server, engine, index):
    with docker_server({"pip_packages": ["widget"], "pip_index_url": index.url}) as server:
        assert output_of(server, "import widget; print(1)") == "1\n"
    image, = our_images(engine)
    labels = engine.api.get(f"/images/{image}/json")["Config"]["Labels"]
    assert not labels["pyexecd.state"] and not labels["pyexecd.server"]
    variables = engine.api.get(f"/images/{image}/json")["Config"]["Env"]
    assert not [one for one in variables if "PYEXECD" in one or "INDEX" in one], variables


def test_a_requirements_file_is_installed_and_a_change_of_it_noticed(docker_server, index, tmp_path):
    file = tmp_path / "requirements.txt"
    definition = {"requirements_file": str(file), "pip_index_url": index.url}
    for version in ("1.0", "2.0"):
        file.write_text(f"# what we need\ngadget=={version}\n")
        with docker_server(definition) as server:
            assert output_of(server, VERSIONS) == f"{version} 2.5\n"


def test_wheels_of_a_folder_are_installed(docker_server, index):
    definition = {"pip_packages": ["gadget"], "pip_find_links": str(index.folder),
                  "pip_index_url": index.url}
    with docker_server(definition) as server:
        assert output_of(server, VERSIONS) == "2.0 2.5\n"


def test_a_package_that_does_not_exist(docker_server, engine, index):
    with docker_server({"pip_packages": ["no-such-thing"], "pip_index_url": index.url}) as server:
        error = error_of(server)
    assert error.startswith('cannot prepare environment "box": installing no-such-thing: pip failed')
    assert "No matching distribution found for no-such-thing" in error
    assert our_images(engine) == set()


def test_only_wheels_are_installed_unless_it_is_allowed(docker_server, index):
    definition = {"pip_packages": ["source_only"], "pip_index_url": index.url}
    with docker_server(definition) as server:
        assert "No matching distribution" in error_of(server)
    with docker_server({**definition, "allow_source_builds": True}) as server:
        assert output_of(server, "import source_only; print(source_only.VERSION)") == "1.0\n"


def test_a_build_that_hangs_is_ended(docker_server, engine, index):
    definition = {"pip_packages": ["slow"], "pip_index_url": index.url, "allow_source_builds": True,
                  "prepare_timeout": 10}
    with docker_server(definition) as server:
        assert "not done after 10 seconds" in error_of(server)
        assert leftovers.until(lambda: engine.api.get("/containers/json", all=1) == [])
    assert our_images(engine) == set()


def test_an_installation_that_nobody_waits_for_is_given_up(docker_server, engine, index):
    index.gate.clear()
    with docker_server({"pip_packages": ["gadget"], "pip_index_url": index.url}) as server:
        server.initialize()
        call = server.start("print(1)")
        assert leftovers.until(lambda: index.requests)
        server.cancel(call)
        assert leftovers.until(lambda: engine.api.get("/containers/json", all=1) == [])
        index.gate.set()
        assert server.run(VERSIONS)["stdout"] == "2.0 2.5\n"


@pytest.mark.parametrize("line", ["-e .", "../gadget", "https://example.com/x.whl", "-r other.txt",
                                  "-f http://127.0.0.1", "gadget @ file:///etc/passwd"])
def test_requirements_that_are_not_packages_are_refused(docker_server, engine, tmp_path, line):
    file = tmp_path / "requirements.txt"
    file.write_text(f"gadget\n{line}\n")
    with docker_server({"requirements_file": str(file)}) as server:
        error = error_of(server)
    assert "line 2" in error and "127.0" not in error and "passwd" not in error
    assert engine.api.get("/containers/json", all=1) == []


def test_an_image_without_pip(docker_server, engine, images, index):
    bare = images.layer("bare", {"usr/lib/python3/dist-packages/pip": None})
    images.load(engine, images.derived("no-pip", bare))
    with docker_server({"image": "no-pip", "pip_packages": ["gadget"],
                        "pip_index_url": index.url}) as server:
        error = error_of(server)
    engine.api.delete("/images/no-pip", force=1)
    assert "the image has no pip" in error


def test_packages_of_another_base_image_are_not_used(docker_server, engine, index):
    for image in ("entrypoint", "user"):
        with docker_server({"image": image, "pip_packages": ["gadget"],
                            "pip_index_url": index.url}) as server:
            assert output_of(server, VERSIONS) == "2.0 2.5\n"
    assert len(our_images(engine)) == 2


def test_many_calls_share_one_preparation(docker_server, index):
    with docker_server({"pip_packages": ["gadget"], "pip_index_url": index.url}) as server:
        server.initialize()
        calls = [server.start(f"import gadget; print({number})") for number in range(6)]
        outputs = [server.wait(call, 180)["result"]["structuredContent"]["stdout"] for call in calls]
    assert outputs == [f"{number}\n" for number in range(6)]
    assert sum(path.endswith(".whl") and "gadget" in path for path in index.requests) == 1
