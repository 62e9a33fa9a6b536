"""Glob and Grep: which files and lines are found, and the result text."""

import asyncio
import os
import stat
import tempfile
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from plait.chat.tools.base import ToolError
from plait.chat.tools.search import GlobSet, SearchQuery, build_command, split_patterns
from tests.chat.tools.workspace import ToolWorkspace

FILES = {
    "a.py": "import os\ndef alpha():\n    return 1\n# Alpha beta\n",
    "b.py": "alpha\nx\ny\nz\nalpha again alpha\n",
    "src/c.ts": "alpha ts\n",
    "src/d.tsx": "no\nmulti\nline\n",
    ".hidden": "alpha hidden\n",
    ".git/x": "alpha git\n",
    ".gitignore": "ignored.txt\nnode_modules\n/top.txt\n*.log\n!keep.log\n",
    "ignored.txt": "alpha ignored\n",
    "src/top.txt": "alpha\n",
    "top.txt": "alpha\n",
    "node_modules/m.js": "alpha mod\n",
    "src/.gitignore": "deep.txt\n",
    "src/deep.txt": "alpha\n",
    "keep.log": "alpha\n",
    "drop.log": "alpha\n",
    "bin.dat": "alpha\0\1\2",
    "long.txt": "alpha " + "x" * 600 + "\n",
    "crlf.txt": "alpha\r\nbeta\r\n",
}
FOUND = ["keep.log", "src/top.txt", "crlf.txt", "long.txt", ".hidden", "src/c.ts", "b.py", "a.py"]


@pytest.fixture
def project(workspace: ToolWorkspace) -> ToolWorkspace:
    """A small project, its files changed one after the other."""
    for name, text in FILES.items():
        workspace.put(name, text)
    for order, name in enumerate(reversed(FOUND)):
        os.utime(workspace.root / name, (1_500_000_000 + order,) * 2)
    return workspace


# checklist: P84, P86, P114
def test_matching_files_are_newest_first(project: ToolWorkspace) -> None:
    outcome = project.run_tool("Grep", pattern="alpha")
    assert outcome.content == "\n".join(["Found 8 files", *FOUND])
    assert outcome.output == {
        "mode": "files_with_matches",
        "filenames": FOUND,
        "numFiles": 8,
        "totalFiles": 8,
    }


# checklist: P85, P86, P114
def test_matching_lines(project: ToolWorkspace) -> None:
    outcome = project.run_tool(
        "Grep", pattern="alpha", output_mode="content", path="src", glob="*.ts"
    )
    assert outcome.content == "src/c.ts:1:alpha ts"
    assert outcome.output == {
        "mode": "content",
        "numFiles": 0,
        "filenames": [],
        "content": "src/c.ts:1:alpha ts",
        "numLines": 1,
        "totalLines": 1,
    }


@pytest.mark.parametrize(
    ("asked", "expected"),
    [
        ({"path": "b.py"}, "1:alpha\n5:alpha again alpha"),
        ({"path": "b.py", "-n": False}, "alpha\nalpha again alpha"),
        ({"path": "b.py", "-o": True}, "1:alpha\n5:alpha\n5:alpha"),
        (
            {"glob": "*.py", "-A": 1},
            "a.py:2:def alpha():\na.py-3-    return 1\n--\n"
            "b.py:1:alpha\nb.py-2-x\n--\nb.py:5:alpha again alpha",
        ),
        (
            {"type": "py", "-B": 1},
            "a.py-1-import os\na.py:2:def alpha():\n--\n"
            "b.py:1:alpha\n--\nb.py-4-z\nb.py:5:alpha again alpha",
        ),
        (
            {"path": "a.py", "-i": True, "context": 1},
            "1-import os\n2:def alpha():\n3-    return 1\n4:# Alpha beta",
        ),
        ({"path": "a.py", "-i": True, "-C": 0}, "2:def alpha():\n4:# Alpha beta"),
        ({"path": "long.txt"}, "1:[Omitted long matching line]"),
        ({"path": "crlf.txt"}, "1:alpha"),
        ({"path": "bin.dat"}, "No matches found"),
        (
            {"path": "b.py", "head_limit": 1},
            "1:alpha\n\n[Showing results with pagination = limit: 1]",
        ),
        (
            {"path": "b.py", "offset": 1},
            "5:alpha again alpha\n\n[Showing results with pagination = offset: 1]",
        ),
        (
            {"path": "b.py", "offset": 9},
            "No entries at this offset\n\n[Showing results with pagination = offset: 9]",
        ),
        ({"path": "b.py", "head_limit": 0}, "1:alpha\n5:alpha again alpha"),
    ],
)
def test_matching_lines_output(
    project: ToolWorkspace, asked: dict[str, Any], expected: str
) -> None:
    assert project.result_text("Grep", pattern="alpha", output_mode="content", **asked) == expected


