"""Which instruction files apply, and in which order."""

import os
from pathlib import Path

import pytest

from plait.chat.instructions import (
    MAX_FILE_BYTES,
    MAX_IMPORT_DEPTH,
    ProjectScope,
    expand_braces,
    find_imports,
    load_instructions,
    load_nested_instructions,
    strip_comments,
)
from plait.chat.tools.base import SECRET_PLACEHOLDER
from tests.chat.instructions.files import load_names, relative_names, write


def make_scope(folder: Path) -> ProjectScope:
    """Return a project, a configuration and a home, in one folder."""
    return ProjectScope(folder / "project", folder / "config", folder / "home")


def test_user_files_come_first_then_from_the_root_down(tmp_path: Path) -> None:
    """Each directory with its own, its folder's, its rules and what is not checked in."""
    wanted = [
        "config/CLAUDE.md",
        "config/rules/own.md",
        "CLAUDE.md",
        ".claude/CLAUDE.md",
        ".claude/rules/above.md",
        "CLAUDE.local.md",
        "project/CLAUDE.md",
        "project/.claude/CLAUDE.md",
        "project/.claude/rules/a.md",
        "project/.claude/rules/z.md",
        "project/.claude/rules/inner/b.md",
        "project/CLAUDE.local.md",
    ]
    for name in [*reversed(wanted), "project/sub/CLAUDE.md", "project/.claude/rules/no.txt"]:
        write(tmp_path / name, f"says {name}")
    write(tmp_path / "project/.claude/rules/some.md", "---\npaths: '*.py'\n---\nfor some")
    write(tmp_path / "config/rules/some.md", "---\npaths: '*.py'\n---\nfor some")
    found = load_instructions(make_scope(tmp_path), make_scope(tmp_path).new_reader())
    assert [name for name in relative_names(found, tmp_path) if name in wanted] == wanted
    assert {item.kind for item in found if "local" in item.path.name} == {"Local"}
    assert {item.kind for item in found if item.path.is_relative_to(tmp_path / "config")} == {
        "User"
    }
    assert len(found) == len(wanted)


def test_without_a_config_folder_there_are_no_user_files(tmp_path: Path) -> None:
    """Only the project counts then."""
    write(tmp_path / "project/CLAUDE.md", "x")
    grounds = ProjectScope(tmp_path / "project")
    assert relative_names(load_instructions(grounds, grounds.new_reader()), tmp_path) == [
        "project/CLAUDE.md"
    ]
    assert load_nested_instructions(grounds, tmp_path / "project/f.py", grounds.new_reader()) == []


def test_a_configuration_folder_above_the_project_is_read_once(tmp_path: Path) -> None:
    """At home `~/.claude/CLAUDE.md` is the person's own, not the project's."""
    own = write(tmp_path / ".claude/CLAUDE.md", "own")
    grounds = ProjectScope(tmp_path / "project", own.parent, tmp_path)
    [only] = load_instructions(grounds, grounds.new_reader())
    assert (only.path, only.kind) == (own, "User")


def test_imported_files_follow_directly(tmp_path: Path) -> None:
    """In the order in which they are named, with what those bring in."""
    write(tmp_path / "project/CLAUDE.md", "@docs/one.md and @two.md\n")
    write(tmp_path / "project/docs/one.md", "see @inner.md\n")
    write(tmp_path / "project/docs/inner.md", "x\n")
    write(tmp_path / "project/two.md", "@CLAUDE.md @docs/inner.md @two.md @missing.md @docs\n")
    brought_in = ["project/docs/one.md", "project/docs/inner.md", "project/two.md"]
    assert load_names(tmp_path) == ["project/CLAUDE.md", *brought_in]


def test_import_depth_is_limited(tmp_path: Path) -> None:
    """A chain of files ends, and so does a ring."""
    write(tmp_path / "project/CLAUDE.md", "@1.md")
    for number in range(1, 9):
        write(tmp_path / f"project/{number}.md", f"@{number + 1}.md")
    assert len(load_names(tmp_path)) == 1 + MAX_IMPORT_DEPTH


