"""What is asked of many sessions at once: trees, responses, usage, figures, causes."""

from collections.abc import Sequence
from datetime import UTC, datetime, tzinfo
from typing import TYPE_CHECKING, cast

from plait.archive.model import Named, Session, Several, Watch
from plait.line import LogFile

if TYPE_CHECKING:
    from plait.archive.accounting import Why
    from plait.archive.archive import Archive
    from plait.archive.families import CountedSessions
    from plait.archive.index_or_logs import Answers
    from plait.archive.lake.verbs import Lakes
    from plait.archive.tree import SessionTree, TreeWay
    from plait.archive.usage import Counted
    from plait.conversation.cross import CrossTable, Dimension
    from plait.conversation.insights.model import Insights
    from plait.conversation.prices import Prices
    from plait.conversation.spending import By, Spending, SpendingSum
    from plait.conversation.stats.model import Figures
    from plait.conversation.usage import BilledResponse
    from plait.conversation.waste.findings import Waste
    from plait.index.rows import SessionShape
    from plait.view.comparison import Comparison


class Figuring:
    """The part of an archive that answers such questions."""

    answers: "Answers"
    """From the index where it is up to date, else from the logs."""

    @property
    def _archive(self) -> "Archive":
        return cast("Archive", self)

    def tree(
        self,
        sessions: Several = None,
        *,
        way: "TreeWay" = "all",
        watch: Watch[Session] | None = None,
    ) -> "SessionTree":
        """Returns some sessions, or all, as the tree that they form."""
        return self.answers.tree(self._archive.named(sessions), way, watch)

    def responses(
        self, watch: Watch[LogFile] | None = None, since: float | None = None
    ) -> "Counted":
        """Returns all responses, each counted once; of files written since a moment, if told."""
        return self.answers.responses(watch, since)

    def abandoned(
        self,
        responses: "Sequence[BilledResponse]",
        sessions: Several = None,
        watch: Watch[LogFile] | None = None,
    ) -> frozenset[str]:
        """Returns the uuids of those responses that stand on branches that were left."""
        return self.answers.abandoned(responses, self._archive.named(sessions), watch)

    def usage(
        self,
        by: "By" = "daily",
        prices: "Prices | None" = None,
        zone: tzinfo | None = None,
        since: datetime | None = None,
        until: datetime | None = None,
    ) -> "Spending":
        """Returns tokens and money by day, week, month, session, project or model.

        Each response counts once over all files; without a time zone days are local ones.
        """
        from plait.archive.usage import usage_of

        return usage_of(self._archive, by, prices or self._archive.prices, zone, since, until)

    def cross(
        self,
        by: "Sequence[Dimension]",
        prices: "Prices | None" = None,
        zone: tzinfo | None = None,
        since: datetime | None = None,
        until: datetime | None = None,
    ) -> "CrossTable":
        """Returns tokens and money by several things at once: project, model, week."""
        from plait.archive.folding import refolded
        from plait.conversation.cross import crossed
        from plait.conversation.spending import within

        found = within(self.responses().responses, since, until)
        if "project" in by:
            found = refolded(found, self._archive.folding)
        return crossed(found, by, prices or self._archive.prices, zone)

    def stats(
        self,
        sessions: Several = None,
        *,
        zone: tzinfo | None = None,
        since: datetime | None = None,
        until: datetime | None = None,
        watch: Watch[Session] | None = None,
    ) -> "Figures":
        """Returns what was done in some sessions, or in all: turns, tools, agents, files."""
        return self.stats_by_session(
            sessions, zone=zone, since=since, until=until, watch=watch
        ).figures

    def stats_by_session(
        self,
        sessions: Several = None,
        *,
        zone: tzinfo | None = None,
        since: datetime | None = None,
        until: datetime | None = None,
        watch: Watch[Session] | None = None,
    ) -> "CountedSessions":
        """Returns the same, and the part that each session has in it."""
        found = self.answers.stats(self._archive.named(sessions), zone, since, until, watch)
        folders = {one.project for one, part in found.parts if part.session}
        if len(folders) < 2:
            return found
        from msgspec.structs import replace

        projects = {self._archive.folding.project(one) for one in folders}
        return found._replace(figures=replace(found.figures, projects=len(projects)))

    def shapes(
        self,
        sessions: Several = None,
        *,
        watch: Watch[Session] | None = None,
        most: int | None = None,
    ) -> "list[SessionShape] | None":
        """Returns how many turns, branches and agents some sessions have, or all.

        None where more bytes of logs than told would have to be read for it.
        """
        return self.answers.shapes(self._archive.named(sessions), watch, most)

    def costs(self, prices: "Prices | None" = None) -> "dict[str, SpendingSum]":
        """Returns what each session came to, by id; each response counts once over all files."""
        from plait.conversation.spending import by_session

        return by_session(self.responses().responses, prices or self._archive.prices)

    def compare(
        self, session: Named, first: str | None = None, second: str | None = None
    ) -> "Comparison":
        """Returns two branches of a session beside each other, by what people call them.

        Without names they are the one that goes on and the last of the others.
        """
        from plait.archive.choosing import chosen_conversation
        from plait.view.comparison import compared

        archive = self._archive
        told = archive.open(session).conversations
        one, two = (
            chosen_conversation(told, name).id if name else None for name in (first, second)
        )
        return compared(told, one, two, archive.prices)

    def why(
        self,
        session: Named,
        prices: "Prices | None" = None,
        now: datetime | None = None,
        *,
        turn: int | str | None = None,
    ) -> "Why":
        """Returns why a session cost what it did, and what was paid again; or a turn of it.

        A turn is told by its number, or by a response of it, or the record that this begins with.
        """
        from plait.archive.accounting import why_of

        archive, when = self._archive, now or datetime.now(UTC)
        return why_of(archive, archive.session(session), prices or archive.prices, when, turn)

    def waste(
        self,
        sessions: Several = None,
        prices: "Prices | None" = None,
        since: datetime | None = None,
        until: datetime | None = None,
    ) -> "Waste":
        """Returns what was paid for and need not have been, by kind, the dearest first."""
        from plait.archive.wasting import waste_of

        archive = self._archive
        chosen = archive.named(sessions)
        return waste_of(archive, chosen, prices or archive.prices, since, until)

    def insights(
        self,
        sessions: Several = None,
        *,
        prices: "Prices | None" = None,
        zone: tzinfo | None = None,
        since: datetime | None = None,
        until: datetime | None = None,
        now: datetime | None = None,
    ) -> "Insights":
        """Returns what stands out: trends, outliers against one's own median, habits."""
        from plait.archive.standing_out import Span, archive_insights

        span = Span(since, until, now or datetime.now(UTC), zone)
        archive = self._archive
        return archive_insights(archive, sessions, span, prices or archive.prices)

    @property
    def lake(self) -> "Lakes":
        """What brings its sessions into a lake of tables, which is asked by SQL."""
        from plait.archive.lake.verbs import Lakes

        return Lakes(self._archive)
