"""The filter: parsing and filtering the list."""

from pathlib import Path

import pytest

from plait.archive import Archive
from plait.errors import UserError
from plait.settings import load_settings
from plait.tui.library import Filter, parse_filter
from tests.tui.ui import Screen, run_ui


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("", Filter()),
        ("pars", Filter("pars*")),
        ("pars ", Filter("pars")),
        ('"two words" tool:Bash', Filter('"two words" tool:Bash')),
        ("project:shop agent:Codex cost:>1 a", Filter("a", ("shop",), ("codex",), ((">", 1.0),))),
        ("cost:<=$0.5 cost:2", Filter(costs=(("<=", 0.5), ("=", 2.0)))),
        ("project: tool:", Filter()),
    ],
)
def test_filters_are_parsed(text: str, wanted: Filter) -> None:
    assert parse_filter(text) == wanted


def test_cost_filter_is_a_number() -> None:
    with pytest.raises(UserError, match="is not a cost"):
        parse_filter("cost:much")


def test_list_narrows_while_typing(root: Path) -> None:
    async def scenario(screen: Screen) -> None:
        await screen.wait_for("20 sessions", "$3.04")
        await screen.press("slash")
        await screen.type("project:quill")
        await screen.wait_for("5 sessions of 20")
        await screen.type(" cost:>0.3")
        await screen.wait_for("2 sessions of 20", "A small team", "Two tests")
        await screen.type(" walrus")
        await screen.wait_for("no session matches")
        await screen.press("escape")
        await screen.wait_for("20 sessions · 4 projects")

    run_ui(root, scenario)


def test_wrong_filter_is_explained(root: Path) -> None:
    async def scenario(screen: Screen) -> None:
        await screen.wait_for("'cost:much' is not a cost")

    run_ui(root, scenario, query="cost:much")


def test_index_fields(root: Path) -> None:
    async def without(screen: Screen) -> None:
        await screen.wait_for("`tool:` needs the index")

    run_ui(root, without, query="tool:WebSearch")
    environment = {"HOME": str(root.parent), "PLAIT_CACHE_DIR": str(root.parent / "cache")}
    folder = load_settings([str(root)], environment=environment).index
    with Archive([root], folder) as archive:
        archive.update_index(folder)
        sessions = {hit.session for hit in archive.search("tool:Grep", limit=100)}
    assert 0 < len(sessions) < 20

    async def scenario(screen: Screen) -> None:
        await screen.wait_for(f"{len(sessions)} session")

    run_ui(root, scenario, query="tool:Grep")


def test_hit_is_shown_and_opened(root: Path) -> None:
    async def scenario(screen: Screen) -> None:
        await screen.wait_for("1 session of 20", "two commands and no table")
        await screen.press("enter")
        await screen.wait_for("turn 2 of 2", "Then it is two commands")

    run_ui(root, scenario, query='"two commands and no table"')


def test_all_sessions_are_listed_and_hits_load_on_scroll(root: Path) -> None:
    environment = {"HOME": str(root.parent), "PLAIT_CACHE_DIR": str(root.parent / "cache")}
    folder = load_settings([str(root)], environment=environment).index
    with Archive([root], folder) as archive:
        archive.update_index(folder)
        hits = archive.search("the", limit=10_000)
    assert hits.is_whole
    count = len({hit.session for hit in hits})
    assert count > 12

    async def scenario(screen: Screen) -> None:
        await screen.wait_for("session")
        sessions = screen.app.main.sessions
        await screen.wait_for(f"{count} session")
        while len(sessions.hits) < 5:
            await screen.pilot.pause(0.02)
        assert len(sessions.hits) < count
        await screen.press("end")
        while sessions.list_unlocated():
            await screen.pilot.pause(0.02)
        assert sessions.selected is not None
        assert sessions.selected.key in sessions.hits

    run_ui(root, scenario, query="the ")
