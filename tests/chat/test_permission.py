"""Permissions: mode, rules and the user, and what the log records."""

import asyncio
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from plait.chat.approval import Approval, Mode, Verdict
from plait.chat.events import ToolFinished, TurnEnded
from plait.chat.permissions import DENIED_FILE, NOT_ASKED, SessionPermissions
from plait.chat.rules import Rule, find_allow_rule, find_deny_rule, parse_rule, parse_rules
from plait.chat.runtime import Ruling
from plait.chat.tools import toolbox
from plait.chat.tools.base import Effect, Proposal, Workplace
from plait.chat.tools.commands import is_safe_command
from plait.errors import UserError
from plait.write import SessionWriter
from plait.write.lines import NEWEST, Version
from plait.write.transcript import REJECTED
from tests.chat.scripted_client import ScriptedClient

ONCE = {"decision": "accept", "source": "user_temporary", "grantScope": "once"}
SESSION = {**ONCE, "grantScope": "session"}
BY_MODE = {"decision": "accept", "source": "config", "reasonType": "mode"}


class Person:
    """Says what it was told to say, one thing after the other."""

    def __init__(self, *answers: Approval) -> None:
        self.answers = [*answers]
        self.asked: list[Proposal] = []

    async def ask(self, proposal: Proposal, call: str) -> Approval:
        """Answer the next question."""
        self.asked.append(proposal)
        return self.answers.pop(0)


class PermissionProject:
    """A workspace with somebody to ask, or nobody."""

    def __init__(
        self,
        folder: Path,
        mode: Mode = "default",
        person: Person | None = None,
        version: Version = NEWEST,
        **rules: Any,
    ) -> None:
        self.root = (folder / "work").resolve()
        self.root.mkdir(exist_ok=True)
        self.place = Workplace(self.root, self.root)
        self.writer = SessionWriter.new(folder / "config", cwd=self.root, version=version)
        self.permissions = SessionPermissions(
            self.writer, self.place, mode, person, toolbox(), **rules
        )

    def call(self, name: str) -> Proposal:
        """A call by what it does: `read inside`, `write outside`, `Bash …`, `fetch`, `plan`."""
        if name.startswith("Bash "):
            return proposal("Bash", "execute", command=name[5:])
        if name.startswith("fetch "):
            return proposal("WebFetch", "network", url=name[6:])
        effects: dict[str, Effect] = {"read": "read", "write": "write", "none": "none"}
        verb, _, where = name.partition(" ")
        folder = self.root if where == "inside" else Path("/elsewhere")
        tool = {"read": "Read", "write": "Write", "none": "TodoWrite"}[verb]
        paths = () if verb == "none" else (folder / "file.txt",)
        return proposal(tool, effects[verb], *paths)

    def rule(self, name: str) -> Ruling:
        """What is said to a call."""
        return asyncio.run(self.permissions.check(self.call(name), "toolu_1"))

    def decision(self, name: str) -> Any:
        """What the log says of it."""
        return self.rule(name).fields["permission_decision"]


def proposal(tool: str, effect: Effect, *paths: Path, **arguments: str) -> Proposal:
    return Proposal(tool, arguments, effect, " ".join(arguments.values()) or tool, paths)


CALLS = ("none", "read inside", "read outside", "write inside", "write outside", "Bash make")
TABLE: dict[Mode, str] = {
    "default": "allow allow ask ask ask ask ask",
    "acceptEdits": "allow allow ask allow ask ask ask",
    "plan": "allow allow ask deny deny ask ask",
    "dontAsk": "allow allow deny deny deny deny deny",
    "bypassPermissions": "allow allow allow allow allow allow allow",
}


@pytest.mark.parametrize("mode", TABLE)
def test_mode_decides_what_is_asked(tmp_path: Path, mode: Mode) -> None:
    project = PermissionProject(tmp_path, mode)
    calls = (*CALLS, "fetch https://example.com/")
    verdicts = [project.permissions.decide(project.call(name)).verdict for name in calls]
    assert " ".join(verdicts) == TABLE[mode]


