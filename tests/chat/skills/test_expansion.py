"""How commands and skills are expanded."""

import asyncio
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from plait.chat.front_matter import parse_document
from plait.chat.instructions import ProjectScope
from plait.chat.skills import Skill, expand_skill, fill_arguments, load_skills, split_arguments
from tests.chat.instructions.files import write


@pytest.mark.parametrize(
    ("body", "given", "expected"),
    [
        ("Do $ARGUMENTS now", "a b", "Do a b now"),
        ("$0 and $1", "a 'b c' d", "a and b c"),
        ("$ARGUMENTS[1]/$ARGUMENTS[0]", "a b", "b/a"),
        ("$3 $10 $ARGUMENTS[7]", "a", "$3 $10 $ARGUMENTS[7]"),
        ("[$ARGUMENTS] $0", "", "[] $0"),
        (r"\$1 \$ARGUMENTS $$5 \$", "a b", "$1 $ARGUMENTS $$5 \\$\n\nARGUMENTS: a b"),
        ("Nothing.\n", "a", "Nothing.\n\n\nARGUMENTS: a"),
        ("Nothing.\n", "", "Nothing.\n"),
        ("", "x", "\n\nARGUMENTS: x"),
        ("$0 [$ARGUMENTS]", "a\nb c", "a [a\nb c]"),
        ("$0", "it's", "it's"),
    ],
)
def test_arguments_fill_placeholders(body: str, given: str, expected: str) -> None:
    """Words count from nought; what finds none stands at the end."""
    assert fill_arguments(body, given) == expected


def test_named_arguments() -> None:
    """The head says them, in the order in which they are given."""
    assert (
        fill_arguments("F $first S $second R $rest", "a b", ("first", "second"))
        == "F a S b R $rest"
    )
    assert fill_arguments("F $first $firstly", "", ("first",)) == "F $first $firstly"


@given(st.text(alphabet="$ARGUMENTS[]0123\\'\" \nab", max_size=40), st.text(max_size=20))
def test_any_text_can_be_expanded(body: str, given: str) -> None:
    """And is what it was where nothing is given and nothing asked for."""
    fill_arguments(body, given)
    if "$" not in body:
        assert fill_arguments(body, "") == body


def test_arguments_are_split_like_a_shell_does() -> None:
    """As far as its quotes go."""
    assert split_arguments("a 'b c' \"d\" e\\ f") == ["a", "b c", "d", "e f"]
    assert split_arguments("a 'b") == ["a", "'b"]


def skill(body: str, *, is_skill: bool = False) -> Skill:
    """Return a command with a text."""
    return Skill("look", parse_document(body), Path("/skills/look/SKILL.md"), is_skill)


def expand(body: str, *, is_skill: bool = False) -> tuple[str, list[tuple[str, str]]]:
    """Return what becomes of a text, and what was run for it."""
    ran: list[tuple[str, str]] = []

    async def run(command: str, written: str) -> str:
        ran.append((command, written))
        return command.upper()

    return asyncio.run(expand_skill(skill(body, is_skill=is_skill), "x", "id", run)), ran


def test_shell_output_replaces_its_command() -> None:
    """In a line behind a blank, and in a block; not where code stands for itself."""
    result, ran = expand("$0 !`date` a`!`no`` x!`no`\n```!\nls -l\n```\nend")
    assert result == "x DATE a`!`no`` x!`no`\nLS -L\nend"
    assert ran == [("date", "!`date`"), ("ls -l", "```!\nls -l\n```")]


def test_output_is_not_expanded_again() -> None:
    """An output that looks like a command stays as it is."""
    result, ran = expand("$0 !`a !`")
    assert (result, len(ran)) == ("x A !", 1)


def test_a_skill_names_its_folder() -> None:
    """Files beside it are found from there."""
    result, _ = expand("See ${CLAUDE_SKILL_DIR}/x ${CLAUDE_SESSION_ID} ${HOME} $0", is_skill=True)
    base = "Base directory for this skill: /skills/look\n\n"
    assert result == f"{base}See /skills/look/x id ${{HOME}} x"


def write_files(folder: Path, *names: str) -> ProjectScope:
    """Write commands and skills that say where they lie."""
    for name in names:
        write(folder / name, name)
    return ProjectScope(folder / "project", folder / "config")


def test_skills_precede_commands_and_user_precedes_project(tmp_path: Path) -> None:
    """And a nearer directory before one further up."""
    grounds = write_files(
        tmp_path,
        "project/.claude/commands/a.md",
        "project/.claude/commands/both.md",
        "project/.claude/commands/git/fix.md",
        "project/.claude/commands/no.txt",
        "project/.claude/skills/both/SKILL.md",
        "project/.claude/skills/own/SKILL.md",
        "project/.claude/skills/none/other.md",
        "config/commands/a.md",
        "config/skills/own/SKILL.md",
        ".claude/commands/above.md",
        ".claude/commands/git/fix.md",
        "project/sub/.claude/commands/below.md",
    )
    found = {
        name: result.path.relative_to(tmp_path) for name, result in load_skills(grounds).items()
    }
    assert {name: str(path) for name, path in found.items()} == {
        "both": "project/.claude/skills/both/SKILL.md",
        "own": "config/skills/own/SKILL.md",
        "a": "config/commands/a.md",
        "above": ".claude/commands/above.md",
        "git:fix": "project/.claude/commands/git/fix.md",
    }
    assert [*found][:2] == ["both", "own"]


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("---\ndescription: Looks\n---\nx", "- look: Looks"),
        ("---\ndescription: Looks\nwhen_to_use: often\n---\nx", "- look: Looks - often"),
        ("---\nname: other\ndescription: d\n---\nx", "- look (other): d"),
        ("---\nname: look\n---\n\n# A title\n\nx", "- look: A title"),
        ("x" * 101, f"- look: {'x' * 97}..."),
        ("x" * 100, f"- look: {'x' * 100}"),
        ("", "- look: "),
    ],
)
def test_skill_listing(text: str, line: str) -> None:
    """By its name, the one it gives itself, what it is for and when."""
    assert skill(text, is_skill=True).listing_line == line


def test_skill_front_matter() -> None:
    """Who may ask for it, what it lends, who answers."""
    plain = skill("x")
    assert (plain.is_for_model, plain.is_for_person, plain.is_text_only) == (True, True, True)
    assert (plain.allowed, plain.model, plain.argument_hint, plain.title) == ((), None, "", "")
    result = skill(
        "---\nallowed-tools: Read, Bash(a, b)\nmodel: haiku\nargument-hint: '[x]'\n"
        "disable-model-invocation: true\nuser-invocable: false\n---\n"
    )
    assert (result.is_for_model, result.is_for_person, result.is_text_only) == (False, False, False)
    assert (result.allowed, result.model, result.argument_hint) == (
        ("Read", "Bash(a, b)"),
        "haiku",
        "[x]",
    )
    assert skill("---\nmodel: inherit\n---\n").model is None
