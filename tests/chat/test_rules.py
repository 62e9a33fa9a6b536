"""Permission rules of settings: forms, precedence, and the log."""

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from plait.chat.approval import Mode, Verdict
from plait.chat.permissions import SessionPermissions
from plait.chat.rules import (
    PermissionRules,
    find_allow_rule,
    find_deny_rule,
    load_permission_rules,
    matches_pattern,
    parse_rule,
)
from plait.chat.session import SessionOptions
from plait.chat.settings import load_settings
from plait.chat.tools import toolbox
from plait.chat.tools.base import Proposal, Workplace
from plait.chat.tools.commands import matches_command
from plait.write import SessionWriter
from tests.chat.tools.workspace import ToolWorkspace as ToolDesk

USER, PROJECT, LOCAL = "userSettings", "projectSettings", "localSettings"


class RuleProject:
    """A project with rules in its settings files, and nobody to ask."""

    def __init__(self, folder: Path, mode: Mode = "default", **files: Any) -> None:
        self.root, self.config = folder / "work", folder / "config"
        (self.root / ".claude").mkdir(parents=True)
        self.config.mkdir()
        places = {
            USER: self.config / "settings.json",
            PROJECT: self.root / ".claude/settings.json",
            LOCAL: self.root / ".claude/settings.local.json",
        }
        for source, rules in files.items():
            places[source].write_text(json.dumps({"permissions": rules}), encoding="utf-8")
        self.place = Workplace(self.root, self.root, environment={"HOME": str(folder / "home")})
        self.settings = load_settings(self.config, self.root)
        self.mode = mode

    def book(self, **given: Any) -> PermissionRules:
        """All rules that count."""
        return load_permission_rules(self.settings, **given)

    def decision(self, call: Proposal, **given: Any) -> Any:
        """What the log says of a call."""
        book = self.book(**given)
        writer = SessionWriter.new(self.config, cwd=self.root)
        rules = (book.allowed, book.forbidden, book.asked)
        permissions = SessionPermissions(writer, self.place, self.mode, None, toolbox(), *rules)
        ruling = asyncio.run(permissions.check(call, "toolu_1"))
        return {
            "told": ruling.message,
            "kind": ruling.fields.get("tool_denial_kind"),
            **ruling.fields["permission_decision"],
        }


def bash(command: str) -> Proposal:
    return Proposal("Bash", {"command": command}, "execute", command)


def of_file(tool: str, path: Path) -> Proposal:
    effect: Any = "read" if tool in ("Read", "Grep", "Glob") else "write"
    return Proposal(tool, {"file_path": str(path)}, effect, str(path), (path,))


ALLOWED = ["touch a", "mkdir:*", "rm *", "git commit*", "npm run test*"]


@pytest.mark.parametrize(
    ("command", "how"),
    [
        ("touch a", "rule"),
        ("touch b", None),
        ("touch a b", None),
        ("mkdir", "rule"),
        ("mkdir -p x", "parts"),
        ("mkdir -p x && touch a", "parts"),
        ("mkdir y; touch zz", None),
        ("mkdir y | cat", "parts"),
        ("mkdir y | sh", None),
        ("(mkdir q)", None),
        ("mkdir $(touch a)", None),
        ("mkdir `touch a`", None),
        ("mkdir q > out", None),
        ("mkdir q 2>&1", "parts"),
        ("mkdir q >/dev/null", "parts"),
        ("timeout 5 mkdir q", "parts"),
        ("nohup mkdir q", "parts"),
        ("nice -n 5 mkdir q", "parts"),
        ("FOO=1 mkdir q", None),
        ("env mkdir q", None),
        ("sudo mkdir q", None),
        ("cd .. && mkdir q", None),
        ("mkdirx", None),
        ("rm", "parts"),
        ("rm -f a b", "parts"),
        ("git commit", "parts"),
        ("git commit -m 'x y'", "parts"),
        ("git commits", "parts"),
        ("mkdir a &", None),
        ("mkdir a & touch a", None),
        ("mkdir a && mkdir b", "parts"),
        ("npm run test:unit", "parts"),
        ("npm run", None),
        ("ls && mkdir m\ntouch a", "parts"),
        ("mkdir 'a;b'", "parts"),
        ("'mkdir x' y", None),
        ("timeout 5", None),
        ("ls", None),
    ],
)
def test_every_part_of_a_command_must_be_allowed(
    tmp_path: Path, command: str, how: str | None
) -> None:
    project = RuleProject(tmp_path, userSettings={"allow": [f"Bash({words})" for words in ALLOWED]})
    found = find_allow_rule(project.book().allowed, bash(command), project.place)
    assert (found and ("parts" if found.is_by_step else "rule")) == how