@pytest.mark.parametrize(
    ("mode", "call", "text", "decision", "kind"),
    [
        ("default", "Bash make", "This command requires approval", "bashMiss", "user-rejected"),
        (
            "default",
            "write inside",
            "Claude requested permissions to write to {root}/file.txt, but you haven't granted it"
            " yet.",
            "unknown",
            "user-rejected",
        ),
        (
            "acceptEdits",
            "write outside",
            "Claude requested permissions to write to /elsewhere/file.txt, but you haven't granted"
            " it yet.",
            "workingDir",
            "user-rejected",
        ),
        (
            "default",
            "read outside",
            "Claude requested permissions to read from /elsewhere/file.txt, but you haven't granted"
            " it yet.",
            "workingDir",
            "user-rejected",
        ),
        (
            "default",
            "fetch http://x/",
            "Claude requested permissions to use WebFetch, but you haven't granted it yet.",
            "unknown",
            "user-rejected",
        ),
        (
            "plan",
            "write inside",
            "Cannot write to {root}/file.txt while in plan mode.",
            "mode:plan",
            "user-rejected",
        ),
        ("dontAsk", "Bash make", NOT_ASKED.format("Bash"), "mode:dontAsk", "permission-rule"),
    ],
)
def test_without_an_approver_the_model_gets_the_reason(
    tmp_path: Path, mode: Mode, call: str, text: str, decision: str, kind: str
) -> None:
    project = PermissionProject(tmp_path, mode)
    ruling = project.rule(call)
    assert not ruling.is_allowed
    assert not ruling.ends_turn
    assert ruling.message == text.format(root=project.root)
    assert ruling.output == f"Error: {ruling.message}"
    assert ruling.fields["tool_denial_kind"] == kind
    logged = ruling.fields["permission_decision"]
    assert logged["decision"] == "reject" and logged["source"] == "config"
    assert logged["reasonCode"].startswith(decision)
    assert ("reasonType" in logged) == (mode == "dontAsk")


@pytest.mark.parametrize(
    ("mode", "call", "why"),
    [
        ("default", "read inside", {"reasonType": "mode"}),
        ("default", "none", {}),
        ("default", "Bash ls", {"reasonType": "subcommandResults"}),
        ("acceptEdits", "write inside", {"reasonType": "mode"}),
        ("bypassPermissions", "Bash make", {"reasonType": "mode"}),
    ],
)
def test_log_records_why_a_call_was_allowed(
    tmp_path: Path, mode: Mode, call: str, why: Mapping[str, str]
) -> None:
    decision = {"decision": "accept", "source": "config", **why}
    assert PermissionProject(tmp_path, mode).decision(call) == decision


def test_older_version_logs_no_permissions(tmp_path: Path) -> None:
    project = PermissionProject(tmp_path, version="2.1.29")
    assert project.rule("read inside").fields == project.rule("Bash make").fields == {}


def test_user_allows_a_call_once(tmp_path: Path) -> None:
    person = Person(Approval(True), Approval(True))
    project = PermissionProject(tmp_path, person=person)
    assert project.decision("Bash make") == {**ONCE, "reasonCode": "bashMiss:no-rule-match"}
    assert project.rule("Bash make").is_allowed
    assert [item.title for item in person.asked] == ["make", "make"]


def test_user_allows_a_command_for_the_session(tmp_path: Path) -> None:
    person = Person(Approval(True, is_for_session=True), Approval(False, "no"))
    project = PermissionProject(tmp_path, person=person)
    assert project.decision("Bash make") == {**SESSION, "reasonCode": "bashMiss:no-rule-match"}
    assert project.decision("Bash make")["ruleSource"] == "session"
    assert not project.rule("Bash make; rm -rf /").is_allowed
    assert len(person.asked) == 2


def test_user_allows_all_edits_in_the_workspace(tmp_path: Path) -> None:
    person = Person(Approval(True, is_for_session=True), Approval(False, "no"))
    project = PermissionProject(tmp_path, person=person)
    assert project.decision("write inside") == {**SESSION, "reasonCode": "unknown"}
    assert project.permissions.mode == project.writer.setting.permission_mode == "acceptEdits"
    assert b'"permission-mode","permissionMode":"acceptEdits"' in project.writer.path.read_bytes()
    assert project.decision("write inside") == BY_MODE
    assert not project.rule("write outside").is_allowed
    assert len(person.asked) == 2


def test_permission_is_per_folder_and_host(tmp_path: Path) -> None:
    grant = Approval(True, is_for_session=True)
    person = Person(grant, grant, Approval(False, "no"), Approval(False, "no"))
    project = PermissionProject(tmp_path, person=person)
    assert project.rule("read outside").is_allowed and project.rule("read outside").is_allowed
    assert (
        project.rule("fetch http://a/1").is_allowed and project.rule("fetch http://a/2").is_allowed
    )
    assert not project.rule("fetch http://b/").is_allowed
    assert not project.rule("write outside").is_allowed, "to read is not to write"
    assert project.permissions.mode == "default"


