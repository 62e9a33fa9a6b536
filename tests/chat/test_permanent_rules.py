"""Rules that the user allows permanently: what is written, and what stays unchanged."""

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from plait.chat.approval import Approval
from plait.chat.rules import (
    find_allow_rule,
    parse_rule,
    save_rules,
    suggest_permissions,
    suggest_rules,
)
from plait.chat.session import SessionOptions, build_runtime
from plait.chat.settings import load_settings
from plait.chat.tools.base import Effect, Proposal, Workplace
from plait.errors import SourceError, UserError
from plait.write import SessionWriter


def call(tool: str, effect: Effect, *paths: Path, **arguments: str) -> Proposal:
    return Proposal(tool, arguments, effect, tool, paths)


def bash(command: str) -> Proposal:
    return call("Bash", "execute", command=command)


@pytest.mark.parametrize(
    ("command", "rules"),
    [
        ("npm run build --x", ["Bash(npm run *)"]),
        ("make all && touch z", ["Bash(make all *)", "Bash(touch z *)"]),
        ("make all && make all -j", ["Bash(make all *)"]),
        ("make", ["Bash(make)"]),
        ("ls -la src", ["Bash(ls -la src)"]),
        ("make all > log", ["Bash(make all > log)"]),
        ("echo 'a b' c", ["Bash(echo 'a b' c)"]),
        ("echo $(make)", []),
        ("rm *", []),
        ("make all\nmake it", ["Bash(make all *)", "Bash(make it *)"]),
        ("a b;" * 6, ["Bash(a b;a b;a b;a b;a b;a b;)"]),
    ],
)
def test_commands_are_allowed_by_prefix(command: str, rules: list[str]) -> None:
    assert [*suggest_rules(bash(command))] == rules


def test_rules_for_other_calls() -> None:
    fetch = call("WebFetch", "network", url="https://a.test/x")
    assert suggest_rules(fetch) == ("WebFetch(domain:a.test)",)
    assert suggest_rules(call("mcp__files__list", "network")) == ("mcp__files__list",)
    assert suggest_rules(call("Write", "write", Path("/a/b"))) == ()
    assert suggest_rules(call("Read", "read", Path("/a/b"))) == ()


def test_permission_suggestions_for_hooks() -> None:
    kept = {"behavior": "allow", "destination": "localSettings"}
    rules = [{"toolName": "Bash", "ruleContent": "npm run *"}]
    assert suggest_permissions(bash("npm run x")) == [{"type": "addRules", "rules": rules, **kept}]
    read = suggest_permissions(call("Read", "read", Path("/etc/hosts")))
    assert read[0]["rules"] == [{"toolName": "Read", "ruleContent": "//etc/**"}]
    assert suggest_permissions(call("TodoWrite", "none")) == []


@given(st.lists(st.sampled_from(["make", "npm", "run", "x", "-v", "&&", ";"]), max_size=6))
def test_saved_rule_allows_the_call(words: list[str]) -> None:
    command = " ".join(words)
    rules = suggest_rules(bash(command))
    place = Workplace(Path("/"), Path("/"))
    if rules:
        assert find_allow_rule([parse_rule(rule) for rule in rules], bash(command), place)


BEFORE = {
    "nothing": (None, '{\n  "permissions": {\n    "allow": [\n      "Bash(x)"\n    ]\n  }\n}\n'),
    "an empty file": (
        "",
        '{\n  "permissions": {\n    "allow": [\n      "Bash(x)"\n    ]\n  }\n}\n',
    ),
    "other settings": (
        '{\n    "env": {"A": "1"}\n}',
        '{\n    "env": {"A": "1"},\n    "permissions": {\n        "allow": [\n'
        '            "Bash(x)"\n        ]\n    }\n}',
    ),
    "other rules": (
        '{"permissions": {"deny": ["Bash(rm *)"]},   "b": 1}',
        '{"permissions": {"deny": ["Bash(rm *)"], "allow": [ "Bash(x)" ]},   "b": 1}',
    ),
    "rules already": (
        '{\n\t"permissions": {\n\t\t"allow": [\n\t\t\t"Edit"\n\t\t]\n\t}\n}\n',
        '{\n\t"permissions": {\n\t\t"allow": [\n\t\t\t"Edit",\n\t\t\t"Bash(x)"\n\t\t]\n\t}\n}\n',
    ),
    "the rule already": (
        '{"permissions": {"allow": ["Bash(x)"]}}',
        '{"permissions": {"allow": ["Bash(x)"]}}',
    ),
    "a byte order mark": (
        '\ufeff{"permissions": {"allow": []}}',
        '\ufeff{"permissions": {"allow": ["Bash(x)"]}}',
    ),
}


