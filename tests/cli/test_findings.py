"""Findings of `plait doctor`: summarised by kind, or in full."""

import json
from pathlib import Path

import pytest

from plait.line import make_root
from plait.view.findings import KINDS, common_folder, shorten_finding_path
from tests.cli.test_commands import out

ID = "b9139b4a-d886-4641-bfd3-9ed95b1a041a"


def torn(folder: Path, *files: tuple[str, int]) -> Path:
    for name, lines in files:
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text('{"type":"mode"}\n' + '{"type":\n' * lines, encoding="utf-8")
    return folder


def findings(text: str) -> list[str]:
    """Return the part of the report that tells of findings."""
    return next(part for part in text.split("\n\n") if " finding" in part).splitlines()


def test_few_findings_are_all_listed(capfd: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    logs = torn(tmp_path, ("shop/a.jsonl", 4), ("b.jsonl", 1))
    assert findings(out(capfd, "doctor", logs)) == [
        f"5 findings in {tmp_path}",
        "5  lines that are not JSON objects (broken line)",
        "    b.jsonl:2: not an object: expecting value",
        "    shop/a.jsonl:2: not an object: expecting value",
        "    shop/a.jsonl:3: not an object: expecting value",
        "    shop/a.jsonl:4: not an object: expecting value",
        "    shop/a.jsonl:5: not an object: expecting value",
    ]


def test_findings_wrap_at_the_width_of_the_terminal(
    capfd: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "48")
    logs = torn(tmp_path, ("shop/a.jsonl", 2))
    assert findings(out(capfd, "doctor", logs, "--all"))[-4:] == [
        "    shop/a.jsonl:2: not an object: expecting",
        "      value",
        "    shop/a.jsonl:3: not an object: expecting",
        "      value",
    ]


def test_many_findings_are_sampled_by_kind(
    capfd: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    logs = torn(tmp_path, ("a.jsonl", 19), ("b.jsonl", 2))
    (logs / "c.jsonl").write_text(
        json.dumps({"type": "summary", "summary": "s", "leafUuid": ID}), encoding="utf-8"
    )
    assert findings(out(capfd, "doctor", logs)) == [
        f"22 findings in {tmp_path}",
        "21  lines that are not JSON objects (broken line)",
        "    a.jsonl:2: not an object: expecting value",
        "    b.jsonl:2: not an object: expecting value",
        "    a.jsonl:3: not an object: expecting value",
        "    … 18 more",
        " 1  summaries of missing records (unresolved-summary)",
        "    c.jsonl:1: the summary belongs to b9139b4a…, which is not in any log",
        "`--all` lists every finding in full",
    ]
    assert len(findings(out(capfd, "doctor", logs, "--all"))) > 24


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        ("/logs/a.jsonl", "a.jsonl"),
        ("/elsewhere/a.jsonl", "/elsewhere/a.jsonl"),
        (f"/logs/projects/-home-dev-shop/{ID}.jsonl", "projects/-home-dev-shop/b9139b4a….jsonl"),
        (
            f"/logs/projects/-home-dev-shop-of-a-long-name/{ID}/subagents/agent-1.jsonl",
            "projects/…/subagents/agent-1.jsonl",
        ),
        ("/logs/two/parts-that-are-longer-than-anybody-reads.jsonl", None),
    ],
)
def test_paths_are_short(path: str, expected: str | None) -> None:
    shown = expected or path.removeprefix("/logs/")
    assert shorten_finding_path(Path(path), Path("/logs")) == shown


def test_common_root_is_named_once(tmp_path: Path) -> None:
    first, two = torn(tmp_path / "one", ("a.jsonl", 1)), torn(tmp_path / "two", ("b.jsonl", 1))
    assert common_folder([make_root(first)]) == first
    assert common_folder([make_root(first / "a.jsonl")]) == first
    assert common_folder([make_root(first), make_root(two)]) == tmp_path
    assert common_folder([]) is None


def test_every_kind_of_finding_has_a_text() -> None:
    guide = (Path(__file__).parents[2] / "docs/guide/setup.md").read_text(encoding="utf-8")
    assert all(f"`{code}`" in guide for code in KINDS if code != "broken line")