def test_rejection_without_text_stops_the_turn(tmp_path: Path) -> None:
    ruling = PermissionProject(tmp_path, person=Person(Approval(False))).rule("Bash make")
    assert ruling == Ruling(
        False,
        ruling.proposal,
        REJECTED,
        "User rejected tool use",
        {"tool_denial_kind": "user-rejected"},
        ends_turn=True,
    )


@pytest.mark.parametrize("stops", [False, True])
def test_rejection_with_text_sends_it(tmp_path: Path, stops: bool) -> None:
    ruling = PermissionProject(
        tmp_path, person=Person(Approval(False, "use git", ends_turn=stops))
    ).rule("Bash make")
    assert ruling.message == (
        "The user doesn't want to proceed with this tool use. The tool use was rejected (eg. if it"
        " was a file edit, the new_string was NOT written to the file). To tell you how to proceed,"
        " the user said:\nuse git"
    )
    assert ruling.output == f"Error: {ruling.message}"
    assert ruling.ends_turn == stops
    assert ruling.fields == {
        "tool_denial_kind": "user-rejected",
        "user_feedback": "use git",
        "holds_persons_words": True,
        "permission_decision": {
            "decision": "reject",
            "source": "user_reject",
            "reasonCode": "bashMiss:no-rule-match",
        },
    }


def test_edited_call_is_checked_and_run(tmp_path: Path) -> None:
    changed = Approval(True, arguments={"command": "echo two"})
    wrong = Approval(True, arguments={"command": 7})
    project = PermissionProject(tmp_path, person=Person(changed, wrong))
    ruling = project.rule("Bash make")
    assert ruling.is_allowed and ruling.proposal.is_user_modified
    assert ruling.proposal.arguments["command"] == "echo two"
    refused = project.rule("Bash make")
    assert not refused.is_allowed
    assert "command" in refused.message


def test_mode_can_be_switched(tmp_path: Path) -> None:
    project = PermissionProject(tmp_path, version="2.1.29")
    project.permissions.set_mode("plan")
    assert project.writer.setting.permission_mode == "plan"
    assert not project.writer.path.exists(), "the older form has no line for it"
    assert not project.rule("write inside").is_allowed


RULES = parse_rules(
    ["Bash(git log:*), Bash(npm test)", "Read(//elsewhere/**) WebFetch(domain:a)", "Bash(wc *)"]
)


@pytest.mark.parametrize(
    ("call", "verdict"),
    [
        ("Bash git log", "allow"),
        ("Bash git log -1", "allow"),
        ("Bash git logs", "ask"),
        ("Bash git log && git log -2", "allow"),
        ("Bash git log; make", "ask"),
        ("Bash git log > file", "ask"),
        ("Bash git log $(make)", "ask"),
        ("Bash git log `make`", "ask"),
        ("Bash npm test", "allow"),
        ("Bash npm test --all", "ask"),
        ("Bash wc -l x", "allow"),
        ("Bash 'unended", "ask"),
        ("read outside", "allow"),
        ("write outside", "ask"),
        ("fetch https://a/b", "allow"),
        ("fetch https://b/a", "ask"),
        ("fetch https://[/", "ask"),
    ],
)
def test_allow_rules(tmp_path: Path, call: str, verdict: Verdict) -> None:
    project = PermissionProject(tmp_path, allow_rules=RULES)
    decision = project.permissions.decide(project.call(call))
    assert decision.verdict == verdict
    by_parts = call.startswith("Bash ") and call not in ("Bash git log", "Bash npm test")
    if verdict == "allow":
        of_rule = {"reasonType": "rule", "ruleSource": "cliArg"}
        assert decision.log_fields == ({"reasonType": "subcommandResults"} if by_parts else of_rule)


