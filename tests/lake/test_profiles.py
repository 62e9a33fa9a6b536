"""What a profile lets out: unchanged figures, pseudonyms for names, no text."""

import json
import re
from hashlib import sha256
from pathlib import Path
from typing import Any

import pyarrow as pa
from hypothesis import given
from hypothesis import strategies as st

from plait.archive import Session
from plait.conversation.prices import Prices
from plait.lake.profiles import IS_PUBLIC, Unit, is_public_model, mask_id, reduce_to_counts
from plait.lake.rows import build_tables
from plait.lake.schema import TABLES, Labels, Profile, arrow_schema, tables_for_profile
from plait.line import Line, LogFile
from plait.record import Record, parse_entry

KEY = b"k" * 32
UUID = "3f2a91c4-0000-4000-8000-00000000abcd"
STAND_IN = re.compile(r"[a-z_]+-[0-9a-f]{16}")


def one_row(name: str, **told: object) -> pa.Table:
    """Return a table of one row, empty but for what is told."""
    schema = arrow_schema(name)
    return pa.table({one: [told.get(one)] for one in schema.names}, schema=schema)


def of(name: str, /, key: bytes = KEY, **told: Any) -> dict[str, object]:
    """Return what counts have of one row, as far as it was told."""
    (row,) = reduce_to_counts({name: one_row(name, **told)}, key)[name].to_pylist()
    return {one: row[one] for one in told}


def test_counts_replace_names_remove_text_and_keep_figures() -> None:
    row = of("sessions", title="fix it", directory="/home/ann/site", log_bytes=12, session=UUID)
    assert row == {
        "title": None,
        "directory": "directory-bb28d98677ec5af3",
        "log_bytes": 12,
        "session": UUID,
    }


def test_public_words_are_kept() -> None:
    for table, column, known, given_ in [
        ("tool_calls", "tool", "Bash", "mcp__acme-payroll__pay"),
        ("tool_calls", "tool", "WebSearch", "Bash\n<parameter"),
        ("turns", "agent_type", "general-purpose", "acme-reviewer"),
        ("responses", "model", "claude-opus-4-6", "claude-opus-4-6-acme"),
        ("responses", "model", "claude-sonnet-4-5-20250929", "acme/claude-sonnet-4-5"),
        ("responses", "model", "us.anthropic.claude-sonnet-4-5-20250929-v1:0", "acme-large"),
        ("responses", "model", "<synthetic>", "<acme>"),
        ("responses", "tier", "priority", "acme"),
        ("responses", "speed", "fast", "acme"),
        ("responses", "geo", "us", "acme-cellar"),
        ("records", "kind", "assistant", "acme-note"),
        ("records", "subtype", "turn_duration", "acme_boundary"),
        ("records", "subtype", "queued_command", "acme"),
        ("sessions", "version", "2.1.325", "2.1.325-acme"),
        ("sessions", "version", "2.1.0-beta.3", "acme"),
        ("sessions", "began", "2026-11-16T10:00:00.000Z", "acme-cellarTbehind-door-Z"),
        ("sessions", "month", "2026-11", "acme-11"),
        ("sessions", "month", "none", "never"),
    ]:
        assert of(table, KEY, **{column: known}) == {column: known}
        assert STAND_IN.fullmatch(str(of(table, KEY, **{column: given_})[column]))


def test_values_that_look_like_ids_are_kept() -> None:
    for id_, told in [
        (UUID, UUID),
        (UUID.upper(), UUID.upper()),
        ("a1b2c3d", "a1b2c3d"),
        ("a0123456789abcdef", "a0123456789abcdef"),
        ("toolu_01AbCdEfGhIjKlMnOpQrStUv", "toolu_01AbCdEfGhIjKlMnOpQrStUv"),
        (f"{UUID}@{UUID}~2", f"{UUID}@{UUID}~2"),
        (f"{UUID}#agent-a1b2c3d", f"{UUID}#agent-a1b2c3d"),
        ("", ""),
        ("facade", "id-…"),
        ("defaced", "id-…"),
        ("pay-ann", "id-…"),
        ("toolu_pay_ann", "id-…"),
        ("areviewer-a1b2c3d", "id-…"),
        (f"{UUID}#agent-areviewer-a1b2c3d", f"{UUID}#agent-id-…"),
        (f"pay-ann@{UUID}", f"id-…@{UUID}"),
    ]:
        assert re.sub(r"(?<=id-)[0-9a-f]{16}", "…", mask_id(KEY, id_)) == told


def test_id_is_the_same_in_all_columns() -> None:
    row = of("records", session="pay-ann", uuid="pay-ann", parent="pay-ann", branch="pay-ann")
    assert len(set(row.values())) == 1


def test_every_value_of_an_id_column_is_checked() -> None:
    table = pa.concat_tables([one_row("records", uuid=one) for one in (UUID, None, "", "ann")])
    found = reduce_to_counts({"records": table}, KEY)["records"].column("uuid").to_pylist()
    assert found == [UUID, None, "", mask_id(KEY, "ann")]
    assert found[-1] != "ann"


def test_pseudonyms_depend_on_key_and_column() -> None:
    named = of("sessions", project="x", directory="x", git_branch="x")
    assert len(set(named.values())) == 3
    other = of("sessions", key=b"o" * 32, project="x", directory="x", git_branch="x")
    assert not set(named.values()) & set(other.values())
    assert named["project"] == of("files", project="x")["project"]


def test_counts_profile_has_the_tables_of_the_schema() -> None:
    found = reduce_to_counts({name: arrow_schema(name).empty_table() for name in TABLES}, KEY)
    assert list(found) == [one.name for one in tables_for_profile("counts")]
    assert all(table.schema == arrow_schema(name) for name, table in found.items())


