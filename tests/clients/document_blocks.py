"""The fenced blocks of the documents, and why some of them are not run by test_document_blocks.py."""

import re

import installed

FENCE = re.compile(r"^(`{3,})([^\n`]*)\n(.*?)^\1$", re.MULTILINE | re.DOTALL)

# Pages whose blocks are run elsewhere, all of them.
PAGES = {
    "docs/performance.md": "`./dev bench --write` makes it; it takes minutes, alone on a machine",
    "docs/python.md": "test_python_page.py",
    "docs/service.md": "test_service.py",
    "docs/tools.md": "test_tool_servers.py",
    "docs/autogen.md": "test_autogen.py and test_ag2.py run these programs; here their imports are tried",
}

# Document, what the block has in it, and why it is not run by test_document_blocks.py.
NOT_RUN = [
    ("README.md", "dist/pyexecd-*.whl", "test_wheel.py makes the wheel and installs it"),
    ("README.md", "./dev run ", "installs packages of the system; tests/fresh/fresh.py"),
    ("README.md", "import pyexecd", "test_readme.py"),
    ("CONTRIBUTING.md", "./dev run ", "as in the README"),
    ("docs/clients.md", "mcp-remote", "npx fetches it from a registry at each start"),
    ("docs/clients.md", "curl -s", "test_readme.py"),
    ("docs/installation.md", "--cross packaging/aarch64.ini", "installs another architecture into the system"),
    ("docs/installation.md", "./dev wheel", "test_wheel.py"),
    ("docs/installation.md", "uvx --from", "tests/fresh/pages.py"),
    ("docs/installation.md", "./dev image", "takes an engine; tests/docker/test_image.py"),
    ("docs/installation.md", '"command": "docker"', "takes an engine; tests/docker/test_image.py"),
    ("docs/installation.md", "pyexecd-server-seccomp.json", "takes an engine; tests/docker/test_in_a_container.py"),
    ("docs/installation.md", "docker run --user", "takes an engine; tests/docker/test_image.py"),
    ("docs/installation.md", "pyexecd-plugin", "test_plugin.py and tests/fresh/pages.py"),
    ("docs/installation.md", "npm install", "test_npm.py and tests/fresh/pages.py"),
    ("docs/installation.md", "pkeyutl", "test_release.py and tests/fresh/pages.py"),
    ("docs/installation.md", "./dev deb", "test_debian_package.py"),
    ("docs/more-than-one-machine.md", "ssh -o BatchMode=yes", "needs another machine; tests/integration/test_node_launchers.py"),
    ("docs/more-than-one-machine.md", "srun -n1", "needs a cluster; tests/integration/test_node_launchers.py"),
    ("docs/more-than-one-machine.md", "replicas.key", "writes to /etc; tests/integration/test_replicas.py"),
    ("docs/more-than-one-machine.md", "pyexecd doctor", "test_nodes.py and test_doctor.py"),
    ("docs/installation.md", "A script that fails, as", "what `./dev run` prints: test_examples.py runs it"),
    ("docs/installation.md", "meson install", "installs into /usr/local; tests/fresh"),
    ("docs/configuration.md", "# a file with six errors", "tests/checks/test_configuration.py"),
    ("docs/configuration.md", "yaml-language-server", "a comment for editors; tests/checks/test_documents.py"),
    ("docs/environments.md", "installing numpi", "asks a package index for a package that is not there"),
    ("docs/environments.md", "# dependencies = [", "installs numpy; test_script_block.py"),
]


class Block:
    def __init__(self, document, language, text):
        self.document = document
        self.language = language.strip()
        self.text = text

    def __repr__(self):
        return f"{self.document}: {self.text.strip().splitlines()[0][:50]}"

    def reason(self):
        """Why it is not run; None if it is."""
        for document, words, reason in NOT_RUN:
            if document == self.document and words in self.text:
                return reason
        return PAGES.get(self.document)


def blocks():
    root = installed.ROOT
    paths = [root / "README.md", root / "CONTRIBUTING.md", *sorted((root / "docs").glob("*.md"))]
    return [Block(str(path.relative_to(root)), language, text)
            for path in paths for _, language, text in FENCE.findall(path.read_text())]