@pytest.mark.parametrize(
    ("call", "is_forbidden"),
    [
        ("Bash rm -rf x", True),
        ("Bash ls; rm x", True),
        ("Bash ls $(rm x)", True),
        ("Bash ls `rm x`", True),
        ("Bash (rm x)", True),
        ("Bash 'unended; rm x", True),
        ("Bash rmx x", False),
        ("Bash rmdir x", True),  # no file here may be changed
        ("Bash make > x", True),
        ("write inside", True),
        ("write outside", False),
        ("read inside", False),
    ],
)
@pytest.mark.parametrize("mode", ["default", "bypassPermissions"])
def test_deny_rules_apply_in_every_mode(
    tmp_path: Path, call: str, is_forbidden: bool, mode: Mode
) -> None:
    project = PermissionProject(
        tmp_path, mode, deny_rules=parse_rules(["Bash(rm:*)", "Edit(/**)"]), allow_rules=RULES
    )
    ruling = project.rule(call)
    decision = ruling.fields["permission_decision"]
    assert (decision.get("ruleSource") == "cliArg") == is_forbidden
    if is_forbidden:
        is_whole = call == "write inside" or "(" in call or "`" in call
        assert decision == {
            "decision": "reject",
            "source": "config",
            "reasonType": "rule" if is_whole else "subcommandResults",
            "ruleSource": "cliArg",
            "reasonCode": "rule:cliArg",
        }
        if call == "write inside":
            assert ruling.message == f"<tool_use_error>{DENIED_FILE}</tool_use_error>"
            assert "tool_denial_kind" not in ruling.fields
        else:
            assert (
                ruling.message == f"Permission to use Bash with command {call[5:]} has been denied."
            )
            assert ruling.fields["tool_denial_kind"] == "permission-rule"


def test_rule_without_a_pattern_names_a_tool(tmp_path: Path) -> None:
    project = PermissionProject(tmp_path)
    assert parse_rule("Bash") == Rule("Bash")
    assert find_allow_rule([Rule("Bash")], project.call("Bash make > x"), project.place)
    assert find_deny_rule([Rule("Bash")], project.call("Bash make"), project.place)
    assert not find_allow_rule([Rule("Bash")], project.call("read inside"), project.place)


@pytest.mark.parametrize(
    ("words", "path", "is_named"),
    [
        ("docs/**", "docs/a/b.md", True),
        ("docs/**", "other/docs/a", False),
        ("./docs/*", "docs/a", True),
        ("docs/*", "docs/a/b", True),  # a folder that is meant is meant with all in it
        ("docs/*.md", "docs/a/b.md", False),
        ("docs", "other/docs/a", True),
        ("docs/", "other/docs/a", True),
        ("/docs", "other/docs/a", False),
        ("[a-c]x", "bx", True),
        ("[!a-c]x", "bx", False),
        ("**/x.py", "x.py", True),
        ("**/x.py", "a/b/x.py", True),
        ("**/x.py", "a/yx.py", False),
        ("/docs/?", "docs/a", True),
        ("/docs/?", "docs/ab", False),
        ("a+b", "a+b", True),
    ],
)
def test_file_rules_name_paths(tmp_path: Path, words: str, path: str, is_named: bool) -> None:
    project = PermissionProject(tmp_path)
    call = replace(project.call("write inside"), paths=(project.root / path,))
    assert Rule("Edit", words).matches(call, project.place) == is_named
    assert not Rule("Edit", words).matches(replace(call, paths=()), project.place)


@pytest.mark.parametrize("text", ["", "Bash(", "Bash()", "(x)", "7", "Bash(x) y"])
def test_an_invalid_rule_is_rejected(text: str) -> None:
    with pytest.raises(UserError, match="is not a permission rule"):
        parse_rule(text)


def test_rules_are_separated_by_commas_or_spaces() -> None:
    assert parse_rules(["Edit,Read Bash(a, b:*)", "  "]) == (
        Rule("Edit"),
        Rule("Read"),
        Rule("Bash", "a, b:*"),
    )