def test_every_column_with_free_text_is_masked() -> None:
    """A text column that is left alone is one of these: Plait or whoever ships chose its words."""
    plain = {
        f"{table.name}.{one.name}"
        for table in tables_for_profile("counts")
        for one in table.columns
        if one.kind in ("text", "bytes") and one.sensitivity == "plain" and one.name != "source"
    }
    assert sorted(plain) == [
        "files.action",
        "files.outcome",
        "findings.code",
        "logs.kind",
        "records.branch_kind",
        "records.edge",
        "records.folded",
        "records.rung",
        "responses.cause",
        "responses.kind",
        "sessions.fingerprint",
        "sessions.person",
        "sessions.plait",
        "sessions.profile",
        "sessions.team",
        "tool_calls.branch_kind",
        "tool_calls.outcome",
        "turns.branch_kind",
        "turns.opener",
        "waste.kind",
    ]
    listed = {
        one.name
        for table in tables_for_profile("counts")
        for one in table.columns
        if one.sensitivity == "listed"
    }
    assert listed <= IS_PUBLIC.keys()


TEXTS = st.text(st.characters(codec="utf-8"), min_size=1, max_size=12)


@given(st.lists(TEXTS, min_size=1, max_size=5), st.sampled_from(["path", "uuid", "project"]))
def test_equal_names_have_equal_pseudonyms_and_others_differ(texts: list[str], column: str) -> None:
    rows = pa.concat_tables([one_row("files", **{column: one}) for one in texts])
    found = reduce_to_counts({"files": rows}, KEY)["files"].column(column).to_pylist()
    pairs = set(zip(texts, found, strict=True))
    assert len(pairs) == len({one for one, _ in pairs}) == len({two for _, two in pairs})
    assert all(one == two or one not in two or len(one) < 3 for one, two in pairs)


def test_a_gateway_model_is_recognised_by_its_words() -> None:
    assert is_public_model("claude-opus-4-1@20250805")
    assert is_public_model("claude-sonnet-4-5[1m]")
    assert not is_public_model("ann")


SECRET = sha256(b"a token").hexdigest()[:36].encode()
LINES = (
    b'{"type":"user","uuid":"u1","cwd":"/home/annabel/site","timestamp":"2026-11-16T10:00:00.000Z",'
    b'"sessionId":"s","message":{"role":"user","content":"key ghp_%s, /home/annabel/x"}}' % SECRET,
    b"",
    b'{"type":"user","mess /home/annabel/site',
    b'{"type":"mode","mode":"normal","sessionId":"s"}\r',
)


def unit_of(folder: Path, profile: Profile) -> Unit:
    """Return a unit of one session with a secret, a name and a broken line."""
    path = folder / "annabel" / "s.jsonl"
    path.parent.mkdir(exist_ok=True)
    path.write_bytes(b"\n".join(LINES))
    file = LogFile(path, "session", "-home-annabel-site", "s", None, None, path.stat().st_size, 0)
    session = Session("s", "-home-annabel-site", file)
    return Unit((session,), (1,), "", Labels("here"), profile, (folder,), KEY)


def test_redacted_lines_hold_no_secret_and_are_still_records(tmp_path: Path) -> None:
    found = build_tables(unit_of(tmp_path, "redacted"), Prices())
    data = found["raw"].column("data").to_pylist()
    assert not any(b"annabel" in one or SECRET in one for one in data)
    entries = [parse_entry(Line(number, 0, one, True)) for number, one in enumerate(data, 1)]
    assert [isinstance(one, Record) for one in entries] == [True, False, False, True]
    assert data[1::2] == [LINES[1], LINES[3]]
    assert json.loads(data[0])["message"]["content"].startswith("key ‹secret 1")
    assert found["records"].column("length").to_pylist() == [len(data[0]), len(data[3])]


def test_a_redacted_session_leaks_nowhere(tmp_path: Path) -> None:
    tables = build_tables(unit_of(tmp_path, "redacted"), Prices())
    for name, table in tables.items():
        assert b"annabel" not in repr(table.to_pylist()).encode(), name
        assert SECRET not in repr(table.to_pylist()).encode(), name
    assert tables["sessions"].column("project").to_pylist() == ["-home-‹user 1›-site"]
    assert set(tables["raw"].column("file").to_pylist()) == {"‹user 1›/s.jsonl"}


LONGER = ("length", "words_typed", "result_bytes", "profile")
"""What stand-ins make longer or shorter, and what says that they are there."""


def test_figures_of_redacted_sessions_are_unchanged(tmp_path: Path) -> None:
    full, redacted = (
        build_tables(unit_of(tmp_path, profile), Prices()) for profile in ("full", "redacted")
    )
    for name, table in full.items():
        plain = [
            one.name
            for one in TABLES[name].columns
            if one.sensitivity in ("plain", "id", "listed") and one.name not in LONGER
        ]
        assert table.select(plain) == redacted[name].select(plain), name


def test_full_profile_has_the_bytes_of_the_file(tmp_path: Path) -> None:
    found = build_tables(unit_of(tmp_path, "full"), Prices())
    assert tuple(found["raw"].column("data").to_pylist()) == LINES


def test_counts_profile_is_built_from_sessions(tmp_path: Path) -> None:
    found = build_tables(unit_of(tmp_path, "counts"), Prices())
    assert "raw" not in found
    (row,) = found["sessions"].to_pylist()
    assert STAND_IN.fullmatch(row["project"])
    assert row["log_lines"] == 4
    assert row["session"] == mask_id(KEY, "s")


def test_a_key_is_not_shown(tmp_path: Path) -> None:
    assert "kkkk" not in repr(unit_of(tmp_path, "counts"))