def test_an_impossible_file_name_is_not_imported(tmp_path: Path) -> None:
    """One that is too long, inside and outside."""
    write(tmp_path / "project/CLAUDE.md", f"@{'x' * 5000} @/{'y' * 5000}")
    assert load_names(tmp_path) == ["project/CLAUDE.md"]


def test_project_cannot_import_from_outside(tmp_path: Path) -> None:
    """Not by a path, not by a link; a person's own file may."""
    write(tmp_path / "secret.md", "secret")
    write(tmp_path / "home/notes.md", "notes")
    project = write(tmp_path / "project/CLAUDE.md", "@../secret.md @~/notes.md @link.md @/nope")
    (tmp_path / "project/link.md").symlink_to(tmp_path / "secret.md")
    grounds = make_scope(tmp_path)
    reader = grounds.new_reader()
    assert relative_names(load_instructions(grounds, reader), tmp_path) == ["project/CLAUDE.md"]
    assert len(reader.notices) == 3
    assert reader.notices[0] == (
        f"'{tmp_path}/secret.md' is not included in the instructions: it is imported by"
        f" '{project}', but lies outside the project"
    )
    write(tmp_path / "config/CLAUDE.md", f"@~/notes.md @{tmp_path}/secret.md")
    assert load_names(tmp_path)[:3] == ["config/CLAUDE.md", "home/notes.md", "secret.md"]


def test_without_a_home_folder_nothing_is_imported_from_it(tmp_path: Path) -> None:
    """Names below `~` lead nowhere then."""
    write(tmp_path / "config/CLAUDE.md", "@~/notes.md")
    grounds = ProjectScope(tmp_path / "project", tmp_path / "config")
    assert relative_names(load_instructions(grounds, grounds.new_reader()), tmp_path) == [
        "config/CLAUDE.md"
    ]


def test_binary_and_large_files_are_not_imported(tmp_path: Path) -> None:
    """Pictures and the like by their names; a long one with a notice; blank ones silently."""
    write(tmp_path / "project/CLAUDE.md", "@a.png @b.pdf @c.zip @long.md @blank.md @fits.md")
    for name in ("a.png", "b.pdf", "c.zip"):
        write(tmp_path / "project" / name, "x")
    write(tmp_path / "project/long.md", "x" * (MAX_FILE_BYTES + 1))
    write(tmp_path / "project/fits.md", "x" * MAX_FILE_BYTES)
    write(tmp_path / "project/blank.md", " \n")
    os.mkfifo(tmp_path / "project/CLAUDE.local.md")
    grounds = make_scope(tmp_path)
    reader = grounds.new_reader()
    found = relative_names(load_instructions(grounds, reader), tmp_path)
    assert found == ["project/CLAUDE.md", "project/fits.md"]
    assert [notice.rpartition(": ")[2] for notice in reader.notices] == ["file too large"]


def test_secrets_are_hidden(tmp_path: Path) -> None:
    """As wherever a tool comes upon them."""
    write(tmp_path / "project/CLAUDE.md", "the key is sk-12345")
    grounds = ProjectScope(tmp_path / "project", secrets=("sk-12345",))
    [only] = load_instructions(grounds, grounds.new_reader())
    assert only.content == only.raw == f"the key is {SECRET_PLACEHOLDER}"


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("@a.md", ["a.md"]),
        ('see @a.md, @b.md. (@c.md) "@d.md" x@e.md', ["a.md,", "b.md."]),
        ("**@a.md** _@b.md_", ["a.md", "b.md"]),
        ("- @a.md\n> @b.md\n# @c.md", ["a.md", "b.md", "c.md"]),
        ("`@a.md` ``@b.md``\n\n```\n@c.md\n```\n\n    @d.md\n", []),
        (r"@a\ b.md", ["a b.md"]),
        ("@a.md#part", ["a.md"]),
        ("@./a @~/b @/c @.d", ["./a", "~/b", "/c", ".d"]),
        ("@ @/ @@x @(x) @#x @%x", []),
        ("one\n@a.md\n@b.md", ["a.md", "b.md"]),
        ("<!-- @a.md -->\n", []),
    ],
)
def test_which_mentions_are_files(text: str, found: list[str]) -> None:
    """What follows an @ at the beginning of a word, outside of code."""
    assert find_imports(text) == found