def test_match_counts(project: ToolWorkspace) -> None:
    outcome = project.run_tool("Grep", pattern="alpha", output_mode="count", glob="*.py")
    assert outcome.content == "a.py:1\nb.py:2\n\nFound 3 total occurrences across 2 files."
    assert outcome.output == {
        "mode": "count",
        "numFiles": 2,
        "filenames": [],
        "content": "a.py:1\nb.py:2",
        "numMatches": 3,
    }
    text = project.result_text("Grep", pattern="multi", output_mode="count")
    assert text == "src/d.tsx:1\n\nFound 1 total occurrence across 1 file."


@pytest.mark.parametrize(
    ("pattern", "mode", "expected"),
    [
        ("zzz", "content", "No matches found"),
        ("zzz", "count", "No matches found\n\nFound 0 total occurrences across 0 files."),
        ("zzz", "files_with_matches", "No files found"),
    ],
)
def test_no_matches(project: ToolWorkspace, pattern: str, mode: str, expected: str) -> None:
    assert project.result_text("Grep", pattern=pattern, output_mode=mode) == expected


def test_multiline(project: ToolWorkspace) -> None:
    asked = {"pattern": "multi.line", "output_mode": "content", "glob": "*.tsx"}
    assert project.result_text("Grep", **asked) == "No matches found"
    text = project.result_text("Grep", multiline=True, **asked)
    assert text == "src/d.tsx:2:multi\nsrc/d.tsx:3:line"


@pytest.mark.parametrize(
    ("asked", "text"),
    [
        ({"pattern": "("}, "Search failed — ripgrep rejected the pattern, glob, or file type"),
        (
            {"pattern": "a", "glob": "["},
            "Search failed — ripgrep rejected the pattern, glob, or file",
        ),
        ({"pattern": "a", "type": "nosuch"}, "Search failed — ripgrep rejected the pattern"),
        ({"pattern": "a", "path": "nowhere"}, "Path does not exist: nowhere. Note: your current"),
        (
            {"pattern": "a", "head_limit": -1},
            "<tool_use_error>head_limit must be a whole number of 0",
        ),
        ({"pattern": "a", "offset": 1.5}, "<tool_use_error>offset must be a whole number of 0 or"),
        ({"pattern": "a", "output_mode": "x"}, "<tool_use_error>InputValidationError: [\n"),
    ],
)
def test_refused_searches(project: ToolWorkspace, asked: dict[str, Any], text: str) -> None:
    outcome = project.run_tool("Grep", **asked)
    assert outcome.is_error
    assert str(outcome.content).startswith(text)


@pytest.mark.parametrize(
    "pattern", ["--help", "-e", "(?<name>alpha)", r"^alpha$", r"\balpha\b", "é"]
)
def test_odd_patterns(project: ToolWorkspace, pattern: str) -> None:
    assert not project.run_tool("Grep", pattern=pattern).is_error


def test_catastrophic_pattern_is_fast(workspace: ToolWorkspace) -> None:
    pytest.importorskip("re2")
    workspace.put("a.txt", "a" * 40_000 + "!\n")
    assert workspace.result_text("Grep", pattern="(a+)+$") == "No files found"


@given(
    st.text("ab\n c", max_size=40),
    st.sampled_from(["a", "ab", "a*b", "[^b]+c", r"\s+a", "^b", "c$", "a?"]),
)
def test_context_lines(text: str, pattern: str) -> None:
    import re

    with tempfile.TemporaryDirectory() as folder:
        workspace = ToolWorkspace(Path(folder))
        workspace.put("a.txt", text)
        outcome = workspace.run_tool(
            "Grep", pattern=pattern, output_mode="content", path="a.txt", head_limit=0
        )
        lines = text.removesuffix("\n").split("\n") if text else []
        expected = [
            f"{number}:{line}" for number, line in enumerate(lines, 1) if re.search(pattern, line)
        ]
        assert outcome.output["content"] == "\n".join(expected)


