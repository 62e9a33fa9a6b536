"""Copying from a page in a browser: the exact text of the log, and Markdown."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from examples.drawing import Drawing, draw
from plait.cli.app import run
from tests.web.reading_page import Reader, Served, reader, served

__all__ = ["reader"]
LONG = "\n".join(f"line {number} of many" for number in range(200))
TALK = """
file talk cwd=/home/dev/tide
U1 "Count the **boats**, please."
A1< "# Boats\\n\\nThere are *seven*:\\n\\n```python\\nboats = 7\\n```\\n"
U2< "Run it."
A2< Bash(command="cd boats\\npython boats.py --all") as run
R2< of run
  | MANY
A3< "Done."
U3<A1 "No, the oars."
A4< "Twelve."
"""
CLIPBOARD = "navigator.clipboard.readText()"
WITHOUT = "Object.defineProperty(navigator, 'clipboard', {value: undefined})"


@pytest.fixture(scope="module")
def talk() -> Drawing:
    """Return a session with a long output and a branch that was left."""
    return draw(TALK.replace("  | MANY", "\n".join(f"  | {item}" for item in LONG.split("\n"))))


@pytest.fixture(scope="module")
def root(talk: Drawing, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with that session."""
    found = tmp_path_factory.mktemp("copied")
    talk.write(found)
    return found


