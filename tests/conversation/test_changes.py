"""Changes around a conversation: title, mode, model, directory, compactions."""

from textwrap import dedent

from plait.conversation.changes import Change, changes_of, compactions_of
from tests.conversation.sketched import Talk, talk


def talked(text: str) -> Talk:
    return talk(dedent(text))


def told(changes: tuple[Change, ...]) -> list[str]:
    return [f"{one.turn} {one.kind}: {one.before} > {one.value}" for one in changes]


def test_only_changes_are_listed() -> None:
    found = talked("""
    ai-title "One"
    mode normal
    permission-mode acceptEdits
    U1 "go"
    H1< {"attachment": {"type": "plan_mode", "reminderType": "full"}}
    set model=claude-opus-4-6
    A1< "ok"
    custom-title "Mine"
    ai-title "One"
    custom-title "Mine"
    permission-mode acceptEdits
    permission-mode plan
    U2< "on"
    H2< {"attachment": {"type": "plan_mode_exit"}}
    H3< {"attachment": {"type": "auto_mode"}}
    set model=claude-haiku-4-5
    A2< "ok"
    line {"type": "pr-link", "prUrl": "https://example.org/pr/5", "prNumber": 5}
    line {"type": "pr-link", "prUrl": 5}
    line {"type": "worktree-state", "worktreeSession": {"worktreePath": "/w/1"}}
    line {"type": "worktree-state", "worktreeSession": null}
    """)
    assert told(changes_of(found.main)) == [
        "0 title: None > One",
        "0 mode: None > normal",
        "0 permissions: None > acceptEdits",
        "1 plan mode: None > on",
        "1 model: None > claude-opus-4-6",
        "1 effort: None > medium",
        "1 title: None > Mine",
        "1 permissions: acceptEdits > plan",
        "2 plan mode: on > off",
        "2 auto mode: None > on",
        "2 model: claude-opus-4-6 > claude-haiku-4-5",
        "2 pull request: None > https://example.org/pr/5",
        "2 worktree: None > /w/1",
        "2 worktree: /w/1 > none",
    ]


# checklist: S20, S21, F26
def test_compaction_has_figures_and_summary() -> None:
    found = talked("""
    U1 "go"
    A1< "ok"
    B1 boundary after A1 keep=["A1"] anchor=C1 trigger=manual
    C1< "The story so far"
    U2< "on"
    A2< "ok"
    S1< microcompact_boundary {"microcompactMetadata": {"preTokens": 90, "tokensSaved": 60}}
    B2 boundary after A2 trigger=auto
    """)
    first, second, third = compactions_of(found.main)
    assert (first.turn, first.trigger, first.kind) == (1, "manual", "whole")
    assert first.pre_tokens
    assert first.summary
    assert "The story so far" in first.summary
    assert found.names[first.summary_uuid or ""] == "C1"
    assert [found.names[one] for one in first.preserved] == ["A1"]
    assert (second.kind, second.pre_tokens, second.post_tokens) == ("results", 90, 30)
    assert (third.trigger, third.summary, third.turn) == ("auto", None, 2)
