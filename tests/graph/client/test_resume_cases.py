"""Session files with known answers from the real client and the SDK."""

import json
from pathlib import Path
from typing import Any

from plait.graph.client import build_context
from plait.graph.client.entries import Block
from plait.record import read

OWN = Path(__file__).resolve().parents[3] / "examples" / "resume"


def answer(session: Path) -> dict[str, Any]:
    """Return what Plait finds in a session file."""
    client = build_context(read(session), size=session.stat().st_size)
    sdk = build_context(read(session), size=session.stat().st_size, as_="sdk")
    return {
        "resumes": client.resumes,
        "leaf": client.leaf,
        "chain": list(client.chain),
        "messages": [[role, blocks] for role, blocks in client.messages],
        "request": [[role, unsigned(blocks)] for role, blocks in client.request],
        "sdk_messages": list(sdk.chain),
    }


def unsigned(blocks: list[Block]) -> list[Block]:
    """Return blocks without the signatures of thinking, which differ in every answer."""
    return [{key: block[key] for key in block if key != "signature"} for block in blocks]


def differences(session: Path, expected: Path) -> dict[str, Any]:
    """Return the expected values that differ, with what was found instead."""
    wanted: dict[str, Any] = json.loads(expected.read_text(encoding="utf-8"))
    found = answer(session)
    return {key: (wanted[key], found[key]) for key in wanted if wanted[key] != found[key]}


def compare_cases(cases: list[Path]) -> dict[str, dict[str, Any]]:
    """Return the differences of each case that has any."""
    found = {case.parent.name: differences(case, case.with_name("expected.json")) for case in cases}
    return {name: wrong for name, wrong in found.items() if wrong}


def test_own_cases() -> None:
    cases = sorted(OWN.glob("*/session.jsonl"))
    assert len(cases) >= 100
    assert compare_cases(cases) == {}


def test_own_case_files_match_their_source(tmp_path: Path) -> None:
    from examples.resume.build import build

    build(tmp_path)
    for made in sorted(tmp_path.glob("*/*")):
        assert made.read_bytes() == (OWN / made.parent.name / made.name).read_bytes()


def test_shared_cases(shared: Path) -> None:
    assert compare_cases(sorted((shared / "resume-cases").glob("*/session.jsonl"))) == {}


def test_shared_sessions_of_the_client(shared: Path) -> None:
    assert compare_cases(sorted((shared / "client-sessions").glob("*/session.jsonl"))) == {}


def test_sessions_written_by_the_client(shared: Path) -> None:
    expected = sorted((shared / "produced").glob("*/expected/*.json"))
    for answer_file in expected:
        made = answer_file.parents[1].glob(f"projects/*/{answer_file.stem}.jsonl")
        assert differences(next(made), answer_file) == {}
