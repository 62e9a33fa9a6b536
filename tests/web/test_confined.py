"""Only discovered log files are served, whatever the address."""

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.browser.sessions import drawn_sessions
from tests.web.bare import Bare, bare, status

SECRET = "top-secret-words-of-a-neighbour"


@pytest.fixture(scope="module")
def odd(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Bare]:
    """Serve logs among which things lie that point elsewhere."""
    folder = tmp_path_factory.mktemp("odd")
    (folder / "elsewhere").mkdir()
    (folder / "elsewhere" / "secret.txt").write_text(SECRET)
    root = folder / "root"
    drawn_sessions()["ways"].write(root)
    log = next(root.rglob("*.jsonl"))
    side = log.with_suffix("")
    (side / "tool-results").mkdir(parents=True)
    (side / "tool-results" / "out.txt").symlink_to(folder / "elsewhere" / "secret.txt")
    (log.parent / "notes.txt").write_text(SECRET)
    with bare(root, tmp_path_factory.mktemp("odd-index")) as item:
        yield item


def names(server: Bare) -> list[str]:
    """Return the names of all sessions."""
    return re.findall(r'"name":"([^"]+)"', server.get("/api/v1/sessions").decode())


TRICKS = [
    "../../../etc/passwd",
    "..%2f..%2f..%2fetc%2fpasswd",
    "%2e%2e/%2e%2e/etc/passwd",
    "..%5c..%5cetc%5cpasswd",
    "....//....//etc/passwd",
    "/etc/passwd",
    "%00",
    "notes.txt",
    "~1",
    "x" * 2000,
]


@pytest.mark.parametrize("trick", TRICKS)
@pytest.mark.parametrize(
    "place",
    [
        "/s/{}",
        "/s/{}/raw",
        "/s/{}/raw/0/file",
        "/assets/{}",
        "/api/v1/sessions/{}",
        "/api/v1/sessions/{}/raw",
    ],
)
def test_address_cannot_reach_other_files(odd: Bare, place: str, trick: str) -> None:
    answer = odd.get(place.format(trick))
    assert status(answer) in (400, 404), answer[:200]
    assert b"root:" not in answer
    assert SECRET.encode() not in answer


@pytest.mark.parametrize(
    "rest",
    [
        "/raw/1/file",
        "/raw/-1/file",
        "/raw/99999999999999999999/file",
        "/raw/0/0",
        "/raw/0/999999",
        "/raw/0/..",
        "/context/0",
        "/context/99999",
        "/files/changes?touch=0",
        "/files/changes?file=99999",
        "/files/changes",
        "/timeline?turn=99999",
        "/timeline?line=nobody",
        "/raw?file=7",
    ],
)
def test_unknown_parts_of_a_session_are_404(odd: Bare, rest: str) -> None:
    (name,) = names(odd)
    assert status(odd.get(f"/s/{name}{rest}")) == 404


@pytest.mark.parametrize(
    "rest", ["/raw?from=x", "/raw?line=-1", "/context?from=1e9", "/raw?file=٣"]
)
def test_invalid_numbers_are_explained(odd: Bare, rest: str) -> None:
    (name,) = names(odd)
    assert status(odd.get(f"/s/{name}{rest.replace('٣', '%D9%A3')}")) == 400


def test_file_is_served_byte_for_byte(odd: Bare) -> None:
    (name,) = names(odd)
    head, _, body = odd.get(f"/s/{name}/raw/0/file").partition(b"\r\n\r\n")
    assert b"attachment" in head.lower()
    assert body.startswith(b"{")
    assert SECRET.encode() not in body


def test_symlinked_tool_output_is_not_served(odd: Bare) -> None:
    (name,) = names(odd)
    for tab in ("", "/context", "/timeline", "/files", "/usage", "/raw"):
        answer = odd.get(f"/s/{name}{tab}")
        assert status(answer) == 200
        assert SECRET.encode() not in answer


def test_symlinked_project_is_served(tmp_path: Path, archive_root: Path) -> None:
    root = tmp_path / "root"
    root.mkdir()
    (root / "linked").symlink_to(archive_root)
    with bare(root, tmp_path / "index") as item:
        found = names(item)
        assert len(found) > 1
        assert status(item.get(f"/s/{found[0]}/raw/0/file")) == 200
