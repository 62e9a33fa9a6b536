"""The reading view in a real browser: parts, branches, find, links, keys, looks."""

from pathlib import Path

from playwright.sync_api import Page, expect

from tests.browser.sessions import LATE_TURNS
from tests.web.reading_page import Reader, Served, at, reader

__all__ = ["at", "reader"]


def name_of(at: Served, drawing: str) -> str:
    """Return the name that a drawn session has in addresses."""
    wanted = {"ways": "Two ways", "late": "A year", "crew": "Send somebody", "hostile": ""}[drawing]
    for name, facts in at.library.snapshot.iter_listed():
        if (facts.title or facts.first_prompt or "").startswith(wanted):
            return name
    raise LookupError(drawing)


def top_of(page: Page, text: str) -> float:
    """Return how far below the top of the window an entry stands."""
    box = page.get_by_text(text, exact=True).first.bounding_box()
    assert box is not None
    return box["y"]


def test_page_has_the_beginning_and_fetches_the_rest(at: Served, reader: Reader) -> None:
    page = reader(at, f"/s/{name_of(at, 'late')}")
    expect(page.get_by_text("Tide number 1?", exact=True).first).to_be_visible()
    assert page.locator("main .part").count() > 2
    assert page.locator("main > .dag > .turn").count() < LATE_TURNS
    page.keyboard.press("G")
    last = page.locator(f".turn[data-n='{LATE_TURNS}']").first
    expect(last).to_be_in_viewport()
    page.wait_for_function(
        "turn => turn.getBoundingClientRect().bottom <= innerHeight", arg=last.element_handle()
    )


def test_go_to_an_unloaded_turn_by_number(at: Served, reader: Reader) -> None:
    page = reader(at, f"/s/{name_of(at, 'late')}?turn=170")
    target = page.locator(".turn[data-n='170'] .prompt")
    expect(target).to_be_in_viewport()
    expect(target).to_contain_text("Tide number 170?")


def test_go_to_a_record_on_another_branch(at: Served, reader: Reader) -> None:
    first = at.library.open_session(name_of(at, "ways"))
    assert first.conversations_if_any is not None
    lower = next(
        item.uuid
        for line in first.conversations_if_any.by_line.values()
        for item in line.items()
        if getattr(item, "text", "") == "Seals bark there."
    )
    page = reader(at, f"/s/{name_of(at, 'ways')}#{lower}")
    expect(page.get_by_text("Seals bark there.")).to_be_in_viewport()
    assert page.locator("select.ways").input_value() != first.conversations_if_any.main


def test_agent_is_fetched_when_opened(at: Served, reader: Reader) -> None:
    page = reader(at, f"/s/{name_of(at, 'crew')}")
    call = page.locator(".call", has_text="Count the waves").first
    call.locator("> summary").click()
    expect(page.get_by_text("Wave 25?", exact=True).first).to_be_attached()


def test_find_searches_unloaded_parts(at: Served, reader: Reader) -> None:
    page = reader(at, f"/s/{name_of(at, 'late')}")
    page.keyboard.press("/")
    page.keyboard.type("Answer number 199.")
    expect(page.locator(".found")).to_have_text("1 of 1")
    expect(page.locator(".say.target")).to_be_in_viewport()
    expect(page.locator(".say.target")).to_contain_text("Answer number 199.")


def test_find_reaches_truncated_text_and_agents(at: Served, reader: Reader) -> None:
    page = reader(at, f"/s/{name_of(at, 'ways')}")
    page.fill("#find", "by the puffin")
    expect(page.locator(".found")).to_have_text("1 of 1")
    expect(page.get_by_text("step 333 by the puffin")).to_be_in_viewport()
    page = reader(at, f"/s/{name_of(at, 'crew')}")
    page.fill("#find", "Wave 23?")
    expect(page.locator(".found")).to_have_text("1 of 1")
    expect(page.get_by_text("Wave 23?", exact=True).first).to_be_in_viewport()


def test_searched_words_are_highlighted(at: Served, reader: Reader) -> None:
    page = reader(at, f"/s/{name_of(at, 'late')}?q=number+151.")
    expect(page.locator(".found")).to_have_text("1 of 1")
    assert page.evaluate("CSS.highlights.get('found').size") == 1
    expect(page.locator("#find")).to_have_value("number 151.")


