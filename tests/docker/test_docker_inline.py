"""Docker environments that calls define: which images and volumes they may have."""

import pytest

import client
import leftovers
import wheels

IMAGE = "python:3.11-slim"


@pytest.fixture
def shared(tmp_path):
    """A directory that calls may name, with something in it, beside one that they may not."""
    (tmp_path / "private").mkdir()
    (tmp_path / "private" / "secret").write_text("secret")
    shared = tmp_path / "shared"
    (shared / "data").mkdir(parents=True)
    (shared / "data" / "file").write_text("shared")
    (shared / "out").symlink_to("../private")
    return shared


@pytest.fixture
def index(engine, tmp_path):
    """The package index that the operator has set up."""
    (tmp_path / "index").mkdir()
    wheels.wheel(tmp_path / "index", "gadget", "1.2")
    with wheels.Index(tmp_path / "index", engine.gateway) as index:
        yield index


@pytest.fixture
def server(engine, shared, index):
    config = {"callers": {"allowed_paths": [str(shared)]}}
    environment = {**engine.environment, "PIP_INDEX_URL": index.url,
                   "PIP_TRUSTED_HOST": index.host}
    with client.Server(config=config, environment=environment) as server:
        server.initialize()
        yield server


def call(server, definition, code="print(6 * 7)"):
    return server.call_tool("run_python", {
        "code": code, "environment_definition": {"type": "docker", **definition}}, timeout=180)


def run(server, definition, code="print(6 * 7)"):
    structured = call(server, definition, code)["structuredContent"]
    assert structured["success"], structured
    assert (structured["environment"], structured["isolation"]) == ("inline", "docker")
    return structured["stdout"]


def is_empty(engine):
    return engine.api.get("/containers/json", all=1) == []


def assert_refused(server, engine, definition, words):
    assert leftovers.until(lambda: is_empty(engine))
    result = call(server, definition)
    assert "structuredContent" not in result
    assert words in result["content"][0]["text"]
    assert is_empty(engine)


@pytest.mark.parametrize("image", [IMAGE, f"library/{IMAGE}", f"docker.io/library/{IMAGE}", None])
def test_an_allowed_image_works_however_it_is_called(server, image):
    assert run(server, {"image": image}) == "42\n"


def test_an_image_is_not_named_by_what_engines_number_it_with(server, engine):
    identity = engine.api.get(f"/images/{IMAGE}/json")["Id"].removeprefix("sha256:")
    for name in (identity, identity[:12]):
        assert_refused(server, engine, {"image": name}, "environment_definition.image")


def test_another_image_is_refused_though_the_engine_has_it(server, engine):
    assert engine.api.get("/images/entrypoint/json")
    assert_refused(server, engine, {"image": "entrypoint"},
                   'environment_definition.image: "entrypoint" is not among '
                   "callers.allowed_images (python:*)")


def test_a_missing_image_that_is_allowed_is_an_error_of_the_run(server):
    result = call(server, {"image": "python:0.9", "pull": "never"})
    assert 'cannot prepare environment "inline"' in result["structuredContent"]["error"]


def test_the_container_is_kept_for_the_same_definition(server):
    kept = {"image": IMAGE, "keep_container_running": True}
    run(server, kept, "open('/var/tmp/left', 'w').write('here')")
    again = dict(reversed(kept.items()))
    assert run(server, again, "print(open('/var/tmp/left').read())") == "here\n"
    other = {**kept, "environment": {"OTHER": "1"}}
    assert run(server, other, "import os; print(os.path.exists('/var/tmp/left'))") == "False\n"


def test_a_kept_container_goes_when_its_environment_is_given_up(server, engine):
    run(server, {"keep_container_running": True})
    assert engine.api.get("/containers/json")
    for number in range(32):
        definition = {"type": "system", "environment": {"N": str(number)}}
        server.call_tool("run_python", {"code": "pass", "environment_definition": definition})
    assert leftovers.until(lambda: is_empty(engine))


def test_a_volume_in_an_allowed_directory_can_be_read(server, shared):
    volumes = {str(shared / "data"): "/data"}
    assert run(server, {"volumes": volumes}, "print(open('/data/file').read())") == "shared\n"
    failed = call(server, {"volumes": volumes}, "open('/data/new', 'w')")["structuredContent"]
    assert "Read-only file system" in failed["stderr"]


def test_a_volume_can_be_written_where_the_call_says_so(server, shared):
    volumes = {str(shared / "data"): {"path": "/data", "mode": "rw"}}
    run(server, {"volumes": volumes}, "open('/data/new', 'w').write('new')")
    assert (shared / "data" / "new").read_text() == "new"


def test_volumes_elsewhere_are_refused(server, engine, shared):
    for path in ("/", "/etc", shared / "out", shared.parent, f"{shared}x", "/proc/self/root/etc",
                 "/var/run/docker.sock", engine.environment["DOCKER_HOST"].removeprefix("unix://")):
        assert_refused(server, engine, {"volumes": {str(path): "/data"}}, "does not lead into one")


def test_a_volume_that_a_script_has_made_a_link_of_is_refused(server, engine, shared):
    """The script can write in the directory, and so can swap what is in it."""
    volumes = {str(shared): {"path": "/shared", "mode": "rw"}}
    run(server, {"volumes": volumes}, "import os\nos.rename('/shared/data', '/shared/old')\n"
                                      "os.symlink('../private', '/shared/data')")
    assert_refused(server, engine, {"volumes": {str(shared / "data"): "/data"}},
                   "does not lead into one")


def test_the_engine_is_not_the_calls_choice(server, engine):
    for key, value in (("host", "unix:///x"), ("runtime", "runc"), ("user", "0"), ("gpus", "all"),
                       ("network", "bridge"), ("tls", {})):
        assert_refused(server, engine, {key: value},
                       f"environment_definition.{key}: only the operator")


def test_packages_are_installed(server, engine, shared):
    wheels.wheel(shared / "data", "widget", "3.4")
    (shared / "list").write_text("widget==3.4\n")
    definition = {"pip_packages": ["gadget>=1"], "requirements_file": str(shared / "list"),
                  "pip_find_links": str(shared / "data")}
    code = "import gadget, widget; print(gadget.VERSION, widget.VERSION)"
    assert run(server, definition, code) == "1.2 3.4\n"
    for key in ("pip_find_links", "requirements_file"):
        assert_refused(server, engine, {**definition, key: str(shared / "out")},
                       f"environment_definition.{key}")


def test_no_image_is_built_for_a_definition(server, engine, shared):
    """A Dockerfile could name images and addresses that the rules do not allow."""
    (shared / "data" / "Dockerfile").write_text(f"FROM {IMAGE}\n")
    for key, value in (("dockerfile", str(shared / "data" / "Dockerfile")), ("build_args", {"X": "1"})):
        assert_refused(server, engine, {key: value}, f"environment_definition.{key}: only the operator")
