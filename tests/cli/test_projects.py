"""Projects in commands: worktrees and sub-directories grouped with their repository, or not."""

import json
from pathlib import Path
from typing import Any

import pytest

from plait.archive import Archive
from plait.cli.app import run
from plait.line import make_project_slug

SHOP, FIX = "/srv/dev/shop", "/srv/dev/shop-fix"
API = f"{SHOP}/api"


def write(root: Path, directory: str, words: str, state: dict[str, Any] | None = None) -> None:
    number = len(list(root.glob("projects/*/*.jsonl"))) + 1
    folder = root / "projects" / make_project_slug(directory)
    folder.mkdir(parents=True, exist_ok=True)
    day = f"2026-11-0{number}T10:00:00.000Z"
    common = {"cwd": directory, "gitBranch": "main", "timestamp": day, "version": "2.1.325"}
    prompt = {"type": "user", "uuid": f"u{number}", "parentUuid": None, **common}
    usage = {"input_tokens": 1000 * number, "output_tokens": 0}
    answer = {"id": f"m{number}", "role": "assistant", "model": "claude-opus-4-5", "usage": usage}
    lines = [
        *([state] if state else []),
        prompt | {"message": {"role": "user", "content": words}},
        {"type": "assistant", "uuid": f"a{number}", "parentUuid": f"u{number}", **common}
        | {"message": answer | {"content": [{"type": "text", "text": "done"}]}},
    ]
    name = f"{number:08}-1111-4111-8111-111111111111.jsonl"
    (folder / name).write_text("".join(json.dumps(line) + "\n" for line in lines))


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """A shop, a part of it, a worktree beside it, and notes that are nobody's."""
    made = {"type": "worktree-state", "worktreeSession": {"originalCwd": SHOP}}
    write(tmp_path, SHOP, "the basket")
    write(tmp_path, API, "the till")
    write(tmp_path, FIX, "the lamp", made)
    write(tmp_path, "/srv/dev/notes", "a list")
    return tmp_path


def run_text(capsys: pytest.CaptureFixture[str], *words: object) -> str:
    assert run([str(word) for word in words]) == 0
    return capsys.readouterr().out


def headings(text: str) -> list[str]:
    return [line for line in text.splitlines() if line.startswith("/")]


def test_sessions_are_grouped_by_repository(root: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert headings(run_text(capsys, "ls", "--root", root)) == ["/srv/dev/notes", SHOP]
    unfolded = run_text(capsys, "ls", "--no-fold", "--root", root)
    assert headings(unfolded) == ["/srv/dev/notes", FIX, API, SHOP]
    report = run_text(capsys, "ls", "--long", "--root", root)
    assert [line.strip() for line in report.splitlines() if "  in /" in line] == [
        f"in {FIX}",
        f"in {API}",
    ]


def test_list_names_project_and_folder(root: Path, capsys: pytest.CaptureFixture[str]) -> None:
    rows = json.loads(run_text(capsys, "ls", "--json", "--root", root))
    found = {row["cwd"]: (row["project"], row["folder"]) for row in rows}
    shop = make_project_slug(SHOP)
    assert found[FIX] == (shop, make_project_slug(FIX))
    assert found[API] == (shop, make_project_slug(API))
    assert found[SHOP] == (shop, shop)
    assert not {"first_branch", "worktree_of"} & rows[0].keys()


@pytest.mark.parametrize(
    ("name", "words"),
    [
        (SHOP, {"the basket", "the till", "the lamp"}),
        ("shop-fix", {"the lamp"}),
        (API, {"the till"}),
        ("notes", {"a list"}),
    ],
)
def test_project_is_found_by_name_and_by_folder(
    root: Path, capsys: pytest.CaptureFixture[str], name: str, words: set[str]
) -> None:
    rows = json.loads(run_text(capsys, "ls", "--json", "--project", name, "--root", root))
    assert {row["title"] for row in rows} == words
    totals = json.loads(run_text(capsys, "usage", "--json", "--project", name, "--root", root))[
        "totals"
    ]
    assert totals["responses"] == len(words)


def test_latest_of_a_project_may_be_in_a_worktree(root: Path) -> None:
    newest = Archive([root]).session("latest:srv/dev/shop")
    assert newest.project == make_project_slug(FIX)


@pytest.mark.parametrize("index", [True, False])
def test_cost_is_summed_by_repository(
    root: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], index: bool
) -> None:
    if index:
        run_text(capsys, "index", "--root", root)
    rows = json.loads(run_text(capsys, "usage", "project", "--json", "--root", root))["rows"]
    assert {row["project"]: row["input_tokens"] for row in rows} == {
        make_project_slug(SHOP): 6000,
        "-srv-dev-notes": 4000,
    }
    rows = json.loads(run_text(capsys, "usage", "project", "--no-fold", "--json", "--root", root))[
        "rows"
    ]
    assert len(rows) == 4
    text = run_text(capsys, "usage", "project", "--root", root)
    assert SHOP in text
    assert API not in text
    crossed = json.loads(
        run_text(capsys, "usage", "--by", "project,model", "--json", "--root", root)
    )
    assert {row["project"] for row in crossed["rows"]} == {
        make_project_slug(SHOP),
        "-srv-dev-notes",
    }
    archive = Archive([root])
    assert [row.key for row in archive.usage("project").rows] == [
        "-srv-dev-notes",
        make_project_slug(SHOP),
    ]
    assert len(archive.cross(("project", "week")).sums_by("project")) == 2
    by_session = json.loads(run_text(capsys, "usage", "session", "--json", "--root", root))["rows"]
    assert {row["folder"]: row["project"] for row in by_session}[
        make_project_slug(FIX)
    ] == make_project_slug(SHOP)


def test_search_filters_by_project(root: Path, capsys: pytest.CaptureFixture[str]) -> None:
    def found(*words: str) -> dict[str, Any]:
        report: dict[str, Any] = json.loads(
            run_text(capsys, "search", *words, "--json", "--root", root)
        )
        return report

    shop = make_project_slug(SHOP)
    full = found("the")
    places = {(hit["project"], hit["folder"]) for hit in full["hits"]}
    assert places == {(shop, make_project_slug(item)) for item in (SHOP, API, FIX)}
    assert full["facets"]["project"] == {shop: full["total"]}
    exact = found("--exact", "the")
    assert exact["facets"]["project"] == {shop: exact["total"]}
    assert {hit["project"] for hit in exact["hits"]} == {shop}
    assert {hit["folder"] for hit in found("the", "--project", "shop-fix")["hits"]} == {
        make_project_slug(FIX)
    }
    inside = found(f"project:{SHOP} the")["hits"]
    assert {hit["folder"] for hit in inside} == {
        make_project_slug(item) for item in (SHOP, API, FIX)
    }
    [bare, *_] = Archive([root]).search("lamp").hits
    assert (bare.project, bare.folder) == (shop, make_project_slug(FIX))


def test_totals_count_projects(root: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert Archive([root]).stats().projects == 2
    assert "4 sessions · 2 projects" in run_text(capsys, "stats", "--root", root)
