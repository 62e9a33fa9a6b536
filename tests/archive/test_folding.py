"""Grouping directories into projects."""

import json
import shutil
from itertools import permutations
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as some

from plait import Archive
from plait.line import make_project_slug
from plait.sessions.project_folders import Place, group_into_projects

SHOP, API = "/home/me/shop", "/home/me/shop/api"
FIX = "/home/me/shop/.claude/worktrees/fix"
ROOT = "/root"


def place(directory: str, branch: str | None = "main", **more: Any) -> Place:
    return Place(more.pop("folder", make_project_slug(directory)), directory, branch, **more)


def folded(*places: Place) -> dict[str, str | None]:
    """The directory of the project of each folder that is not its own."""
    found = group_into_projects(places)
    return {folder: found.directory(name) for folder, name in found.projects.items()}


TOGETHER = [
    ("a sub-directory", [place(SHOP), place(API)]),
    ("far below", [place(SHOP), place(f"{SHOP}/a/b/c", "fix")]),
    ("one in another", [place(SHOP), place(API), place(f"{API}/src")]),
    ("a worktree of the client", [place(SHOP), place(FIX, "worktree-fix")]),
    ("that has a repository but no session there", [place(FIX, "HEAD")]),
    ("below a worktree", [place(SHOP, "HEAD"), place(f"{FIX}/api", "HEAD")]),
    ("a worktree in a worktree", [place(SHOP), place(f"{FIX}/.claude/worktrees/again")]),
    ("a folder of worktrees", [place(SHOP), place(f"{SHOP}/.worktrees/fix", None)]),
    ("one that the log tells of", [place(SHOP), place("/srv/x/fix", worktree_of=SHOP)]),
    ("one of a part", [place(SHOP), place(API), place("/srv/x/fix", "fix", worktree_of=API)]),
    ("on a disk of Windows", [place("C:\\code\\shop"), place("C:\\code\\shop\\api")]),
    ("kept", [place(SHOP, is_here=False), place(API, is_here=False)]),
]


@pytest.mark.parametrize(("name", "places"), TOGETHER, ids=[name for name, _ in TOGETHER])
def test_parts_of_a_repository_are_one_project(name: str, places: list[Place]) -> None:
    root = "C:\\code\\shop" if places[0].directory == "C:\\code\\shop" else SHOP
    expected = {item.folder: root for item in places if item.directory != root}
    for order in permutations(places):
        assert folded(*order) == expected


APART = [
    ("neighbours", [place(SHOP), place("/home/me/shop2"), place("/home/me/shop-api")]),
    ("what is on no branch", [place(SHOP, "HEAD"), place(API)]),
    ("a part on no branch, as submodules are", [place(SHOP), place(API, "HEAD")]),
    ("logs that name no branch", [place(SHOP, None), place(API, None)]),
    ("an empty branch", [place(SHOP, ""), place(API)]),
    ("a home", [place("/home/me"), place(SHOP)]),
    ("a home on a Mac", [place("/Users/me"), place("/Users/me/shop")]),
    ("a home on Windows", [place("C:\\Users\\me"), place("C:\\Users\\me\\shop")]),
    ("the administrator's", [place(ROOT), place(f"{ROOT}/shop")]),
    ("temporary files", [place("/tmp"), place("/tmp/shop")]),
    (
        "those of a Mac",
        [place("/private/var/folders/a/b/T"), place("/private/var/folders/a/b/T/x")],
    ),
    ("a disk", [place("/"), place("/shop")]),
    (
        "what logs contradict each other on",
        [place(SHOP), *(place("/srv/fix", worktree_of=of) for of in (SHOP, API))],
    ),
    ("worktrees of a home", [place("/home/me/.claude/worktrees/a"), place("/home/me/b")]),
]


@pytest.mark.parametrize(("name", "places"), APART, ids=[name for name, _ in APART])
def test_directories_of_no_or_another_repository_stay(name: str, places: list[Place]) -> None:
    assert folded(*places) == {}


def test_shared_project_folders_stay() -> None:
    shared = [place("/home/me/a/b"), place("/home/me/a-b"), place("/home/me/a")]
    assert shared[0].folder == shared[1].folder
    assert folded(*shared) == {}
    assert folded(*shared, place("/home/me/a-b/src")) == {}


def test_projects_with_equal_names_stay_separate() -> None:
    found = folded(place("/srv/a/b/.worktrees/x"), place("/srv/a-b/.worktrees/x"))
    assert found == {}


def test_foreign_session_does_not_separate_a_folder_from_its_repository() -> None:
    moved = place("/Users/bob/shop", folder=make_project_slug(SHOP))
    assert folded(place(SHOP), moved, place(API)) == {make_project_slug(API): SHOP}