@pytest.mark.parametrize(
    ("text", "rest"),
    [
        ("# A\n\n<!-- x -->\nb\n", "# A\n\nb\n"),
        ("<!-- x --> tail\n", " tail\n"),
        ("<!-- x\ny -->\n\nz", "\nz"),
        ("<!-- x\ny --> rest\n\nz", " rest\n\nz"),
        ("a <!-- x --> b", "a <!-- x --> b"),
        ("```\n<!-- x -->\n```\n", "```\n<!-- x -->\n```\n"),
        ("<div><!-- x --></div>\n", "<div><!-- x --></div>\n"),
        ("<!-- open", "<!-- open"),
        ("nothing", "nothing"),
    ],
)
def test_comments_are_not_sent(text: str, rest: str) -> None:
    """Those that stand for themselves, outside of code."""
    assert strip_comments(text) == rest


def test_brace_patterns_are_expanded() -> None:
    """In the order in which they stand, however many braces."""
    assert expand_braces(["src/*.{ts,js}", "*.py"]) == ("src/*.ts", "src/*.js", "*.py")
    assert expand_braces(["{a,b}/{c,d}"]) == ("a/c", "a/d", "b/c", "b/d")
    assert len(expand_braces(["{a,b}" * 40])) <= 500


def test_nested_file_adds_the_instructions_on_its_path(tmp_path: Path) -> None:
    """The person's rules for it, each directory below the first, then the rules from above."""
    wanted = [
        "config/rules/txt.md",
        "project/a/CLAUDE.md",
        "project/a/.claude/CLAUDE.md",
        "project/a/CLAUDE.local.md",
        "project/a/.claude/rules/all.md",
        "project/a/.claude/rules/txt.md",
        "project/a/b/CLAUDE.md",
        ".claude/rules/txt.md",
        "project/.claude/rules/txt.md",
    ]
    for name in [*wanted, "project/CLAUDE.md", "project/.claude/rules/all.md"]:
        is_some = name.endswith("txt.md")
        write(tmp_path / name, "---\npaths: '*.txt'\n---\nx" if is_some else "x")
    write(tmp_path / "project/a/.claude/rules/py.md", "---\npaths: '*.py'\n---\nx")
    write(tmp_path / "project/other/CLAUDE.md", "x")
    grounds = make_scope(tmp_path)
    path = tmp_path / "project/a/b/f.txt"
    assert (
        relative_names(load_nested_instructions(grounds, path, grounds.new_reader()), tmp_path)
        == wanted
    )


@pytest.mark.parametrize(
    ("paths", "name", "is_meant"),
    [
        ("'*.py'", "deep/down/x.py", True),
        ("'src/**/*.py'", "src/a/b/x.py", True),
        ("'src/**/*.py'", "lib/src/x.py", False),
        ("['*.js', '*.py']", "x.py", True),
        ("'*.{js,py}'", "x.py", True),
        ("'['", "x.py", False),
        ("'*'", "x.py", True),
    ],
)
def test_rules_apply_to_matching_files(
    tmp_path: Path, paths: str, name: str, is_meant: bool
) -> None:
    """As seen from the directory that holds them; a broken pattern means nothing."""
    write(tmp_path / "project/.claude/rules/r.md", f"---\npaths: {paths}\n---\nx")
    grounds = make_scope(tmp_path)
    found = load_nested_instructions(grounds, tmp_path / "project" / name, grounds.new_reader())
    assert bool(found) == is_meant


def test_file_outside_the_directory_adds_nothing(tmp_path: Path) -> None:
    """Only below the directory that the session works in."""
    write(tmp_path / "other/CLAUDE.md", "x")
    grounds = make_scope(tmp_path)
    assert load_nested_instructions(grounds, tmp_path / "other/f.txt", grounds.new_reader()) == []