@pytest.mark.parametrize("name", BEFORE)
def test_rest_of_the_file_stays(tmp_path: Path, name: str) -> None:
    before, after = BEFORE[name]
    path = tmp_path / ".claude/settings.local.json"
    if before is not None:
        path.parent.mkdir()
        path.write_text(before, encoding="utf-8")
        path.chmod(0o640)
    save_rules(tmp_path, ["Bash(x)"])
    assert path.read_text(encoding="utf-8") == after
    assert path.stat().st_mode & 0o777 == (0o644 if not before else 0o640)
    found = load_settings(tmp_path / "home", tmp_path).list_values("permissions", "allow")
    assert "Bash(x)" in [text for text, _ in found]


def test_symlink_stays_a_symlink(tmp_path: Path) -> None:
    (tmp_path / ".claude").mkdir()
    (tmp_path / "real.json").write_text("{}", encoding="utf-8")
    link = tmp_path / ".claude/settings.local.json"
    link.symlink_to("../real.json")
    save_rules(tmp_path, ["Edit", "Read"])
    assert link.is_symlink()
    assert json.loads(link.read_text())["permissions"]["allow"] == ["Edit", "Read"]


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("{", "is not JSON"),
        ("[]", "is not a settings file"),
        ('{"permissions": 7}', "is not a list"),
        ('{"permissions": {"allow": 7}}', "is not a list"),
    ],
)
def test_broken_file_is_not_changed(tmp_path: Path, text: str, value: str) -> None:
    path = tmp_path / ".claude/settings.local.json"
    path.parent.mkdir()
    path.write_text(text, encoding="utf-8")
    with pytest.raises(UserError, match=value):
        save_rules(tmp_path, ["Edit"])
    assert path.read_text() == text


def test_unreadable_settings_are_reported(tmp_path: Path) -> None:
    path = tmp_path / ".claude/settings.local.json"
    path.parent.mkdir()
    path.write_bytes(b"\xff\xfe")
    with pytest.raises(SourceError, match="cannot read"):
        save_rules(tmp_path, ["Edit"])
    (tmp_path / "file").write_text("")
    with pytest.raises(SourceError, match="cannot"):
        save_rules(tmp_path / "file", ["Edit"])


class Generous:
    """Allows everything for good."""

    def __init__(self) -> None:
        self.asked = 0

    async def ask(self, proposal: Proposal, call: str) -> Approval:
        """Allows a call and the like."""
        self.asked += 1
        return Approval(is_allowed=True, is_permanent=True)


def run_calls(folder: Path, person: Generous, *calls: Proposal, notes: list[str]) -> list[Any]:
    """Return what the log says of some calls, asked about in one session."""
    writer = SessionWriter.new(folder / "config", cwd=folder)
    manner = SessionOptions(None, asker=person, note=notes.append)  # type: ignore[arg-type]
    permissions = build_runtime(writer, manner).permissions
    rulings = [asyncio.run(permissions.check(item, "toolu_1")) for item in calls]
    assert all(ruling.is_allowed for ruling in rulings)
    return [ruling.fields["permission_decision"] for ruling in rulings]


def test_permanent_permission_is_not_asked_again(tmp_path: Path) -> None:
    person = Generous()
    calls = (bash("npm run build"), bash("npm run test"))
    first, second = run_calls(tmp_path, person, *calls, notes=[])
    assert first == {
        "decision": "accept",
        "source": "user_permanent",
        "reasonCode": "bashMiss:no-rule-match",
    }
    assert second["reasonType"] == "subcommandResults"
    assert person.asked == 1
    text = (tmp_path / ".claude/settings.local.json").read_text()
    assert json.loads(text) == {"permissions": {"allow": ["Bash(npm run *)"]}}


def test_a_rule_that_cannot_be_saved_is_reported(tmp_path: Path) -> None:
    (tmp_path / ".claude").mkdir()
    (tmp_path / ".claude/settings.local.json").write_text("{")
    notes: list[str] = []
    run_calls(tmp_path, Generous(), bash("npm run build"), notes=notes)
    (note,) = notes
    assert note.startswith("rule not saved: ")


def test_call_without_a_rule_is_allowed_once(tmp_path: Path) -> None:
    write = call("Write", "write", tmp_path / "x")
    (decision,) = run_calls(tmp_path, Generous(), write, notes=[])
    assert (decision["source"], decision["grantScope"]) == ("user_temporary", "once")
    assert not (tmp_path / ".claude").exists()