@pytest.mark.parametrize(
    "command",
    [
        "rm -rf x",
        "ls && rm x",
        "echo hi | rm x",
        "(rm x)",
        "echo $(rm x)",
        "echo `rm x`",
        "FOO=1 BAR=2 rm x",
        "timeout 5 rm x",
        "sudo -n rm x",
        "sudo -u me rm x",
        "/bin/rm x",
        "env A=1 rm x",
        "nice rm x",
        "if true; then rm x; fi",
        "for i in 1; do rm $i; done",
        "bash -c 'rm x'",
        "sh -c 'ls; rm x'",
        "eval 'rm x'",
        "ls | xargs rm",
        "find . -exec rm {} +",
        "! rm x",
        "ls\nrm x",
        "{ rm x; }",
        "'unended; rm x",
        "rm",
    ],
)
def test_any_denied_part_denies_a_command(tmp_path: Path, command: str) -> None:
    project = RuleProject(tmp_path, userSettings={"allow": ["Bash"], "deny": ["Bash(rm:*)"]})
    assert project.decision(bash(command))["decision"] == "reject"


@pytest.mark.parametrize("command", ["echo rm", "rmx", "git rm x", "ls 'rm'", "confirm x"])
def test_quoted_text_is_not_a_command_part(tmp_path: Path, command: str) -> None:
    project = RuleProject(tmp_path, userSettings={"allow": ["Bash"], "deny": ["Bash(rm:*)"]})
    assert project.decision(bash(command))["decision"] == "accept"


def sources(kind: Verdict) -> dict[str, Any]:
    """One rule of a kind in each file, `Bash(touch …)` with the letter of the file."""
    return {
        USER: {kind: ["Bash(touch u)"]},
        PROJECT: {kind: ["Bash(touch p)"]},
        LOCAL: {kind: ["Bash(touch l)"]},
    }


@pytest.mark.parametrize(
    ("letter", "source", "how"),
    [
        ("u", USER, "user_permanent"),
        ("p", PROJECT, "config"),
        ("l", LOCAL, "user_permanent"),
        ("c", "cliArg", "config"),
    ],
)
def test_log_names_the_allowing_file(tmp_path: Path, letter: str, source: str, how: str) -> None:
    project = RuleProject(tmp_path, **sources("allow"))
    assert project.decision(bash(f"touch {letter}"), allowed=["Bash(touch c)"]) == {
        "told": "",
        "kind": None,
        "decision": "accept",
        "source": how,
        "reasonType": "rule",
        "ruleSource": source,
    }


@pytest.mark.parametrize(
    ("letter", "source", "how"),
    [
        ("u", USER, "user_reject"),
        ("p", PROJECT, "config"),
        ("l", LOCAL, "user_reject"),
        ("c", "cliArg", "config"),
    ],
)
def test_log_names_the_denying_file(tmp_path: Path, letter: str, source: str, how: str) -> None:
    project = RuleProject(tmp_path, **sources("deny"))
    assert project.decision(bash(f"touch {letter}"), forbidden=["Bash(touch c)"]) == {
        "told": f"Permission to use Bash with command touch {letter} has been denied.",
        "kind": "permission-rule",
        "decision": "reject",
        "source": how,
        "reasonType": "rule",
        "ruleSource": source,
        "reasonCode": f"rule:{source}",
    }


@pytest.mark.parametrize(("letter", "source"), [("u", USER), ("p", PROJECT), ("l", LOCAL)])
@pytest.mark.parametrize("mode", ["default", "acceptEdits", "bypassPermissions", "plan"])
def test_ask_rule_applies_in_every_mode(
    tmp_path: Path, letter: str, source: str, mode: Mode
) -> None:
    project = RuleProject(tmp_path, mode, **sources("ask"))
    assert project.decision(bash(f"touch {letter}"), allowed=["Bash"]) == {
        "told": "Claude requested permissions to use Bash, but you haven't granted it yet.",
        "kind": "user-rejected",
        "decision": "reject",
        "source": "config",
        "ruleSource": source,
        "reasonCode": f"rule:{source}",
    }


