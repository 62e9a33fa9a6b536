"""Preparation of edits for the client as a judge."""

import json
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest

from conformance.edits.ids import old_ids, with_old_ids
from conformance.edits.judge import held, is_untitled, told, weighed
from conformance.edits.model import Case, Edited
from conformance.edits.operations import (
    OPERATIONS,
    STOCK_WORDS,
    before_next_boundary,
    differences,
    ends_of,
    follows,
    goes_on_at,
    other_tips,
    some_message,
    words_of,
)
from conformance.model import Json, Listed, Mark, Message, Readings, Resumed
from conformance.sandbox import Desk, make_old

NEW, OLD = "00000000-0000-4000-8000-00000000000a", "00000000-0000-4000-8000-00000000000b"


def said(*words: str) -> list[Message]:
    return [("user", [{"type": "text", "text": word}]) for word in words]


def resumed(*words: str, chain: tuple[str, ...] = (OLD,), resumes: bool = True) -> Resumed:
    return Resumed(resumes, chain[-1] if chain else None, chain, said(*words), said(*words))


def session(folder: Path, *lines: Json, name: str = OLD) -> Path:
    file = folder / f"{name}.jsonl"
    file.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
    return file


def user(uuid: str, parent: str | None = None, **more: object) -> Json:
    return {"type": "user", "uuid": uuid, "parentUuid": parent, **more}


def case(file: Path, *chain: str) -> Case:
    before = resumed("a", chain=chain)
    desk = Desk(file.parent)
    return Case("fuzz tools 1", desk, file, Readings(before, before, None, before), cast(Any, None))


def edited(case: Case, after: Resumed) -> Edited:
    plan = cast(Any, SimpleNamespace(path=case.file, session=case.file.stem))
    return Edited(case, plan, Readings(after, after, None, after), None)


def test_copied_ids_map_to_originals(tmp_path: Path) -> None:
    line = user(NEW, forkedFrom={"sessionId": "s", "messageUuid": OLD})
    olds = old_ids(session(tmp_path, line, user("other"), name=NEW.replace("a", "c")), "source")
    assert olds == {NEW.replace("a", "c"): "source", NEW: OLD}
    assert with_old_ids([f"/x/{NEW}/y", {"id": NEW}, OLD, 1], olds) == [
        f"/x/{OLD}/y",
        {"id": OLD},
        OLD,
        1,
    ]


@pytest.mark.parametrize(
    ("after", "words"),
    [
        pytest.param(resumed("a", chain=(NEW,)), [], id="other ids are no difference"),
        pytest.param(resumed(f"a {NEW}", chain=(NEW,)), ["messages", "request"], id="words"),
        pytest.param(resumed("a", chain=(NEW, "more")), ["chain"], id="another chain"),
        pytest.param(resumed("a", chain=(NEW,), resumes=False), ["not resume"], id="no more"),
    ],
)
def test_client_output_is_compared_up_to_ids(after: Resumed, words: list[str]) -> None:
    found = list(differences(resumed("a"), after, {NEW: OLD}))
    assert len(found) == len(words)
    assert all(word in sentence for word, sentence in zip(words, found, strict=True))


def test_abandoned_branch_has_an_end(tmp_path: Path) -> None:
    lines = [user("a"), user("b", "a"), user("c", "a"), user("d", "a", isSidechain=True)]
    file = session(tmp_path, *lines, {"type": "system", "uuid": "e", "parentUuid": "a"})
    assert other_tips(case(file, "a", "c")) == ["b"]
    assert other_tips(case(file, "a", "b")) == ["c"]


def test_choices_are_deterministic(tmp_path: Path) -> None:
    says = {"message": {"content": "words"}}
    file = session(tmp_path, *(user(f"u{number}") | says for number in range(9)))
    assert some_message(case(file)) == some_message(case(file))
    assert some_message(case(session(tmp_path, {"type": "mode"}, user("silent")))) is None


def test_message_precedes_a_later_compaction() -> None:
    lines = [b'{"uuid":"a"}', b'"compact_boundary"', b'{"uuid":"b"}', b'"compact_boundary"', b"c"]
    assert before_next_boundary(lines, "a") == lines[:1]
    assert before_next_boundary(lines, "b") == lines[:3]
    assert before_next_boundary(lines[:3], "b") == lines[:3]