def test_renamed_folders_belong_to_their_repository() -> None:
    first, two = place(SHOP, folder="monday"), place(FIX, folder="tuesday")
    assert folded(first, two) == {"monday": SHOP, "tuesday": SHOP}
    assert folded(first) == {}
    assert folded(place(SHOP), place(SHOP, None, folder="example")) == {}


def test_home_directory_with_a_config_folder() -> None:
    places = [place("/data/me"), place("/data/me/shop")]
    assert group_into_projects(places).projects == {"-data-me-shop": "-data-me"}
    assert group_into_projects(places, ["/data/me"]).projects == {}


def test_folding_gives_names_and_directories() -> None:
    found = group_into_projects([place(SHOP), place(API), place("/srv/notes", None)])
    assert (
        found.project(make_project_slug(API))
        == found.project(make_project_slug(SHOP))
        == make_project_slug(SHOP)
    )
    assert found.folders(make_project_slug(SHOP)) == (make_project_slug(API),)
    assert found.directory(make_project_slug(API)) == API
    assert found.directory("-srv-notes") == "/srv/notes"
    assert found.directory("nowhere") is None
    assert found.unfolded().project(make_project_slug(API)) == make_project_slug(API)
    assert found.unfolded().directory(make_project_slug(API)) == API


NAMES = some.sampled_from(["a", "b", "a-b", ".claude/worktrees/x", ".worktrees/y", "home", "me"])
PATHS = some.lists(NAMES, max_size=4).map(lambda names: "/" + "/".join(names))
PLACES = some.lists(
    some.builds(
        place,
        PATHS,
        some.sampled_from([None, "", "HEAD", "main", "fix"]),
        worktree_of=some.none() | PATHS,
        is_here=some.just(False),
    ),
    max_size=8,
)


@given(PLACES, some.randoms(use_true_random=False))
def test_folding_is_consistent_for_any_input(places: list[Place], random: Any) -> None:
    found = group_into_projects(places)
    roots = {project: found.directory(name) for project, name in found.projects.items()}
    for folder, name in found.projects.items():
        assert folder != name
        assert found.project(name) == name
        assert make_project_slug(roots[folder] or "") == name
        assert roots[folder] not in ("/", "/home", "/home/me", "/home/a", "/tmp")
    random.shuffle(places)
    assert group_into_projects(places).projects == found.projects


@given(PLACES)
def test_unrelated_directory_changes_nothing(places: list[Place]) -> None:
    neighbour = group_into_projects([*places, place("/elsewhere/entirely")])
    assert neighbour.projects == group_into_projects(places).projects


def entry(directory: str, branch: str = "main") -> str:
    words = {"role": "user", "content": "hello"}
    fields = {"uuid": "u1", "parentUuid": None, "timestamp": "2026-11-01T10:00:00.000Z"}
    report = {"type": "user", "cwd": directory, "gitBranch": branch, "message": words}
    return json.dumps({**fields, **report}) + "\n"


def session(root: Path, directory: str, branch: str = "main", before: str = "") -> None:
    folder = root / "projects" / make_project_slug(directory)
    folder.mkdir(parents=True, exist_ok=True)
    number = len(list(root.glob("projects/*/*.jsonl")))
    name = f"{number:08}-1111-4111-8111-111111111111"
    (folder / f"{name}.jsonl").write_text(before + entry(directory, branch))


def test_archive_folds_by_git_and_by_its_logs(tmp_path: Path) -> None:
    shop, root = tmp_path / "shop", tmp_path / "config"
    (shop / ".git").mkdir(parents=True)
    (shop / ".git" / "HEAD").write_text("ref: refs/heads/main\n")
    fix = tmp_path / "fix"
    kept = shop / ".git" / "worktrees" / "fix"
    kept.mkdir(parents=True)
    (kept / "gitdir").write_text(f"{fix}/.git\n")
    fix.mkdir()
    (fix / ".git").write_text(f"gitdir: {kept}\n")
    state = {"type": "worktree-state", "worktreeSession": {"originalCwd": "/srv/tool"}}
    session(root, str(shop), "HEAD")
    session(root, str(shop / "api"), "HEAD")
    session(root, str(fix), "HEAD")
    session(root, "/srv/tool")
    session(root, "/srv/made", before=json.dumps(state) + "\n")
    expected = {make_project_slug(str(shop)): 3, "-srv-tool": 2}

    def projects(archive: Archive) -> dict[str, int]:
        return {project.name: len(project.sessions) for project in archive.projects}

    assert projects(Archive([root])) == expected
    shutil.rmtree(fix)
    warm = Archive([root], tmp_path / "index")
    warm.update_index()
    assert projects(Archive([root], tmp_path / "index")) == expected
    assert projects(Archive([root])) == expected
    item = next(
        project
        for project in Archive([root]).projects
        if project.name == make_project_slug(str(shop))
    )
    assert item.directory == str(shop)
    assert item.folded == (make_project_slug(str(fix)), make_project_slug(str(shop / "api")))