def test_dont_ask_mode_denies_what_ask_rules_name(tmp_path: Path) -> None:
    project = RuleProject(tmp_path, "dontAsk", **sources("ask"))
    found = project.decision(bash("touch u"), allowed=["Bash(touch u)"])
    assert (found["reasonCode"], found["kind"]) == ("mode:dontAsk", "permission-rule")


def test_partwise_permission_names_no_rule(tmp_path: Path) -> None:
    project = RuleProject(
        tmp_path, userSettings={"allow": ["Bash(mkdir:*)"], "deny": ["Bash(rm:*)"]}
    )
    allowed = project.decision(bash("mkdir x"))
    assert (allowed["source"], allowed["reasonType"]) == ("config", "subcommandResults")
    assert "ruleSource" not in allowed
    forbidden = project.decision(bash("ls; rm x"))
    assert (forbidden["source"], forbidden["reasonType"]) == ("config", "subcommandResults")
    assert forbidden["ruleSource"] == USER


@pytest.mark.parametrize(
    ("command", "decision"),
    [
        ("touch a", "rule:localSettings"),
        ("touch b", "rule:userSettings"),
        ("touch c", "rule:userSettings"),
        ("touch d", "rule:projectSettings"),
        ("touch e", None),
    ],
)
def test_precedence_deny_ask_allow(tmp_path: Path, command: str, decision: str | None) -> None:
    project = RuleProject(
        tmp_path,
        userSettings={
            "allow": ["Bash(touch *)"],
            "ask": ["Bash(touch b)"],
            "deny": ["Bash(touch c)"],
        },
        projectSettings={"deny": ["Bash(touch d)"], "allow": ["Bash(touch c)"]},
        localSettings={"ask": ["Bash(touch a)", "Bash(touch d)"]},
    )
    assert project.decision(bash(command)).get("reasonCode") == decision


READ = ["./secret/**", ".env", "src/gen", "build/", "docs/*.md"]


@pytest.mark.parametrize(
    ("path", "is_hidden"),
    [
        ("docs/a.md", True),
        ("docs/sub/b.md", False),
        ("secret/key.pem", True),
        ("SECRET/key.pem", True),
        (".env", True),
        ("src/.env", True),
        ("src/x.py", False),
        ("src/gen/y.py", True),
        ("a/src/gen/y.py", False),
        ("build/z", True),
        ("a/build/z", True),
        ("notes.txt", False),
    ],
)
def test_denied_file_is_not_read(tmp_path: Path, path: str, is_hidden: bool) -> None:
    rules = {"allow": ["Bash", "Edit", "Write"], "deny": [f"Read({words})" for words in READ]}
    project = RuleProject(tmp_path, userSettings=rules)
    for tool in ("Read", "Grep", "Edit", "Write"):
        found = project.decision(of_file(tool, project.root / path))
        assert (found["decision"] == "reject") == is_hidden, tool
        assert found["kind"] is None
    for command in (f"cat {path}", f"head -1 < {path}", f"cp {path} x", f"grep a <{path}"):
        found = project.decision(bash(command))
        assert (found["decision"] == "reject") == is_hidden, command


def test_the_message_for_a_denied_file(tmp_path: Path) -> None:
    project = RuleProject(tmp_path, projectSettings={"deny": ["Read(a)", "Edit(b)"]})
    assert project.decision(of_file("Read", project.root / "a"))["told"] == (
        "<tool_use_error>File is in a directory that is denied by your permission settings."
        "</tool_use_error>"
    )
    assert project.decision(of_file("Write", project.root / "a"))["told"] == (
        "<tool_use_error>File is covered by a Read deny rule in your permission settings and cannot"
        " be written.</tool_use_error>"
    )
    assert project.decision(of_file("Write", project.root / "b"))["decision"] == "reject"
    assert project.decision(of_file("Read", project.root / "b"))["decision"] == "accept"


