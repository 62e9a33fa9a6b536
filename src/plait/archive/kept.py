"""What a list shows of a session to bytes and back, so that it can go on where it ended."""

from msgspec import Struct

from plait.archive.facts import Survey
from plait.index.packed import packed, unpacked
from plait.record.title import TitleKind, TitleSearch


class Kept(Struct, frozen=True, gc=False, array_like=True):
    """The facts of a session as the catalogue keeps them."""

    title: str | None
    title_from: TitleKind | None
    first_prompt: str | None
    started: str | None
    ended: str | None
    entries: int
    versions: tuple[str, ...]
    cwd: str | None
    git_branch: str | None
    custom: str | None = None
    ai: str | None = None
    last_prompt: str | None = None
    version: str | None = None
    has_summaries: bool = False

    def encoded(self) -> bytes:
        """Returns its bytes."""
        return packed(self)

    def survey(self) -> Survey:
        """Returns a survey that goes on from here; it knows no summaries."""
        titles = TitleSearch(self.custom, self.ai, self.last_prompt, self.first_prompt)
        return Survey(
            titles,
            self.entries,
            self.started,
            self.ended,
            self.version,
            dict.fromkeys(self.versions),
            self.cwd,
            self.git_branch,
        )


def kept_of(survey: Survey, title: tuple[str | None, TitleKind | None]) -> Kept:
    """Returns what is kept of a survey."""
    titles = survey.titles
    return Kept(
        title[0],
        title[1],
        titles.first_prompt,
        survey.started,
        survey.ended,
        survey.entries,
        tuple(survey.versions),
        survey.cwd,
        survey.git_branch,
        titles.custom,
        titles.ai,
        titles.last_prompt,
        survey.version,
        bool(titles.summaries),
    )


def kept_in(data: bytes) -> Kept:
    """Returns what the catalogue has kept."""
    return unpacked(data, Kept)
