"""Hooks of the documentation site: pages that are outside docs/ or made from the code.

The README is the first page. The references are made from the commands and the docstrings, the
examples also as the web pages that `plait export` writes.
"""

import posixpath
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files
from mkdocs.structure.pages import Page

import plait

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from tools.commands import describe_commands  # noqa: E402

OUTSIDE = {
    "README.md": "index.md",
    "CHANGELOG.md": "changelog.md",
    "CONTRIBUTING.md": "contributing.md",
    "SECURITY.md": "security.md",
    "LICENSE": "licence.md",
}
ELSEWHERE = {"docs/decisions": "docs/decisions/index.md", "examples/gallery": "docs/gallery.md"}
"""Folders, and the page that is opened for them."""
LINK = re.compile(r"\]\((?!\w+:|#)([^)#\s]+)(#[^)\s]*)?\)")
"""A link to a file, with its target and anchor."""


def to_site(path: str) -> str | None:
    """Return the page of the site that a file of the project becomes, None for none."""
    path = ELSEWHERE.get(path, path)
    if path.startswith("docs/") and (path in ELSEWHERE.values() or (ROOT / path).is_file()):
        return path.removeprefix("docs/")
    if re.match(r"examples/.+/README\.md$", path):
        return path.replace("README", "index")
    return OUTSIDE.get(path)


def to_project(page: str) -> str:
    """Return the file of the project that a page of the site was."""
    for path, name in OUTSIDE.items():
        if name == page:
            return path
    if page.startswith("examples/"):
        return page.replace("index.md", "README.md")
    return f"docs/{page}"


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add the pages that are not in docs/."""
    pages = {name: (ROOT / path).read_text(encoding="utf-8") for path, name in OUTSIDE.items()}
    for path in sorted((ROOT / "examples").glob("**/README.md")):
        place = path.relative_to(ROOT).as_posix()
        pages[to_site(place) or place] = path.read_text(encoding="utf-8")
    pages |= {
        "commands.md": describe_commands(),
        "decisions/index.md": list_decisions(),
        "gallery.md": draw_gallery(),
        "reference.md": list_public_names(),
    }
    for name, content in pages.items():
        files.append(File.generated(config, name, content=content))
    return files


def on_page_markdown(markdown: str, page: Page, config: MkDocsConfig, files: Files) -> str:
    """Turn links between files into links between pages; what has no page loses its link."""
    folder = posixpath.dirname(to_project(page.file.src_uri))

    def replace(link: re.Match[str]) -> str:
        target = to_site(posixpath.normpath(posixpath.join(folder, link[1])))
        if target is None:
            return link[0]
        start = posixpath.dirname(page.file.src_uri) or "."
        # Transcripts name messages of others, which have no anchor there.
        anchor = "" if target.startswith("gallery/") else link[2] or ""
        return f"]({posixpath.relpath(target, start)}{anchor})"

    return LINK.sub(replace, markdown)


def on_post_build(config: MkDocsConfig) -> None:
    """Write the examples as web pages."""
    target = Path(config.site_dir, "examples", "pages")
    command = [sys.executable, "-m", "plait", "export", "--all", "--format", "html"]
    gallery = str(ROOT / "examples" / "gallery")
    subprocess.run(
        [*command, "--root", gallery, "-o", str(target)], check=True, capture_output=True
    )


def list_public_names() -> str:
    """Return the reference of the library: every public name with its docstring."""
    parts = ["# Reference", "", "Every public name of `import plait`.", ""]
    for name in sorted(set(plait.__all__) - {"__version__"}, key=str.casefold):
        value: Any = getattr(plait, name)
        path = getattr(value, "__qualname__", None)
        parts += [f"::: {f'{value.__module__}.{path}' if path else value.__name__}", ""]
    return "\n".join(parts)


def list_decisions() -> str:
    """Return the list of decisions."""
    parts = ["# Decisions", ""]
    for path in sorted((ROOT / "docs" / "decisions").glob("*.md")):
        title = path.read_text(encoding="utf-8").partition("\n")[0].lstrip("# ")
        parts.append(f"- [{title}]({path.name})")
    return "\n".join(parts) + "\n"


PICTURES = {
    "reading": "A session with its graph beside it and an abandoned branch",
    "timeline": "The same session on a time axis",
    "usage": "What all sessions cost, by day and model",
}


def draw_gallery() -> str:
    """Return the page of pictures: the web page, and each example in the terminal."""
    parts = ["# Gallery", ""]
    for name, caption in PICTURES.items():
        parts += [f"![{caption}](images/{name}.png)", f"*{caption}*", ""]
    parts += [
        "The examples below are in the project, and in every installation: `plait --demo`."
        ' They are here as <a href="examples/pages/index.html">web pages</a> and as'
        " [transcripts](gallery/index.md), too.",
        "",
    ]
    for path in sorted((ROOT / "examples" / "gallery").glob("*/README.md")):
        title, _, text = path.read_text(encoding="utf-8").partition("\n")
        command, expected = (
            path.with_name(name).read_text(encoding="utf-8") for name in ("command", "expected.txt")
        )
        parts += [
            f"#{title}",
            "",
            text.strip().partition("\n\n")[0],
            "",
            f"```console\n$ {command.strip()}\n{expected.rstrip()}\n```",
            "",
            f"[More](examples/gallery/{path.parent.name}/index.md)",
            "",
        ]
    return "\n".join(parts)