def test_without_a_repository_nothing_is_ignored(workspace: ToolWorkspace) -> None:
    workspace.put(".gitignore", "a.txt\n")
    workspace.put(".ignore", "b.txt\n")
    workspace.put("a.txt", "alpha\n")
    workspace.put("b.txt", "alpha\n")
    assert workspace.result_text("Grep", pattern="alpha") == "Found 1 file\na.txt"


def test_gitignore_of_parent_folders_applies(project: ToolWorkspace) -> None:
    project.put("src/x.log", "alpha\n")
    lines = project.result_text("Grep", pattern="alpha", path="src").splitlines()
    assert lines == ["Found 2 files", "src/top.txt", "src/c.ts"]


def test_symlinks_are_not_followed(workspace: ToolWorkspace) -> None:
    outside = workspace.root.parent / "outside"
    outside.mkdir()
    (outside / "a.txt").write_text("alpha\n")
    (workspace.root / "link").symlink_to(outside)
    (workspace.root / "a.txt").symlink_to(outside / "a.txt")
    assert workspace.result_text("Grep", pattern="alpha") == "No files found"
    assert workspace.result_text("Glob", pattern="**/*") == "No files found"


FAKE = """#!/bin/sh
for word in "$@"; do printf '%s\\n' "$word"; done > "$0.asked"
printf '{told}' "$PWD"
exit {code}
"""


def fake_ripgrep(workspace: ToolWorkspace, text: str, code: int = 0) -> Path:
    """Put a ripgrep on the path that says what it is told to."""
    folder = workspace.root.parent / "bin"
    folder.mkdir(exist_ok=True)
    program = folder / "rg"
    program.write_text(FAKE.format(told=text, code=code))
    program.chmod(program.stat().st_mode | stat.S_IXUSR)
    workspace.place.environment = {"PATH": f"{folder}:/usr/bin:/bin"}
    return program


def test_ripgrep_is_used_if_present(workspace: ToolWorkspace) -> None:
    program = fake_ripgrep(workspace, "%s/a.py:1:alpha\\n")
    workspace.put("a.py", "")
    assert (
        workspace.result_text("Grep", pattern="-x", output_mode="content", **{"-C": 2})
        == "a.py:1:alpha"
    )
    asked = program.with_name("rg.asked").read_text().split("\n")
    assert asked[-5:-1] == ["--regexp", "-x", "--", str(workspace.root)]
    assert "--no-config" in asked


def test_patterns_that_ripgrep_rejects_are_reported(workspace: ToolWorkspace) -> None:
    program = fake_ripgrep(workspace, "", 2)
    program.write_text("#!/bin/sh\necho 'rg: regex parse error' >&2\nexit 2\n")
    text = workspace.result_text("Grep", pattern="(")
    assert text.endswith("without searching:\nrg: regex parse error")