def test_switching_branches_keeps_history(at: Served, reader: Reader) -> None:
    page = reader(at, f"/s/{name_of(at, 'ways')}")
    expect(page.get_by_text("The mole it is.")).to_be_visible()
    page.keyboard.press("]")
    expect(page.get_by_text("The mole it is.")).to_be_hidden()
    page.go_back()
    expect(page.get_by_text("The mole it is.")).to_be_visible()


def test_branch_turns_continue_the_numbering(at: Served, reader: Reader) -> None:
    first = at.library.open_session(name_of(at, "late"))
    assert first.conversations_if_any is not None
    branch = next(
        line
        for line in first.conversations_if_any.by_line
        if line != first.conversations_if_any.main
    )
    page = reader(at, f"/s/{name_of(at, 'late')}#line-{branch}")
    turn = page.locator(".turn", has_text="The tide that turned back.").last
    expect(turn.locator(".n")).to_have_text(str(LATE_TURNS - 1))


def test_j_and_k_move_between_prompts(at: Served, reader: Reader) -> None:
    page = reader(at, f"/s/{name_of(at, 'late')}")
    for _ in range(3):
        page.keyboard.press("j")
    expect(page.get_by_text("Tide number 3?", exact=True).first).to_be_in_viewport()
    page.keyboard.press("k")
    expect(page.get_by_text("Tide number 2?", exact=True).first).to_be_in_viewport()
    page.keyboard.press("?")
    expect(page.locator("dialog.keys")).to_contain_text("export and share")
    last, close = page.locator("dialog.keys dd").last, page.locator("dialog.keys button")
    above, below = last.bounding_box(), close.bounding_box()
    assert above and below and below["y"] >= above["y"] + above["height"] + 8


def test_session_facts_are_next_to_the_branch_switch(at: Served, reader: Reader) -> None:
    page = reader(at, f"/s/{name_of(at, 'ways')}", width=1440)
    expect(page.locator(".under .ways")).to_be_visible()
    expect(page.locator(".under .facts")).to_contain_text("$")
    cut = page.evaluate(
        """() => {
          const under = document.querySelector(".under").getBoundingClientRect();
          return [...document.querySelectorAll(".under .facts span")]
            .filter((one) => one.checkVisibility())
            .filter((one) => one.getBoundingClientRect().bottom > under.bottom + 1)
            .map((one) => one.textContent);
        }"""
    )
    assert cut == []


def test_reload_keeps_the_position(at: Served, reader: Reader) -> None:
    page = reader(at, f"/s/{name_of(at, 'late')}?turn=120")
    expect(page.get_by_text("Tide number 120?", exact=True).first).to_be_in_viewport()
    page.wait_for_timeout(300)
    before = top_of(page, "Tide number 120?")
    page.reload()
    expect(page.get_by_text("Tide number 120?", exact=True).first).to_be_in_viewport()
    page.wait_for_timeout(300)
    assert abs(top_of(page, "Tide number 120?") - before) < 4


def test_entry_links_are_copied(at: Served, reader: Reader) -> None:
    name = name_of(at, "ways")
    page = reader(at, f"/s/{name}", permissions=["clipboard-read", "clipboard-write"])
    entry = page.locator(".say", has_text="The mole it is.")
    entry.locator("[data-act=link]").click()
    copied = page.evaluate("navigator.clipboard.readText()")
    assert copied == f"{at.address}/s/{name}#{entry.get_attribute('id')}"
    page.locator(".turn:visible .head .n").first.click()
    copied = page.evaluate("navigator.clipboard.readText()")
    assert copied.startswith(f"{at.address}/s/{name}#")
    page.locator("button.resume").click()
    assert "claude --resume" in page.evaluate("navigator.clipboard.readText()")


def test_log_line_is_one_click_away(at: Served, reader: Reader) -> None:
    page = reader(at, f"/s/{name_of(at, 'ways')}")
    html = page.locator(".say", has_text="The mole it is.")
    html.get_by_role("button", name="Raw JSON").click()
    expect(page.locator("pre.rawjson")).to_contain_text('"type": "assistant"')
    page.locator(".call", has_text="mole.txt").locator("> summary").click()
    page.get_by_role("button", name="Show all: 120 lines").click()
    expect(page.get_by_text("stone 120 of 120")).to_be_attached()


