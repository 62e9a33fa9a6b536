"""The shared window of the tests is as new for each of them."""

from pathlib import Path

from playwright.sync_api import Browser

from tests.browser.windows import Windows

PAGE = """<script>
addEventListener("pagehide", () => { localStorage.left = sessionStorage.left = "at the end"; });
</script>"""
STATE = """[localStorage.length, sessionStorage.length, innerWidth,
    matchMedia("(prefers-color-scheme: dark)").matches]"""


def test_nothing_of_a_test_is_left_for_the_next(browser: Browser, tmp_path: Path) -> None:
    file = tmp_path / "page.html"
    file.write_text(PAGE, encoding="utf-8")
    windows = Windows(browser, 20_000)
    first = windows.open({}, 500, color_scheme="dark")
    first.goto(file.as_uri())
    assert first.evaluate(STATE) == [0, 0, 500, True]
    first.evaluate("localStorage.a = sessionStorage.b = 'in between'")
    windows.close()
    second = windows.open({}, 700)
    assert second is first
    second.goto(file.as_uri())
    assert second.evaluate(STATE) == [0, 0, 700, False]
    second.on("console", lambda message: None)
    windows.close()
    assert second.is_closed()