@pytest.mark.parametrize(
    ("command", "is_denied"),
    [
        ("echo x > docs/z.md", True),
        ("echo x >docs/z.md", True),
        ("echo x 2>>docs/z.md", True),
        ("touch docs/z.md", True),
        ("rm docs/a.md", True),
        ("rm ./other/../docs/a.md", True),
        ("tee docs/x", True),
        ("cat docs/a.md", False),
        ("echo docs/a.md", False),
        ("touch doc", False),
    ],
)
def test_command_cannot_change_a_denied_file(tmp_path: Path, command: str, is_denied: bool) -> None:
    project = RuleProject(tmp_path, projectSettings={"deny": ["Edit(docs)"], "allow": ["Bash"]})
    assert (project.decision(bash(command))["decision"] == "reject") == is_denied


def test_symlink_to_a_denied_file_is_denied(tmp_path: Path) -> None:
    project = RuleProject(tmp_path, userSettings={"deny": ["Read(secret/**)", "Read(names/**)"]})
    (project.root / "secret").mkdir()
    (project.root / "names").mkdir()
    (project.root / "secret/key").write_text("k")
    (project.root / "plain").symlink_to("secret/key")
    (project.root / "names/free").symlink_to("../notes")
    (project.root / "notes").write_text("n")
    assert project.decision(bash("cat plain"))["decision"] == "reject"
    named = of_file("Read", project.root / "notes")
    by_link = Proposal("Read", {"file_path": "names/free"}, "read", "x", named.paths)
    assert project.decision(named)["decision"] == "accept"
    assert project.decision(by_link)["decision"] == "reject"


@pytest.mark.parametrize(
    ("rule", "source", "path", "is_allowed"),
    [
        ("Edit(/docs/**)", PROJECT, "work/docs/n.md", True),
        ("Edit(/docs/**)", PROJECT, "work/docs/sub/n.md", True),
        ("Edit(/docs/**)", USER, "work/docs/n.md", False),
        ("Edit(/top.txt)", PROJECT, "work/x/top.txt", False),
        ("Edit(src/*)", PROJECT, "work/src/n.py", True),
        ("Edit(SRC/*)", PROJECT, "work/src/n.py", False),
        ("Write(gen/**)", PROJECT, "work/gen/q.py", False),
        ("Edit(**/*.ts)", PROJECT, "work/deep/a/b.ts", True),
        ("Edit(~/n.txt)", USER, "home/n.txt", True),
        ("Edit(~/n.txt)", USER, "home/sub/n.txt", False),
        ("Read(/c.txt)", USER, "config/c.txt", True),
        ("Edit(./)", PROJECT, "work/a/b", True),
        ("Edit(*)", PROJECT, "work/a/b", True),
        ("Read(*)", PROJECT, "elsewhere", False),
    ],
)
def test_pattern_anchors(
    tmp_path: Path, rule: str, source: str, path: str, is_allowed: bool
) -> None:
    files: dict[str, Any] = {source: {"allow": [rule]}}
    project = RuleProject(tmp_path, **files)
    tool = "Read" if rule.startswith("Read") else "Write"
    found = find_allow_rule(project.book().allowed, of_file(tool, tmp_path / path), project.place)
    assert (found is not None) == is_allowed


def test_absolute_pattern(tmp_path: Path) -> None:
    project = RuleProject(tmp_path, userSettings={"allow": [f"Read(/{tmp_path}/out/*)"]})
    allowed = project.book().allowed
    assert find_allow_rule(allowed, of_file("Read", tmp_path / "out/deep/p.txt"), project.place)
    assert not find_allow_rule(allowed, of_file("Read", tmp_path / "work/p.txt"), project.place)