def test_hanging_ripgrep_is_killed(
    workspace: ToolWorkspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("plait.chat.tools.search.SEARCH_TIMEOUT", 0.3)
    program = fake_ripgrep(workspace, "")
    program.write_text('#!/bin/sh\necho $$ > "$0.pid"\nexec sleep 60\n')
    assert workspace.result_text("Grep", pattern="a") == "No files found"
    pid = int(program.with_name("rg.pid").read_text())
    assert not Path(f"/proc/{pid}").exists()


def test_ripgrep_arguments() -> None:
    query = SearchQuery(
        "a", "content", "*.ts,*.py", "py", 1, 2, ignores_case=True, is_multiline=True
    )
    assert " ".join(build_command("rg", query, Path("/w"))) == (
        "rg --no-config --hidden --color never --no-heading --max-columns 500 --sort path"
        " --line-number --before-context 1 --after-context 2 --ignore-case --multiline"
        " --multiline-dotall --type py --glob *.ts --glob *.py --glob !.bzr --glob !.git"
        " --glob !.hg --glob !.jj --glob !.sl --glob !.svn --regexp a -- /w"
    )


# checklist: P84, P85, P86, P113
def test_glob_sorts_oldest_first(project: ToolWorkspace) -> None:
    outcome = project.run_tool("Glob", pattern="*.py")
    assert outcome.content == "a.py\nb.py"
    assert outcome.output.pop("durationMs") >= 0
    assert outcome.output == {
        "filenames": ["a.py", "b.py"],
        "numFiles": 2,
        "truncated": False,
        "totalMatches": 2,
        "countIsComplete": True,
    }


# checklist: P113
@pytest.mark.parametrize(
    ("pattern", "path", "expected"),
    [
        ("*", "src", ["src/.gitignore", "src/c.ts", "src/d.tsx", "src/deep.txt", "src/top.txt"]),
        ("**/*.ts", None, ["src/c.ts"]),
        ("src/{c,d}.*", None, ["src/c.ts", "src/d.tsx"]),
        ("src/?.ts", None, ["src/c.ts"]),
        ("[a-b].py", None, ["a.py", "b.py"]),
        ("[!a].py", None, ["b.py"]),
        ("node_modules/*", None, ["node_modules/m.js"]),
        (".git/*", None, [".git/x"]),
        ("src", None, ["No files found"]),
        ("../*", None, ["No files found"]),
        ("zzz*", None, ["No files found"]),
    ],
)
def test_patterns_match_paths(
    project: ToolWorkspace, pattern: str, path: str | None, expected: list[str]
) -> None:
    asked = {"pattern": pattern} | ({"path": path} if path else {})
    assert sorted(project.result_text("Glob", **asked).split("\n")) == expected


def test_absolute_pattern(project: ToolWorkspace) -> None:
    text = project.result_text("Glob", pattern=f"{project.root}/src/*.ts")
    assert text == "src/c.ts"
    proposal = project.tools["Glob"].propose({"pattern": "/etc/*.conf"}, project.place)
    assert proposal.paths == (Path("/etc"),)


def test_more_than_a_hundred_results_are_counted(workspace: ToolWorkspace) -> None:
    for number in range(101):
        workspace.put(f"f{number:03}.log", "")
    outcome = workspace.run_tool("Glob", pattern="*.log")
    assert (outcome.output["numFiles"], outcome.output["totalMatches"]) == (100, 101)
    assert outcome.output["truncated"] is True
    assert str(outcome.content).endswith(
        "\n(Showing 100 of 101 matching files; 1 more are not listed. Narrow the pattern or path to"
        " see the rest.)"
    )


@pytest.mark.parametrize(
    ("asked", "text"),
    [
        (
            {"pattern": "*", "path": "nowhere"},
            "Directory does not exist: nowhere. Note: your current",
        ),
        ({"pattern": "*", "path": "a.py"}, "Path is not a directory: a.py"),
        ({"pattern": "["}, "Search failed — ripgrep rejected the pattern, glob, or file type"),
        ({"pattern": "{a"}, "Search failed — ripgrep rejected the pattern, glob, or file type"),
        ({"pattern": "[z-a]"}, "Search failed — ripgrep rejected the pattern, glob, or file type"),
    ],
)
def test_unreadable_places(project: ToolWorkspace, asked: dict[str, str], text: str) -> None:
    outcome = project.run_tool("Glob", **asked)
    assert outcome.is_error
    assert str(outcome.content).startswith(text)


@given(st.text("ab*?[]{}!,/\\^-", max_size=12), st.text("ab/", max_size=8))
def test_any_pattern_works_or_is_refused(pattern: str, path: str) -> None:
    try:
        choice = GlobSet.parse([pattern])
    except ToolError as error:
        assert error.text.startswith("Search failed")
    else:
        assert choice.matches(path) in (True, False, None)


def test_brace_patterns() -> None:
    assert split_patterns("*.ts,*.py *.{a,b}") == ["*.ts", "*.py", "*.{a,b}"]
    assert GlobSet.parse(["*.py", "!b.py"]).matches("a.py") is True
    assert GlobSet.parse(["*.py", "!b.py"]).matches("b.py") is False
    assert GlobSet.parse(["!b.py"]).matches("a.py") is None
    assert GlobSet.parse([]).matches("a.py") is None


def test_search_can_be_cancelled(workspace: ToolWorkspace) -> None:
    from plait.chat.tools import search as globs

    stopped: list[bool] = []

    def work(is_over: globs.IsCancelled) -> None:
        while not is_over():
            pass
        stopped.append(True)

    async def play() -> None:
        task = asyncio.create_task(globs.run_search(work))
        await asyncio.sleep(0.05)
        task.cancel()
        await asyncio.wait([task])

    asyncio.run(play())
    assert stopped == [True]
