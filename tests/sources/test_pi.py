"""Pi: the tree in a file, version 1 without ids, usage billed once."""

from pathlib import Path
from typing import Any

from tests.sources.builders import (
    all_branches_json,
    branches,
    open_archive,
    preserved_texts,
    prompts,
    write_lines,
)

TIME = "2026-10-01T10:00:{:02}.000Z"


def header(session: str, **fields: Any) -> dict[str, Any]:
    base = {"type": "session", "version": 3, "id": session, "timestamp": TIME.format(0)}
    return base | {"cwd": "/home/me"} | fields


def prompt(number: int, parent: int | None, text: str) -> dict[str, Any]:
    return entry(number, parent, "message", message={"role": "user", "content": text})


def answer(number: int, parent: int | None, text: str, tokens: int = 10) -> dict[str, Any]:
    usage = {"input": tokens, "output": 1, "cacheRead": 0, "cacheWrite": 0, "cost": {"total": 0.5}}
    content = [{"type": "text", "text": text}]
    message = {"role": "assistant", "content": content, "model": "m", "usage": usage}
    return entry(number, parent, "message", message=message)


def entry(number: int, parent: int | None, kind: str, /, **fields: Any) -> dict[str, Any]:
    links = {"id": f"{number:08x}", "parentId": None if parent is None else f"{parent:08x}"}
    return {"type": kind, "timestamp": TIME.format(number)} | links | fields


TALK = [prompt(1, None, "one"), answer(2, 1, "1"), prompt(3, 2, "two"), answer(4, 3, "2")]


def test_tree_has_its_branches(tmp_path: Path) -> None:
    other = [entry(5, 2, "branch_summary", summary="left", fromId="00000004")]
    lines = [header("p"), *TALK, *other, prompt(6, 5, "three"), answer(7, 6, "3")]
    write_lines(tmp_path / "logs/p.jsonl", lines)
    (session,) = open_archive(tmp_path / "logs", tmp_path / "cache").sessions
    assert prompts(session) == ["one", "three"]
    assert branches(session) == [["two"]]


def test_several_roots_are_several_conversations(tmp_path: Path) -> None:
    lines = [header("p"), *TALK, prompt(5, None, "anew"), answer(6, 5, "3")]
    write_lines(tmp_path / "logs/p.jsonl", lines)
    (session,) = open_archive(tmp_path / "logs", tmp_path / "cache").sessions
    assert "anew" in prompts(session)
    found = {turn.prompt for line in session.conversations for turn in line.turns if turn.prompt}
    assert found == {"one", "two", "anew"}


def test_version_1_has_no_ids(tmp_path: Path) -> None:
    plain = [{key: line[key] for key in ("type", "timestamp", "message")} for line in TALK]
    write_lines(tmp_path / "logs/p.jsonl", [header("p"), *plain])
    (session,) = open_archive(tmp_path / "logs", tmp_path / "cache").sessions
    assert prompts(session) == ["one", "two"]


def test_fork_is_billed_once_and_usage_entries_count(tmp_path: Path) -> None:
    write_lines(tmp_path / "logs/p.jsonl", [header("p"), *TALK])
    usage = {"input": 7, "output": 2, "cacheRead": 0, "cacheWrite": 0}
    more = [entry(5, 2, "usage", kind="cache_warm", model="m", usage=usage)]
    write_lines(tmp_path / "logs/q.jsonl", [header("q"), *TALK[:2], *more, prompt(6, 5, "three")])
    archive = open_archive(tmp_path / "logs", tmp_path / "cache")
    tokens = archive.usage("agent").totals.total.tokens
    assert (tokens.input, tokens.output) == (27, 4)
    assert {session.id: prompts(session) for session in archive.sessions} == {
        "p": ["one", "two"],
        "q": ["one", "three"],
    }


def test_titles_and_compaction(tmp_path: Path) -> None:
    lines = [header("p"), *TALK, entry(5, 4, "session_info", name="The shop")]
    lines += [entry(6, 5, "compaction", summary="what happened so far", tokensBefore=9)]
    write_lines(tmp_path / "logs/p.jsonl", [*lines, prompt(7, 6, "three")])
    (session,) = open_archive(tmp_path / "logs", tmp_path / "cache").sessions
    assert session.title == "The shop"
    assert prompts(session) == ["one", "two", "three"]
    assert "what happened so far" in session.conversations.active.markdown()


def test_branch_summary_alone_is_a_branch(tmp_path: Path) -> None:
    lines = [header("p"), *TALK, entry(5, 2, "branch_summary", summary="left", fromId="00000004")]
    write_lines(tmp_path / "logs/p.jsonl", lines)
    (session,) = open_archive(tmp_path / "logs", tmp_path / "cache").sessions
    assert prompts(session) == ["one"]
    assert branches(session) == [["two"]]