def test_fork_point_may_be_the_end_of_a_response(tmp_path: Path) -> None:
    parts = [user(one, message={"id": "m"}) for one in ("b", "c", "d")]
    file = session(tmp_path, user("a"), *parts)
    assert ends_of(file, "n", "b") == ["n", "b", "d"]
    assert ends_of(file, "a", "a") == ["a"]
    assert ends_of(file, None, "a") == ["a"]


def test_switched_session_resumes_at_the_end(tmp_path: Path) -> None:
    note = {"type": "attachment", "uuid": "n"}
    result = user("r", "b", message={"content": [{"type": "tool_result"}]})
    parts = [user(one, "a", message={"id": "m"}) for one in ("b", "p")]
    judged = case(session(tmp_path, user("a"), *parts, user("c", "b"), note, result), "a")
    right, wrong = ("ab", "abn", "abpr", "a"), ("abnc", "c", "abrc", "ac")
    for chain, is_right in [*((one, True) for one in right), *((one, False) for one in wrong)]:
        found = list(goes_on_at("b", edited(judged, resumed(chain=tuple(chain)))))
        assert (found == []) is is_right


def test_graft_begins_with_its_base(tmp_path: Path) -> None:
    judged = case(session(tmp_path, user("a")), "a")
    assert list(follows(edited(judged, resumed(*STOCK_WORDS, "branch")))) == []
    assert list(follows(edited(judged, resumed("branch", *STOCK_WORDS[1:]))))
    assert list(follows(edited(judged, resumed(*reversed(STOCK_WORDS)))))


def test_only_user_text_is_counted() -> None:
    answer: Message = ("assistant", [{"type": "text", "text": "b"}])
    assert list(words_of([*said("a"), answer, ("user", [{"type": "image"}])])) == ["a"]


@pytest.mark.parametrize(
    ("faults", "mark", "why"),
    [
        ([], Mark.EQUAL, ""),
        ([("leaf", "leaf differs")], Mark.EXPLAINED, "nobody writes that"),
        ([("leaf", "leaf differs"), ("undo", "bad")], Mark.DIFFERENT, "bad"),
    ],
)
def test_existing_violations_are_not_the_edits(
    faults: list[tuple[str, str]], mark: Mark, why: str
) -> None:
    assert weighed(faults, {"leaf": "nobody writes that"}) == (mark, why)


def test_workspace_is_restored(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("os.chown", lambda *_, **__: None)
    desk = Desk(tmp_path)
    desk.project.mkdir(parents=True)
    file = session(desk.project, user("a"))
    make_old(file)
    desk.set_aside()
    before = held(desk)
    file.write_text("other", encoding="utf-8")
    (desk.config / ".plait").mkdir()
    assert held(desk) != before
    desk.put_back()
    assert held(desk) == before
    assert not (desk.config / ".plait").exists()
    (desk.config / "history.jsonl").write_text("{}", encoding="utf-8")
    assert held(desk) != before
    (desk.config / "history.jsonl").unlink()
    file.chmod(0o640)
    assert held(desk) != before


def test_list_is_compared_as_cut_by_the_sdk() -> None:
    assert told(Listed("s", " two\nwords ", None)) == "two words"
    assert told(Listed("s", None, None)) == ""
    assert told(None) is None


@pytest.mark.parametrize(
    ("ours", "theirs", "expected"),
    [
        (Listed("s", "a b", "a b"), Listed("s", "a", "a"), True),
        (Listed("s", "a b", "a b"), Listed("s", "c", "a", given="c"), False),
        (Listed("s", "named", "a b"), Listed("s", "a", "a"), False),
        (Listed("s", "an answer", None), None, True),
        (Listed("s", "a", "a"), None, False),
        (None, Listed("s", "a", "a"), False),
    ],
)
def test_untitled_sessions_have_two_forms(
    ours: Listed | None, theirs: Listed | None, expected: bool
) -> None:
    assert is_untitled(ours, theirs) is expected


def test_every_operation_is_described() -> None:
    assert all(operation.__doc__ for operation in OPERATIONS.values())
