"""A log full of markup and tricks stays inert in a browser."""

from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from tests.browser.conftest import Opened

SESSION = "0badc0de"


def check_inert(page: Page) -> None:
    """Nothing ran, nothing was added, nothing leads anywhere but out in the open."""
    assert page.evaluate("typeof window.pwned") == "undefined"
    assert page.evaluate("({}).pwned === undefined")
    odd = page.evaluate("""() => Array.from(document.querySelectorAll("body *")).filter(e =>
        /^(IFRAME|OBJECT|EMBED|STYLE|LINK|META|FORM|BASE)$/.test(e.tagName)
        || (e.tagName === "SCRIPT" && !/^(text\\/plain|application\\/json)$/.test(e.type)
            && !e.textContent.includes("use strict") && !e.textContent.includes("hljs"))
        || (e.tagName === "IMG" && !e.classList.contains("shown-image"))
        || Array.from(e.attributes).some(a => /^on/.test(a.name) || a.name === "srcdoc")
        || /^\\s*(javascript|data|vbscript):/i.test(e.getAttribute("href") || ""))
        .map(e => e.outerHTML.slice(0, 200))""")
    assert odd == []
    assert not any(letter in page.locator("body").inner_text() for letter in "\u202e\u2066\x1b")


def policy(page: Page) -> str:
    """Return the content security policy of a page."""
    selector = 'meta[http-equiv="Content-Security-Policy"]'
    return page.locator(selector).get_attribute("content") or ""


@pytest.mark.parametrize("kind", ["site", "single"])
def test_hostile_session_is_inert(
    kind: str, opened: Opened, request: pytest.FixtureRequest
) -> None:
    folder: Path = request.getfixturevalue(kind)
    page = opened(next((folder / "sessions").glob(f"{SESSION}*.html")))
    check_inert(page)
    page.evaluate("document.querySelectorAll('details').forEach(one => { one.open = true; })")
    page.evaluate("document.querySelectorAll('button.more[data-p]').forEach(e => e.click())")
    page.evaluate("document.querySelectorAll('main .acts [data-act=raw]').forEach(e => e.click())")
    expect(page.locator("pre.rawjson").first).to_be_attached()
    page.wait_for_timeout(300)
    check_inert(page)
    page.locator("#find").fill("pwned")
    expect(page.locator(".found")).to_contain_text("of")
    page.locator("#find").press("Escape")
    page.keyboard.press("]")
    check_inert(page)
    assert policy(page).startswith("default-src 'none'; script-src ")
    assert "unsafe" not in policy(page)


def test_hostile_title_is_text_in_the_index(site: Path, opened: Opened) -> None:
    page = opened(site / "index.html")
    title = page.locator(".title", has_text="</title>")
    expect(title).to_contain_text("<script>window.pwned=1</script>")
    page.locator("#find").fill("pwned")
    expect(page.locator(".hit mark").first).to_be_visible()
    check_inert(page)


def test_content_security_policy_blocks_injected_code(session: Opened, opened: Opened) -> None:
    page = session(SESSION)
    assert "'self'" in policy(page)
    assert "img-src data: blob:" in policy(page)
    assert "form-action 'none'" in policy(page)


def test_log_links_open_separately_without_referrer(session: Opened) -> None:
    page = session(SESSION)
    links = page.locator('main a[href^="http"]')
    assert links.count() >= 1
    for link in links.all():
        assert link.get_attribute("rel") == "noreferrer noopener"
        assert link.get_attribute("target") == "_blank"