@pytest.mark.parametrize(
    ("command", "is_free"),
    [
        ("ls", True),
        ("ls -la sub", True),
        ("cat file.txt | wc -l", True),
        ("grep -rn word .", True),
        ("grep -Rn word .", False),
        ("rg --pre ./x word", False),
        ("sort --compress-program=./x f", False),
        ("sort --compress-prog=sh -S 1k f", False),
        ("sort -u f", True),
        ("sort -uo f f", False),
        ("sort --out=f f", False),
        ("uniq -- f -g", False),
        ("printf -v PATH . && ls", False),
        ("printf hello", True),
        ("tree -R -L 1", False),
        ("wc --files0-f=f", False),
        ("grep --deref -r word .", False),
        ("rg -L word", False),
        ("diff -r a b", False),
        ("diff --recurs a b", False),
        ("diff a b", True),
        ("sha256sum -c f", False),
        ("sha256sum f", True),
        ("[ -f file.txt ]", True),
        ("cat /etc/passwd", False),
        ("cat ../secret", False),
        ("cat sub/../../secret", False),
        ("cat link/secret", False),
        ("cat ~/.ssh/id", False),
        ("cat $HOME/x", False),
        ("cat {/etc/passwd,x}", False),
        ("cat *", False),
        ("cat [a-z]", False),
        ("grep -f/etc/passwd x", False),
        ("cat --file=/etc/passwd", False),
        ("echo x > file", False),
        ("ls; make", False),
        ("git status", False),
        ("ps eww", False),
        ("", False),
        ("cat 'unended", False),
    ],
)
def test_only_read_only_workspace_commands_need_no_permission(
    tmp_path: Path, command: str, is_free: bool
) -> None:
    root = tmp_path.resolve()
    (root / "link").symlink_to("/etc")
    assert is_safe_command(command, Workplace(root, root)) == is_free
    assert not is_safe_command("ls", Workplace(root, Path("/")))


def test_turn_continues_after_rejection_text_and_ends_without(tmp_path: Path) -> None:
    call = {"calls": [{"name": "Bash", "input": {"command": "make"}}]}
    session = ScriptedClient(
        tmp_path, {"answers": [call, call, {"text": "Well."}]}, tools=[toolbox()["Bash"]]
    )
    person = Person(Approval(False, "use git"), Approval(False))
    session.parts.permissions = SessionPermissions(
        session.parts.writer, session.parts.place, "default", person, session.parts.tools
    )
    events = session.ask("Go.")
    assert [event.is_denied for event in events if isinstance(event, ToolFinished)] == [True, True]
    assert [event.ending for event in events if isinstance(event, TurnEnded)] == ["interrupted"]
    results = [line for line in session.lines if "sourceToolAssistantUUID" in line]
    assert [line["toolDenialKind"] for line in results] == ["user-rejected"] * 2
    names = list(results[0])
    first = names.index("toolDenialKind")
    assert names[first : first + 5] == [
        "toolDenialKind",
        "userFeedback",
        "holdsPersonsWords",
        "sourceToolAssistantUUID",
        "permissionDecision",
    ]
    assert "permissionDecision" not in results[1]
    assert results[1]["toolUseResult"] == "User rejected tool use"
    assert "[Request interrupted by user for tool use]" in session.picture()


@pytest.mark.parametrize(
    ("name", "verdict"),
    [
        (".git/config", "ask"),
        (".git/hooks/pre-commit", "ask"),
        (".GIT/config", "ask"),
        ("sub/.git/config", "ask"),
        (".git", "ask"),
        (".bashrc", "ask"),
        (".envrc", "ask"),
        (".mcp.json", "ask"),
        (".claude/settings.json", "ask"),
        (".vscode/tasks.json", "ask"),
        (".gitignore", "allow"),
        (".github/workflows/x.yml", "allow"),
        ("git/config", "allow"),
    ],
)
def test_files_that_run_code_are_asked_about(tmp_path: Path, name: str, verdict: Verdict) -> None:
    project = PermissionProject(tmp_path, "acceptEdits")
    call = proposal("Write", "write", project.root / name)
    decision = project.permissions.decide(call)
    assert decision.verdict == verdict
    if verdict == "ask":
        result = (
            f"Claude requested permissions to edit {project.root / name} which is a sensitive file."
        )
        assert (decision.reason, decision.log_fields) == (result, {"reasonCode": "safetyCheck"})


def test_permission_for_a_sensitive_file_covers_no_others(tmp_path: Path) -> None:
    person = Person(Approval(True, is_for_session=True))
    project = PermissionProject(tmp_path, person=person)
    call = proposal("Write", "write", project.root / ".git" / "config")
    assert asyncio.run(project.permissions.check(call, "toolu_1")).is_allowed
    assert project.permissions.mode == "default"
    assert project.permissions.decide(project.call("write inside")).verdict == "ask"


def test_commands_over_denied_files_need_permission(tmp_path: Path) -> None:
    for forbidden, verdict in (((), "allow"), (("Read(x)",), "ask"), (("Edit",), "allow")):
        project = PermissionProject(tmp_path, deny_rules=parse_rules(forbidden))
        assert project.permissions.decide(project.call("Bash cat y")).verdict == verdict