def test_two_branches_side_by_side(at: Served, reader: Reader) -> None:
    page = reader(at, f"/s/{name_of(at, 'ways')}")
    page.locator("a.differs:visible").first.click()
    expect(page.locator(".shared summary")).to_contain_text("1 turn in common")
    element, two = page.locator(".sides > .one"), page.locator(".sides > .two")
    expect(element.filter(has_text="The mole it is.")).to_be_visible()
    expect(two.filter(has_text="Four hundred steps.")).to_be_visible()
    page.set_viewport_size({"width": 420, "height": 900})
    expect(two.filter(has_text="Four hundred steps.")).to_be_hidden()
    page.get_by_role("button", name="Show the other branch").click()
    expect(two.filter(has_text="Four hundred steps.")).to_be_visible()


def test_narrow_window_shows_the_text_first(at: Served, reader: Reader) -> None:
    page = reader(at, f"/s/{name_of(at, 'ways')}", width=420, color_scheme="dark")
    expect(page.get_by_text("The mole it is.")).to_be_visible()
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    expect(page.locator(".rail")).to_be_hidden()
    page.locator(".head-opener").click()
    page.locator("[data-do=rail]").click()
    expect(page.locator(".rail")).to_be_visible()
    page.keyboard.press("Escape")
    page.locator(".head-opener").click()
    page.locator("[data-do=outline]").click()
    expect(page.locator(".outline")).to_contain_text("By the mole, then.")


def test_hostile_text_stays_text(at: Served, reader: Reader) -> None:
    for name in at.library.snapshot.names:
        page = reader(at, f"/s/{name}")
        page.locator("main .turn").first.wait_for(state="attached")
        page.keyboard.press("e")
        assert page.evaluate("window.pwned") is None


def test_export_is_redacted_by_default(at: Served, reader: Reader) -> None:
    page = reader(at, f"/s/{name_of(at, 'ways')}")
    page.keyboard.press("x")
    page.get_by_role("radio", name="Markdown").check()
    with page.expect_download() as waiting:
        page.get_by_role("button", name="Download redacted").click()
    text = Path(waiting.value.path()).read_text()
    assert "The mole it is." in text
    assert "/home/dev" not in text
    expect(page.locator(".exporting .status-text")).to_contain_text("replaced: user")
    plain = page.locator("button[value=no]")
    plain.click()
    expect(plain).to_have_text("Click again to download without redaction")
    with page.expect_download() as waiting:
        plain.click()
    assert "/home/dev" in Path(waiting.value.path()).read_text()


def test_reload_and_other_tabs_keep_the_position(at: Served, reader: Reader) -> None:
    name = name_of(at, "late")
    page = reader(at, f"/s/{name}")
    page.locator(".turn[data-n='3'] .say").wait_for()
    page.evaluate("scrollTo({top: 2200, behavior: 'instant'})")
    page.wait_for_function("() => history.state && history.state.id && history.state.top >= 2200")
    held = page.evaluate("history.state")
    page.reload()
    page.locator(".turn[data-n='3'] .say").wait_for()
    page.wait_for_function(
        "at => Math.abs(document.getElementById(at.id).getBoundingClientRect().top - at.off) < 3",
        arg=held,
    )
    expect(page.locator(".rail .here")).to_have_count(1)
    page.goto(f"{at.address}/s/{name}/usage")
    link = page.get_by_role("navigation", name="Views of").get_by_role("link", name="Read")
    expect(link).to_have_attribute("href", f"{at.address}/s/{name}#{held['id']}")


def test_end_key_marks_the_end(at: Served, reader: Reader) -> None:
    page = reader(at, f"/s/{name_of(at, 'late')}")
    page.locator(".turn[data-n='1'] .prompt").wait_for()
    page.keyboard.press("G")
    last = page.locator(".outline li").last.locator("a")
    expect(last).to_have_attribute("aria-current", "true")
    href = last.get_attribute("href")
    expect(page.locator(f".rail .node.here[href='{href}']")).to_have_count(1)
