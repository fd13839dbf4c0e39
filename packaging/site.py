"""The documents as a site: the Markdown of the tree, with a search, and llms.txt for language models.

    site.py ROOT TARGET

runs in a Python environment with mkdocs-material. A link that leads nowhere is an error. Every file that a page links to
comes along, so that links are the same in the tree and on the site.
"""

import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

NAME = "pyexecd"
SUMMARY = "runs the Python that language models write: an MCP server for Linux"
LINK = re.compile(r"\[([^\]]*)\]\(([^)#\s:]+)(#[^)\s]*)?\)")

# The pages by reader, in an order of reading.
PAGES = {
    "Use it": ["README.md", "docs/installation.md", "docs/clients.md", "docs/safe.md", "docs/environments.md", "docs/sessions.md", "docs/tools.md",
               "docs/code-blocks.md", "tests/results.md"],
    "AutoGen and AG2": ["docs/autogen.md"],
    "Write programs": ["docs/python.md", "docs/protocol.md"],
    "Operate it": ["docs/configuration.md", "docs/schema.md", "docs/service.md", "docs/more-than-one-machine.md",
                   "docs/operation.md", "docs/security.md",
                   "tests/packages.md", "docs/upgrade.md"],
    "Compare": ["docs/performance.md", "docs/compared.md", "CHANGELOG.md"],
    "Develop it": ["ARCHITECTURE.md", "CONTRIBUTING.md", "AGENTS.md", "SECURITY.md"],
}
INTERNALS = "docs/internals"


def pages(root):
    """The paths of the pages by section."""
    internals = sorted(str(path.relative_to(root)) for path in (root / INTERNALS).glob("*.md"))
    return {**PAGES, "Develop it": [*PAGES["Develop it"], *internals]}


def title_of(text):
    return re.search(r"^# (.+)$", text, re.MULTILINE)[1].replace("`", "")


def first_sentence(text):
    """What a page says that it is about: the beginning of its first paragraph."""
    for paragraph in re.split(r"\n\s*\n", text):
        if re.match(r"[A-Za-z*\[]|`[^`]", paragraph):
            line = LINK.sub(r"\1", " ".join(paragraph.split()))
            return re.split(r"(?<=[.:])\s", line, maxsplit=1)[0].rstrip(":").rstrip(".") + "."
    return ""


def gather(root, source, paths):
    """Copies the pages PATHS and what they link to. A link to a folder becomes its words."""
    for path in paths:
        page = root / path

        def settle(link, page=page):
            target = (page.parent / link[2]).resolve()
            if target.is_dir():
                return link[1]
            if target.is_file() and target.suffix != ".md":
                copied = source / target.relative_to(root)
                copied.parent.mkdir(parents=True, exist_ok=True)
                shutil.copy(target, copied)
            return link[0]

        made = source / path
        made.parent.mkdir(parents=True, exist_ok=True)
        made.write_text(LINK.sub(settle, page.read_text()))


def configuration(source, target, sections, titles):
    nav = [{section: [{titles[path]: path} for path in paths]} for section, paths in sections.items()]
    return {
        "site_name": NAME, "site_description": SUMMARY, "docs_dir": str(source), "site_dir": str(target), "nav": nav,
        "theme": {"name": "material", "font": False, "features": ["navigation.sections", "content.code.copy"],
                  "palette": [{"media": "(prefers-color-scheme: light)", "scheme": "default"},
                              {"media": "(prefers-color-scheme: dark)", "scheme": "slate"}]},
        "plugins": ["search"], "use_directory_urls": False,
        "markdown_extensions": ["tables", "fenced_code", "pymdownx.highlight", "pymdownx.superfences", "sane_lists",
                                {"toc": {"permalink": True, "toc_depth": 3}}],
        "validation": {"nav": {"omitted_files": "warn", "not_found": "warn", "absolute_links": "warn"},
                       "links": {"not_found": "warn", "absolute_links": "warn", "unrecognized_links": "warn",
                                 "anchors": "warn"}}}


def llms(root, sections, titles):
    """llms.txt: the pages by section, with what each is about."""
    lines = [f"# {NAME}", "", f"> {SUMMARY}"]
    for section, paths in sections.items():
        lines += ["", f"## {section}", ""]
        lines += [f"- [{titles[path]}]({path}): {first_sentence((root / path).read_text())}" for path in paths]
    return "\n".join(lines) + "\n"


def build(config):
    done = subprocess.run([sys.executable, "-m", "mkdocs", "build", "--strict", "-f", config], capture_output=True, text=True,
                          env={**os.environ, "NO_MKDOCS_2_WARNING": "1"})
    if done.returncode != 0:
        sys.exit(done.stderr)


def main():
    root, target = (pathlib.Path(each).resolve() for each in sys.argv[1:])
    sections = pages(root)
    paths = [path for section in sections.values() for path in section]
    titles = {path: title_of((root / path).read_text()) for path in paths}
    with tempfile.TemporaryDirectory(prefix="pyexecd-site-") as name:
        source = pathlib.Path(name, "source")
        gather(root, source, paths)
        config = pathlib.Path(name, "mkdocs.yml")
        config.write_text(json.dumps(configuration(source, target, sections, titles)))
        build(config)
    for path in paths:  # for language models, which read llms.txt
        shutil.copy(root / path, target / path)
    (target / "llms.txt").write_text(llms(root, sections, titles))
    print(f"{len(paths)} pages: {target / 'index.html'}")


if __name__ == "__main__":
    main()
