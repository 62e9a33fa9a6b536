"""Keys: configured, reserved for the terminal, and pasted quickly."""

from pathlib import Path

import pytest
from textual import events
from textual.dom import DOMNode

from plait.errors import ConfigError
from plait.tui import app, screens, widgets
from plait.tui.keys import KEYS, TERMINAL_KEYS, parse_keys
from tests.tui.ui import Screen, run_ui


def send(screen: Screen, text: str) -> None:
    """Send letters as a terminal does when they come together: nothing happens in between."""
    names = {"/": "slash"}
    for letter in text:
        screen.app.post_message(events.Key(names.get(letter, letter), letter))


def test_letters_right_after_the_slash_go_to_the_filter(root: Path) -> None:
    before = {path: path.read_bytes() for path in root.rglob("*.jsonl")}

    async def scenario(screen: Screen) -> None:
        await screen.wait_for("$3.04")
        send(screen, "/xmzqRTanchors")
        await screen.wait_for("no session matches", "xmzqRTanchors")
        assert len(screen.app.screen_stack) == 2
        await screen.press("escape")
        await screen.wait_for("20 sessions · 4 projects", without="★")
        send(screen, "jj/team")
        await screen.wait_for("1 session of 20", "A small team")

    run_ui(root, scenario)
    assert {path: path.read_bytes() for path in root.rglob("*.jsonl")} == before


def test_letters_right_after_the_slash_go_to_the_search(root: Path) -> None:
    async def scenario(screen: Screen) -> None:
        await screen.wait_for("1 session of")
        await screen.press("enter")
        await screen.wait_for("turn 1")
        send(screen, "/xlimit")
        await screen.press("backspace", "home", "delete")
        await screen.type("l")
        assert len(screen.app.screen_stack) == 3
        await screen.press("enter")
        await screen.wait_for("no match for “llimi”")

    run_ui(root, scenario, query="project:shop try-redis")


@pytest.mark.parametrize("key", ["ctrl+v", "ctrl+s"])
def test_keys_of_the_terminal_do_nothing(root: Path, key: str) -> None:
    async def scenario(screen: Screen) -> None:
        before = await screen.wait_for("$3.04", "▌ Make headings")
        await screen.press(key)
        assert screen.text == before
        await screen.press("slash", "q")
        await screen.wait_for("sessions of 20")
        await screen.press(key)
        assert screen.app.main.query_text == "q"

    run_ui(root, scenario)


def test_ctrl_c_quits_while_filtering(root: Path) -> None:
    async def scenario(screen: Screen) -> None:
        await screen.wait_for("$3.04")
        await screen.press("slash", "a", "ctrl+c")
        assert not screen.app.is_running or screen.app._exit

    run_ui(root, scenario)


def test_terminal_keys_are_not_bound() -> None:
    classes = [
        found
        for module in (app, screens, widgets)
        for found in vars(module).values()
        if isinstance(found, type) and issubclass(found, DOMNode)
        if found.__module__.startswith("plait.")
    ]
    assert widgets.Field in classes
    assert screens.QuestionDialog in classes
    bound = {
        (found.__name__, key.split("+")[1], action)
        for found in classes
        for key, action in list_bound(found)
        if key in TERMINAL_KEYS
    }
    assert bound == {("PlaitApp", "c", "quit"), ("PlaitApp", "z", "suspend_process")}


def list_bound(found: type[DOMNode]) -> list[tuple[str, str]]:
    """Return the keys of a class with those that it inherits, and their actions."""
    bindings = found._merge_bindings().key_to_bindings
    return [(key, binding.action) for key, some in bindings.items() for binding in some]


def test_default_keys_do_not_collide() -> None:
    assert parse_keys({}) == {}
    keys = [key for row in KEYS for key in row.keys.split(",")]
    assert len(keys) == len(set(keys))


def test_keys_are_set_by_name_or_character(root: Path) -> None:
    keys = parse_keys({"fork": "ctrl+f, f2", "filter": "/,ctrl+l", "next_turn": "J"})
    assert keys == {"fork": "ctrl+f,f2", "filter": "slash,ctrl+l", "next_turn": "J"}

    async def scenario(screen: Screen) -> None:
        await screen.wait_for("$3.04")
        await screen.press("J")
        await screen.wait_for("7d5638b0")
        await screen.press("j", "f")
        await screen.wait_for("7d5638b0", without="y or enter: fork")
        await screen.press("f2")
        await screen.wait_for("y or enter: fork")
        await screen.press("escape", "question_mark")
        await screen.wait_for("ctrl+f f2  fork")

    run_ui(root, scenario, keys=keys, size=(100, 44))


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"forks": "f"}, "unknown key name 'forks' in 'ui_keys'"),
        ({"fork": "x"}, "'x' in 'ui_keys' is set for 'fork' and 'delete'"),
        ({"fork": "/"}, "'slash' in 'ui_keys' is set for 'filter' and 'fork'"),
        ({"fork": "f,ctrl+c"}, "'ctrl\\+c' in 'ui_keys' is reserved by the terminal"),
        ({"fork": ""}, "'fork' in 'ui_keys' must be a key"),
        ({"fork": 3}, "'fork' in 'ui_keys' must be a key"),
    ],
)
def test_wrong_keys_are_refused(given: dict[str, object], message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        parse_keys(given)