def test_last_entry_is_the_resume_point(tmp_path: Path) -> None:
    lines = [header("p"), *TALK, entry(5, 2, "label", targetId="00000002", label="here")]
    write_lines(tmp_path / "logs/p.jsonl", lines)
    (session,) = open_archive(tmp_path / "logs", tmp_path / "cache").sessions
    assert prompts(session) == ["one"]
    lines.append(entry(6, 4, "model_change", provider="p", modelId="m"))
    write_lines(tmp_path / "logs/p.jsonl", lines)
    (session,) = open_archive(tmp_path / "logs", tmp_path / "cache").sessions
    assert prompts(session) == ["one", "two"]


def test_compaction_keeps_the_named_entries(tmp_path: Path) -> None:
    system = entry(2, 1, "message", message={"role": "system", "sections": {"a": "rules"}})
    chain = [
        prompt(1, None, "one"),
        system,
        answer(3, 2, "1"),
        prompt(4, 3, "two"),
        answer(5, 4, "2"),
    ]
    packed = entry(
        6, 5, "compaction", summary="so far", firstKeptEntryId="00000002", tokensBefore=9
    )
    write_lines(tmp_path / "logs/p.jsonl", [header("p"), *chain, packed, prompt(7, 6, "three")])
    assert preserved_texts(open_archive(tmp_path / "logs", tmp_path / "cache")) == ["1", "two", "2"]


def test_version_1_compaction_names_a_line(tmp_path: Path) -> None:
    plain = [{key: line[key] for key in ("type", "timestamp", "message")} for line in TALK]
    packed = {"type": "compaction", "timestamp": TIME.format(9), "summary": "so far"}
    lines = [header("p"), *plain, packed | {"firstKeptEntryIndex": 3}]
    write_lines(tmp_path / "logs/p.jsonl", lines)
    assert preserved_texts(open_archive(tmp_path / "logs", tmp_path / "cache")) == ["two", "2"]


def test_compaction_that_keeps_nothing_names_itself(tmp_path: Path) -> None:
    packed = entry(
        5, 4, "compaction", summary="so far", firstKeptEntryId="00000005", tokensBefore=9
    )
    write_lines(tmp_path / "logs/p.jsonl", [header("p"), *TALK, packed, prompt(6, 5, "three")])
    assert preserved_texts(open_archive(tmp_path / "logs", tmp_path / "cache")) == []


def test_context_edit_keeps_the_original(tmp_path: Path) -> None:
    lines = [header("p"), *TALK]
    lines += [entry(5, 4, "context_edit", targetId="00000002", replacement={"content": "shorter"})]
    lines += [entry(6, 5, "context_edit", targetId="00000001", replacement=None)]
    write_lines(tmp_path / "logs/p.jsonl", [*lines, prompt(7, 6, "three")])
    (session,) = open_archive(tmp_path / "logs", tmp_path / "cache").sessions
    text = all_branches_json(session)
    assert prompts(session) == ["one", "two", "three"]
    assert "shorter" in text and "removed from the context" in text


def test_responses_without_ids_are_distinguished(tmp_path: Path) -> None:
    lines = [header("p"), *TALK]
    for line in lines[1:]:
        line["message"]["responseId"] = "chatcmpl-1"
    write_lines(tmp_path / "logs/p.jsonl", lines)
    archive = open_archive(tmp_path / "logs", tmp_path / "cache")
    assert archive.usage("agent").totals.total.tokens.input == 20


def test_usage_of_an_unknown_type_counts(tmp_path: Path) -> None:
    usage = {"input": 7, "output": 2, "cacheRead": 0, "cacheWrite": 0}
    lines = [header("p"), *TALK, entry(5, 4, "brand_new", usage=usage)]
    write_lines(tmp_path / "logs/p.jsonl", lines)
    archive = open_archive(tmp_path / "logs", tmp_path / "cache")
    assert archive.usage("agent").totals.total.tokens.input == 27
    (account,) = archive.accounts()
    assert account.types["pi:brand_new"] == 1


def test_system_messages_have_content_and_sections(tmp_path: Path) -> None:
    message = {"role": "system", "content": "be kind", "sections": {"a": "rules", "b": None}}
    lines = [header("p"), entry(1, None, "message", message=message), prompt(2, 1, "one")]
    write_lines(tmp_path / "logs/p.jsonl", lines)
    (session,) = open_archive(tmp_path / "logs", tmp_path / "cache").sessions
    assert "be kind\\n\\nrules" in all_branches_json(session)
