"""Browser windows of tests, one of which is used again: a new one costs more than most pages.

The first window of a test that asks for a size or a theme only is the shared one. If a test leaves
it with listeners, routes or further pages of its own, it is closed; otherwise it is emptied, so that
the next test finds it as new.
"""

from collections.abc import Callable
from typing import Any, cast

from playwright.sync_api import Browser, BrowserContext, Page

Listeners = dict[str, Callable[[Any], object]]
BLANK = "about:blank"
EMPTY = "**/empty-page-between-two-tests"


class Windows:
    """The windows that the tests of a run open, one test after the other."""

    def __init__(self, browser: Browser, patience: int) -> None:
        self._browser = browser
        self._patience = patience
        self._contexts: list[BrowserContext] = []
        self._shared: Page | None = None
        self._own_listeners: Listeners = {}
        self._first_counts: dict[str, int] = {}
        self._is_used = False

    def open(
        self, listeners: Listeners, width: int = 1400, height: int = 900, **options: Any
    ) -> Page:
        """Return an empty page of a size, with other options of a context."""
        if self._is_used or options.keys() - {"color_scheme"}:
            context = self._create_context(width, height, **options)
            self._contexts.append(context)
            page = context.new_page()
        else:
            self._is_used = True
            page = self._take_shared(width, height)
            page.emulate_media(color_scheme=options.get("color_scheme", "null"))
            self._own_listeners = listeners
        for name, listener in listeners.items():
            cast(Any, page).on(name, listener)
        return page

    def close(self) -> None:
        """Close the windows of a test, and empty the shared one."""
        for context in self._contexts:
            context.close()
        self._contexts.clear()
        page = self._shared
        if not self._is_used or page is None:
            return
        self._is_used = False
        for name, listener in self._own_listeners.items():
            cast(Any, page).remove_listener(name, listener)
        if page.is_closed() or not self._is_as_taken(page):
            page.context.close()
            self._shared = None
            return
        if page.url != BLANK:
            _clear_storage(page)
        page.emulate_media(media="null")
        page.mouse.move(-1, -1)
        page.context.clear_cookies()

    def _create_context(self, width: int, height: int, **options: Any) -> BrowserContext:
        settings = {"timezone_id": "UTC", "locale": "en-GB", **options}
        context = self._browser.new_context(
            viewport={"width": width, "height": height}, reduced_motion="reduce", **settings
        )
        context.set_default_timeout(self._patience)
        return context

    def _take_shared(self, width: int, height: int) -> Page:
        if self._shared is None:
            context = self._create_context(width, height)
            self._shared = context.new_page()
            self._first_counts = _count_listeners(self._shared)
        else:
            self._shared.set_viewport_size({"width": width, "height": height})
        return self._shared

    def _is_as_taken(self, page: Page) -> bool:
        internal = cast(Any, page)._impl_obj
        has_routes = internal._routes or internal.context._routes
        is_alone = page.context.pages == [page]
        return is_alone and not has_routes and _count_listeners(page) == self._first_counts


def _clear_storage(page: Page) -> None:
    """Go to an empty page of the same origin: a page may store something while it is left."""
    origin = "file://" if page.url.startswith("file:") else page.evaluate("origin")
    page.route(EMPTY, lambda route: route.fulfill(body="", content_type="text/html"))
    page.goto(origin + EMPTY.removeprefix("**"))
    page.evaluate("localStorage.clear(); sessionStorage.clear()")
    page.unroute(EMPTY)


def _count_listeners(page: Page) -> dict[str, int]:
    emitter = cast(Any, page)._impl_obj
    counts = {name: len(emitter.listeners(name)) for name in sorted(emitter.event_names())}
    return {name: count for name, count in counts.items() if count}