@pytest.fixture(scope="module")
def at(root: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    """Serve it."""
    with served(root, tmp_path_factory.mktemp("copied-index")) as server:
        yield server


@pytest.fixture
def page(at: Served, talk: Drawing, reader: Reader) -> Page:
    """Return its page, with leave to look at the clipboard."""
    found = reader(at, f"/s/{name_of(talk)}", permissions=["clipboard-read", "clipboard-write"])
    found.locator(".turn").first.wait_for()
    return found


def name_of(talk: Drawing) -> str:
    """Return the session's name."""
    return str(talk.records[0]["sessionId"])


def record(talk: Drawing, number: int) -> str:
    """Return the id of a record."""
    return str(talk.records[number]["uuid"])


def copied(page: Page, said: str) -> str:
    """Return what is on the clipboard once the page says that it was copied."""
    expect(page.locator(".found")).to_contain_text(said)
    return str(page.evaluate(CLIPBOARD))


def exported(capfd: pytest.CaptureFixture[str], root: Path, *given: str) -> str:
    """Return what the command exports."""
    assert run(["export", *given, "--no-redact", "--root", str(root), "-o", "-"]) == 0
    return capfd.readouterr().out


def test_message_is_copied_as_written(page: Page) -> None:
    page.locator(".prompt").first.hover()
    page.locator(".prompt .act[data-act=copy-text]").first.click()
    assert copied(page, "Text copied") == "Count the **boats**, please."
    page.locator(".say .act[data-act=copy-text]").first.click()
    page.wait_for_function(f"async () => (await {CLIPBOARD}).startsWith('# Boats')")
    assert copied(page, "Text copied").startswith("# Boats\n\nThere are *seven*:")


def test_code_is_copied_exactly(page: Page) -> None:
    page.locator(".say pre").first.hover()
    button = page.locator(".say .on-code .act").first
    expect(button).to_have_css("opacity", "1")
    button.click()
    assert copied(page, "Copied") == "boats = 7"


def branch_shown(page: Page) -> None:
    """Show the branch that was left, where the command ran."""
    page.locator("select.ways").select_option(index=1)
    page.locator("details.call").first.wait_for()


def test_full_output_is_copied_from_a_closed_row(page: Page) -> None:
    branch_shown(page)
    row = page.locator("details.call").first
    row.locator("summary").hover()
    row.locator("summary .act[data-act=copy-output]").click()
    assert copied(page, "Output copied") == LONG
    assert row.get_attribute("open") is None


def test_full_output_is_copied_from_an_open_row_by_keyboard(page: Page) -> None:
    branch_shown(page)
    page.locator("details.call > summary").first.press("Enter")
    tool = page.locator("details.call .tools button", has_text="Copy output")
    tool.press("Enter")
    assert copied(page, "Output copied") == LONG
    page.locator("details.call .on-code .act").first.press("Enter")
    assert copied(page, "Copied") == "cd boats\npython boats.py --all"


def test_turn_is_copied_as_its_export(
    page: Page, root: Path, talk: Drawing, capfd: pytest.CaptureFixture[str]
) -> None:
    page.locator(".turn .head .act[data-act=copy-turn]").nth(1).press("Enter")
    text = copied(page, "Turn copied as Markdown")
    assert text == exported(capfd, root, name_of(talk), "--turn", "2")
    assert "No, the oars." in text
    page.keyboard.press("k")
    page.keyboard.press("y")
    page.wait_for_function(f"async () => (await {CLIPBOARD}).includes('boats')")


def test_session_is_copied_as_its_export(
    page: Page, root: Path, talk: Drawing, capfd: pytest.CaptureFixture[str]
) -> None:
    page.get_by_role("button", name="Copy as Markdown").first.click()
    text = copied(page, "Session copied as Markdown")
    assert text == exported(capfd, root, name_of(talk), "--branches", "active")
    page.keyboard.press("Y")
    assert copied(page, "Session copied as Markdown") == text
    branch_shown(page)
    page.get_by_role("button", name="Copy as Markdown").first.click()
    page.wait_for_function(f"async () => (await {CLIPBOARD}).includes('boats.py --all')")


def test_copied_continue_command_runs(
    page: Page, root: Path, talk: Drawing, capfd: pytest.CaptureFixture[str]
) -> None:
    page.locator(".turn .head .act[data-act=continue]").nth(1).press("Enter")
    command = copied(page, "Copied: plait resume")
    assert command == f"plait resume {name_of(talk)} --root {root} --at 2"
    assert run(command.split()[1:]) == 0
    assert "turn 2 of 2" in capfd.readouterr().out


def test_copied_command_continues_from_a_branch(
    page: Page, talk: Drawing, capfd: pytest.CaptureFixture[str]
) -> None:
    branch_shown(page)
    shown = page.locator(".dag:not([hidden]) > .turn:not(.past) .act[data-act=continue]")
    shown.last.press("Enter")
    command = copied(page, "Copied: plait resume")
    assert command.endswith(f"--at {record(talk, 2)}")
    assert run(command.split()[1:]) == 0
    out = capfd.readouterr().out
    assert "of another branch" in out
    assert f"--at {record(talk, 2)}" in out


def test_copying_falls_back_without_a_clipboard_api(
    at: Served, talk: Drawing, reader: Reader
) -> None:
    page = reader(at, f"/s/{name_of(talk)}", permissions=["clipboard-read", "clipboard-write"])
    page.evaluate(WITHOUT)
    page.locator(".prompt .act[data-act=copy-text]").first.press("Enter")
    expect(page.locator(".found")).to_have_text("Text copied")
    field = page.locator("#find")
    field.focus()
    page.keyboard.press("Control+V")
    expect(field).to_have_value("Count the **boats**, please.")


def test_failed_copy_is_reported(at: Served, talk: Drawing, reader: Reader) -> None:
    page = reader(at, f"/s/{name_of(talk)}")
    page.evaluate(f"{WITHOUT}; document.execCommand = () => false")
    page.locator(".prompt .act[data-act=copy-text]").first.press("Enter")
    expect(page.locator(".found")).to_have_text("The browser did not allow copying.")


def test_full_output_saved_next_to_the_log_is_copied(tmp_path: Path, reader: Reader) -> None:
    drawing = draw(TALK.replace("  | MANY", "  | short"))
    drawing.write(tmp_path)
    path = next(tmp_path.rglob("*.jsonl"))
    lines = [json.loads(line) for line in path.read_text().splitlines()]
    saved = path.with_suffix("") / "tool-results" / "out.txt"
    saved.parent.mkdir(parents=True)
    saved.write_text(LONG)
    for line in lines:
        for block in line["message"]["content"] if line["type"] == "user" else ():
            if isinstance(block, dict) and block.get("type") == "tool_result":
                words = f"<persisted-output>\nOutput too large. Full output saved to: {saved}\n"
                block["content"] = f"{words}\nline 0\n</persisted-output>"
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    with served(tmp_path, tmp_path / "index") as at:
        given = ["clipboard-read", "clipboard-write"]
        page = reader(at, f"/s/{name_of(drawing)}", permissions=given)
        branch_shown(page)
        page.locator("details.call summary").first.hover()
        page.locator("details.call summary .act[data-act=copy-output]").first.click()
        assert copied(page, "Output copied") == LONG
        page.close()


def test_unknown_copies_are_404(at: Served, talk: Drawing) -> None:
    assert at.ask(f"/s/{name_of(talk)}/markdown?turn=nobody")[0] == 404
    assert at.ask(f"/s/{name_of(talk)}/markdown?line=nobody")[0] == 404
    assert at.ask(f"/s/{name_of(talk)}/output?call=nobody")[0] == 404
