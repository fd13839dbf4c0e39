"""The documents as a site: every page is found, and no link leads nowhere."""

import re
import subprocess

import installed
import pytest

PYTHON = installed.DEPS / "site" / "bin" / "python"
LINKED = ["README.md", "ARCHITECTURE.md", "CONTRIBUTING.md", "CHANGELOG.md", "SECURITY.md", "AGENTS.md", "docs", "examples",
          "schemas", "systemd", "tests/results.md", "tests/packages.md", "tests/long.txt", "tests/plain.txt", "tests/hostile"]


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    if not PYTHON.exists():
        pytest.skip("its packages are not installed: ./dev deps test")
    return made(installed.ROOT, tmp_path_factory.mktemp("site"))


def made(root, folder):
    done = subprocess.run([PYTHON, installed.ROOT / "packaging" / "site.py", root, folder], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return folder


def test_every_page_is_listed_for_models_and_for_people(site):
    listed = re.findall(r"^- \[.+\]\((.+)\): \S.*\.$", (site / "llms.txt").read_text(), re.MULTILINE)
    for path in listed:
        assert (site / path).read_text() == (installed.ROOT / path).read_text()
        assert (site / path.replace("README", "index")).with_suffix(".html").exists()
    pages = {str(path.relative_to(installed.ROOT)) for path in (installed.ROOT / "docs").rglob("*.md")}
    assert pages - set(listed) == set() and "README.md" in listed


def test_the_search_knows_the_pages(site):
    assert "docs/service.html" in (site / "search" / "search_index.json").read_text()


def test_nothing_is_loaded_from_elsewhere(site):
    for page in site.rglob("*.html"):
        assert not re.findall(r"<(?:script|img|iframe)[^>]*src=.?https?:|<link[^>]*stylesheet[^>]*https?:", page.read_text()), page


def test_a_link_that_leads_nowhere_is_an_error(site, tmp_path):
    root = tmp_path / "tree"
    root.mkdir()
    subprocess.run(["cp", "-r", "--parents", "-t", root, *LINKED], cwd=installed.ROOT, check=True)
    (root / "docs" / "safe.md").write_text("# Safe\n\nSee [nothing](nothing.md).\n")
    with pytest.raises(AssertionError, match="nothing.md"):
        made(root, tmp_path / "site")