@pytest.mark.parametrize(
    ("rule", "call", "is_named"),
    [
        ("WebFetch(domain:a.test)", ("WebFetch", "url", "https://a.test/x"), True),
        ("WebFetch(domain:a.test)", ("WebFetch", "url", "https://b.a.test/x"), False),
        ("WebFetch(domain:*.a.test)", ("WebFetch", "url", "https://b.a.test/x"), True),
        ("WebFetch(domain:*.a.test)", ("WebFetch", "url", "https://a.test/x"), False),
        ("WebFetch(domain:A.test)", ("WebFetch", "url", "https://a.TEST/x"), True),
        ("mcp__files", ("mcp__files__list", "x", ""), True),
        ("mcp__files__*", ("mcp__files__list", "x", ""), True),
        ("mcp__files__list", ("mcp__files__list", "x", ""), True),
        ("mcp__files__list", ("mcp__files__listing", "x", ""), False),
        ("mcp__file", ("mcp__files__list", "x", ""), False),
        ("Agent(Explore)", ("Agent", "subagent_type", "Explore"), True),
        ("Agent(Explore)", ("Task", "subagent_type", "Explore"), True),
        ("Task(Explore)", ("Agent", "subagent_type", "Explore"), True),
        ("Agent(Explore)", ("Agent", "subagent_type", "Plan"), False),
        ("Agent", ("Task", "subagent_type", "Plan"), True),
        ("Skill(review)", ("Skill", "skill", "review"), True),
        ("Skill(review:*)", ("Skill", "skill", "reviews"), False),
        ("Bash(*)", ("Bash", "command", "make; make"), True),
    ],
)
def test_rules_for_other_tools(
    tmp_path: Path, rule: str, call: tuple[str, str, str], is_named: bool
) -> None:
    tool, name, value = call
    proposal = Proposal(tool, {name: value}, "network", value)
    place = Workplace(tmp_path, tmp_path)
    assert (find_allow_rule([parse_rule(rule)], proposal, place) is not None) == is_named
    assert (find_deny_rule([parse_rule(rule)], proposal, place) is not None) == is_named


def test_the_message_for_a_denied_host(tmp_path: Path) -> None:
    project = RuleProject(tmp_path, userSettings={"deny": ["WebFetch(domain:a.test)"]})
    call = Proposal("WebFetch", {"url": "https://a.test/x"}, "network", "a.test")
    assert project.decision(call)["told"] == "WebFetch denied access to domain:a.test."


def test_invalid_rules_in_settings_are_reported_and_ignored(tmp_path: Path) -> None:
    project = RuleProject(tmp_path, localSettings={"deny": ["Bash(", "Bash(x)"], "allow": ["7"]})
    book = project.book()
    assert [rule.text for rule in book.forbidden] == ["Bash(x)"]
    path = project.root / ".claude/settings.local.json"
    assert book.notices == (
        f"'7' is not a permission rule: ignored in '{path}'",
        f"'Bash(' is not a permission rule: ignored in '{path}'",
    )


def test_tools_denied_entirely_are_not_offered(tmp_path: Path) -> None:
    project = RuleProject(
        tmp_path,
        userSettings={"deny": ["Grep", "Bash(x)"], "ask": ["WebFetch"], "allow": ["WebSearch"]},
    )
    tools = SessionOptions(None, settings=project.settings).toolbox()  # type: ignore[arg-type]
    assert {"Bash", "WebFetch", "WebSearch"} <= set(tools)
    assert "Grep" not in tools


def test_searches_skip_denied_files(tmp_path: Path) -> None:
    project = ToolDesk(tmp_path)
    for name in ("free.txt", "secret/key.txt"):
        path = project.root / name
        path.parent.mkdir(exist_ok=True)
        path.write_text("word\n", encoding="utf-8")
    book = PermissionRules(forbidden=(parse_rule("Read(secret/**)"),))
    project.place.is_hidden = book.hidden_files(project.place)
    assert project.result_text("Glob", pattern="**/*.txt") == "free.txt"
    for mode in ("files_with_matches", "content", "count"):
        assert "key" not in project.result_text("Grep", pattern="word", output_mode=mode)
    assert PermissionRules(forbidden=(parse_rule("Read"),)).hidden_files(project.place) is None


NAMES = st.text("ab.", min_size=1, max_size=3)


@given(st.lists(NAMES, min_size=1, max_size=4), st.integers(1, 4), NAMES)
def test_folder_rule_includes_its_content(parts: list[str], length: int, below: str) -> None:
    pattern = "/" + "/".join(parts[:length])
    assert matches_pattern(pattern, "/".join(parts))
    assert matches_pattern(pattern, "/".join([*parts, below]))
    assert matches_pattern(f"{pattern}/**", "/".join(parts))
    assert matches_pattern(parts[-1], "/".join(["x", *parts]))


@given(st.text(" ab*", max_size=8), st.text(" ab", max_size=8))
def test_command_patterns_support_only_stars(words: str, command: str) -> None:
    if "*" not in words:
        assert matches_command(words, command) == (words == command)
    if matches_command(words, command):
        assert command.startswith(words.partition("*")[0].removesuffix(" "))
