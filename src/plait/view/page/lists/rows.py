"""Sessions to rows of lists: their names, where they are, how long ago they were."""

from collections.abc import Iterable
from datetime import datetime

from msgspec import Struct

from plait.record.time import moment
from plait.view.amounts import money_in_words, tokens_in_words
from plait.view.amounts import since as since_in_words
from plait.view.page.markup import clean, esc, session_address
from plait.view.text import shortened

LONGEST = 160


def ago(stamp: str | None, now: datetime) -> str:
    """Returns a time in a page: relative, kept so by the page, exact where one points at it."""
    time = moment(stamp)
    if time is None:
        return ""
    exact = f"{time:%Y-%m-%dT%H:%M:%SZ}"
    return f'<span class="ago" data-at="{exact}" title="{exact}">{esc(since(time, now))}</span>'


def since(time: datetime, now: datetime) -> str:
    """Says how long ago a moment was, by its day where that is long."""
    return since_in_words(time, now) or _day_of(time, now)


def _day_of(time: datetime, now: datetime) -> str:
    here, today = time.astimezone(), now.astimezone()
    year = "" if here.year == today.year else f" {here.year}"
    return f"{here.day} {here:%b}{year}"


class ListedSession(Struct, frozen=True, kw_only=True):
    """What lists say of a session."""

    name: str
    """In addresses."""
    title: str | None
    prompt: str | None
    project: str
    """The name of its folder."""
    place: str
    """The directory that it was held in, else its project."""
    branch: str | None = None
    started: str | None = None
    ended: str | None = None
    bytes: int = 0
    is_live: bool = False
    deleted_at: datetime | None = None
    turns: int | None = None
    """None where nobody has counted yet; so are all the other figures."""
    branches: int = 0
    agents: int = 0
    tokens: int | None = None
    cost: float | None = None
    is_partly_priced: bool = False
    parent: str | None = None
    """The session that it goes on from."""

    @property
    def words(self) -> str:
        """What it is called where it has no title of its own."""
        return shortened(self.title or self.prompt or "", LONGEST) or "No title"

    @property
    def has_parts(self) -> bool:
        """Tells whether something hangs on it: branches, agents."""
        return bool(self.branches or self.agents)


def title_link(one: ListedSession, most: int = LONGEST) -> str:
    """Returns a session's title, leading to its page, with the dot of a live one."""
    live = '<span class="live" title="Running now"><span class="state">Running</span></span>'
    plain = "" if one.title or one.prompt else ' class="untitled"'
    told = esc(shortened(one.words, most)).replace(" …", "&nbsp;…")
    words = f"{live if one.is_live else ''}{told}"
    return f'<a href="{session_address(one.name)}"{plain}>{words}</a>'


def short_place(place: str) -> str:
    """Returns the last part of a directory: what people call a project."""
    return clean(place.rstrip("/\\").replace("\\", "/").rpartition("/")[2] or place)


def tokens_cell(count: int | None) -> str:
    """Returns tokens, nothing where there are none."""
    return tokens_in_words(count) if count else ""


def cost_cell(one: ListedSession) -> str:
    """Returns what a session cost; a star where something in it has no price."""
    return priced(one.cost, is_partly=one.is_partly_priced)


def priced(cost: float | None, *, is_partly: bool = False) -> str:
    """Returns a sum of money; a star says that something in it has no price."""
    if cost is None:
        return '<abbr title="has no price">*</abbr>' if is_partly else ""
    star = '<abbr title="some of it has no price">*</abbr>' if is_partly else ""
    return f"{money_in_words(cost) if cost else '$0'}{star}"


def joined(parts: Iterable[str]) -> str:
    """Returns parts of a line, those that are there, with dots between."""
    return '<span class="dot"> · </span>'.join(part for part in parts if part)
