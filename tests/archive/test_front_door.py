"""The library as a program uses it: session names, turns with costs, copies counted once."""

from datetime import UTC, datetime
from pathlib import Path

import pytest

import plait
from plait.errors import UserError


@pytest.fixture
def archive(gallery: Path) -> plait.Archive:
    return plait.Archive([gallery])


RESUMED = "Rate limit for the login"
REWOUND = "A search box for 4,000 products"


def test_names_are_accepted_for_sessions(archive: plait.Archive) -> None:
    session = archive.session(REWOUND)
    for name in (session, session.id, session.id[:8], str(session.path), session.path):
        assert archive.session(name) == session
        assert archive.open(name).id == session.id
        assert archive.graph(name).sessions
        assert archive.context(name).messages
        assert archive.conversations(name).session == session.id
        assert len(archive.paths(name)) == 2
        assert archive.facts(name).title == REWOUND
    assert archive.stats(REWOUND).sessions == 1


def test_session_is_a_sequence_of_turns(archive: plait.Archive) -> None:
    session = archive.session(REWOUND)
    assert list(session) == list(session.turns)
    assert len(session) == len(session.turns)
    assert len(list(archive)) == len(archive) == len(archive.sessions)


def test_session_without_turns(tmp_path: Path) -> None:
    log = tmp_path / "empty.jsonl"
    log.write_text('{"type":"mode","mode":"normal","sessionId":"x"}\n', encoding="utf-8")
    session = plait.Archive([tmp_path]).sessions[0]
    assert bool(session)


def test_conversations_are_distinguished(archive: plait.Archive) -> None:
    rewound = archive.session(REWOUND).conversations
    assert [branch.kind for branch in rewound.branches] == ["branch"]
    assert rewound.active not in rewound.branches
    sent = archive.session("Two tests that fail once in ten runs").conversations
    assert len(sent) == 1 + len(sent.agents)
    assert list(sent) == [sent.active, *sent.agents]
    assert sent.branches == ()


def test_branch_reads_from_the_beginning(archive: plait.Archive) -> None:
    conversations = archive.session(REWOUND).conversations
    left, active = conversations.branches[0].markdown(), conversations.active.markdown()
    first = conversations.active.turns[0].prompt or conversations.active.turns[1].prompt
    assert first and first[:30] in left and first[:30] in active
    assert "Status: ABANDONED" in left and "Status: ACTIVE" in active
    assert len(conversations.active.markdown(depth="prompts")) < len(active)


def test_agent_has_its_own_transcript(archive: plait.Archive) -> None:
    agent = archive.session("Two tests that fail once in ten runs").conversations.agents[0]
    assert agent.turns[0].prompt and agent.turns[0].prompt[:30] in agent.markdown()


def test_turn_costs_add_up_to_session_and_agents(
    archive: plait.Archive,
) -> None:
    session = archive.session("Two tests that fail once in ten runs")
    conversations = session.conversations
    own = plait.Archive([session.path.parent], prices=plait.Prices())
    row = next(row for row in own.usage("session").rows if row.key == session.id)
    assert session.cost == pytest.approx(row.total.cost)
    assert session.cost == pytest.approx(sum(turn.cost for turn in session.turns))
    assert conversations.active.tokens == row.total.tokens.total
    assert 0 < conversations.agents[0].cost < session.cost


def test_copied_turn_of_a_resumed_session_comes_once(archive: plait.Archive) -> None:
    copies = [item for item in archive if item.title == RESUMED]
    assert len(copies) == 2
    openers = [turn.opener.uuid for _, turn in archive.turns() if turn.opener]
    assert len(openers) == len(set(openers))
    both = [{turn.opener.uuid for turn in item if turn.opener} for item in copies]
    assert both[0] & both[1] <= set(openers)


def test_turns_between_two_times(archive: plait.Archive) -> None:
    moment = datetime(2026, 10, 1, tzinfo=UTC)
    before = [turn.started or "" for _, turn in archive.turns(until=moment)]
    after = [turn.started or "" for _, turn in archive.turns(since=moment)]
    assert before and max(before) < "2026-10-01" <= min(after)


def test_calls_have_results_and_edits_have_files(archive: plait.Archive) -> None:
    turns = archive.session("A palette for the charts").turns
    calls = [call for turn in turns for call in turn.calls]
    assert all(isinstance(call, plait.ToolCall) and call.result for call in calls)
    edits = [edit for turn in turns for edit in turn.edits]
    assert {edit.action for edit in edits} <= {"created", "written", "edited"}
    assert "/home/dev/weather/charts/bars.py" in {edit.path for edit in edits}


def test_without_an_index_the_logs_are_searched(archive: plait.Archive, tmp_path: Path) -> None:
    indexed = plait.Archive([root.path for root in archive.roots], index=tmp_path)
    plain = archive.search("palette", limit=50)
    assert plain.by == "scan" and plain.note is None
    assert {hit.session for hit in plain.hits} >= {
        hit.session for hit in indexed.search("palette").hits
    }
    with pytest.raises(UserError, match="needs an index"):
        archive.search("palette", [("tool", "Edit")])  # type: ignore[list-item]
    with pytest.raises(UserError, match="without an index only words"):
        archive.search("tool:Edit palette")


def test_exports_are_redacted_by_default(tmp_path: Path) -> None:
    secret = "ghp_" + "A1b2C3d4" * 4 + "E5f6"
    log = tmp_path / "one.jsonl"
    log.write_text(
        '{"type":"user","uuid":"u","parentUuid":null,"sessionId":"one",'
        '"timestamp":"2026-10-01T10:00:00.000Z",'
        f'"message":{{"role":"user","content":"my token is {secret}"}}}}\n',
        encoding="utf-8",
    )
    archive = plait.Archive([tmp_path])
    files = dict(archive.export(log))
    assert {"manifest.json", "redaction-report.json", "index.md"} < set(files)
    assert not any(secret.encode() in data for data in files.values())
    from plait.archive import ExportPlan

    bare = dict(archive.export(ExportPlan(archive.sessions), "txt"))
    assert any(secret.encode() in data for data in bare.values())


def test_unknown_format_is_named(archive: plait.Archive) -> None:
    with pytest.raises(UserError, match="unknown format 'pdf'"):
        archive.export(REWOUND, "pdf")


def test_refreshed_archive_sees_new_sessions(tmp_path: Path) -> None:
    archive = plait.Archive([tmp_path])
    assert len(archive) == 0
    (tmp_path / "new.jsonl").write_text('{"type":"mode","mode":"x"}\n', encoding="utf-8")
    assert len(archive) == 0
    assert len(archive.reopen()) == 1


def test_version_is_set() -> None:
    assert plait.__version__.count(".") == 2
