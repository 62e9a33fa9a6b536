"""Finding log files under roots, whatever people point at."""

from pathlib import Path

import pytest

from plait.errors import SourceError
from plait.line import Discovery, LogFile, discover, make_root


def tree(root: Path, *names: str) -> Path:
    for name in names:
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text("{}\n")
    return root


def found(root: Path) -> Discovery:
    return discover([make_root(root)])


def named(file: LogFile) -> tuple[str, str, str | None, str | None, str | None]:
    return file.kind, file.project, file.session, file.agent, file.run


# checklist: S1, S3, P7, P8, T1
@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("projects/-home-dev/s1.jsonl", ("session", "-home-dev", "s1", None, None)),
        (
            "projects/-home-dev/s1/subagents/agent-a12.jsonl",
            ("agent", "-home-dev", "s1", "a12", None),
        ),
        ("projects/-home-dev/agent-0a1b2c3.jsonl", ("agent", "-home-dev", None, "0a1b2c3", None)),
        (
            "projects/-home-dev/s1/subagents/workflows/wf_1/agent-b.jsonl",
            ("agent", "-home-dev", "s1", "b", "wf_1"),
        ),
        (
            "projects/-home-dev/s1/subagents/workflows/wf_1/journal.jsonl",
            ("journal", "-home-dev", "s1", None, "wf_1"),
        ),
    ],
)
def test_a_file_is_named_by_its_place(
    tmp_path: Path, name: str, expected: tuple[str, str, str | None, str | None, str | None]
) -> None:
    assert [named(file) for file in found(tree(tmp_path, name)).files] == [expected]


def test_side_files_are_not_logs(tmp_path: Path) -> None:
    tree(
        tmp_path,
        "projects/p/s.jsonl",
        "projects/p/s/subagents/agent-a.meta.json",
        "projects/p/s/tool-results/x.txt",
        "projects/p/s/custom-title.json",
        "history.jsonl",
    )
    assert [file.path.name for file in found(tmp_path).files] == ["s.jsonl"]


@pytest.mark.parametrize("where", [".", "projects", "projects/p", "projects/p/s.jsonl"])
def test_any_folder_on_the_path_can_be_a_root(tmp_path: Path, where: str) -> None:
    tree(tmp_path, "projects/p/s.jsonl")
    assert [file.path.name for file in found(tmp_path / where).files] == ["s.jsonl"]


def test_loose_logs_are_found_at_any_depth(tmp_path: Path) -> None:
    tree(tmp_path, "a.jsonl", "x/y/z/b.jsonl", "x/notes.txt")
    assert [file.path.name for file in found(tmp_path).files] == ["a.jsonl", "b.jsonl"]


def test_projects_folder_has_its_config_folder(tmp_path: Path) -> None:
    tree(tmp_path, "projects/p/s.jsonl")
    assert make_root(tmp_path).config == make_root(tmp_path / "projects").config == tmp_path


def test_overlapping_roots_give_each_file_once(tmp_path: Path) -> None:
    tree(tmp_path, "projects/p/s.jsonl")
    roots = [make_root(tmp_path), make_root(tmp_path / "projects" / "p")]
    assert len(discover(roots).files) == 1


def test_symlink_loops_end(tmp_path: Path) -> None:
    tree(tmp_path, "projects/p/s.jsonl")
    (tmp_path / "projects" / "p" / "loop").symlink_to(tmp_path / "projects")
    (tmp_path / "projects" / "p" / "gone.jsonl").symlink_to(tmp_path / "nothing")
    discovery = found(tmp_path)
    assert [file.path.name for file in discovery.files] == ["s.jsonl"]
    assert [path.name for path in discovery.unread] == ["gone.jsonl"]


def test_missing_root_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(SourceError, match="no such file or folder"):
        make_root(tmp_path / "nowhere")
