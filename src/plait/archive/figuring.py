"""What is asked of many sessions at once: trees, responses, usage, figures, causes."""

from collections.abc import Sequence
from datetime import UTC, datetime, tzinfo
from typing import TYPE_CHECKING, cast

from plait.archive.model import Named, Session, Several, Watch
from plait.line import LogFile

if TYPE_CHECKING:
    from plait.archive.accounting import Why
    from plait.archive.archive import Archive
    from plait.archive.index_or_logs import Answers
    from plait.archive.tree import SessionTree, TreeWay
    from plait.archive.usage import Counted
    from plait.conversation.prices import Prices
    from plait.conversation.spending import By, Spending
    from plait.conversation.stats.model import Figures
    from plait.conversation.usage import BilledResponse
    from plait.conversation.waste.findings import Waste


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
        return self.answers.stats(self._archive.named(sessions), zone, since, until, watch)

    def why(
        self,
        session: Named,
        prices: "Prices | None" = None,
        now: datetime | None = None,
    ) -> "Why":
        """Returns why a session cost what it did: each request, what of it was paid for again."""
        from plait.archive.accounting import why_of

        archive, when = self._archive, now or datetime.now(UTC)
        return why_of(archive, archive.session(session), prices or archive.prices, when)

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
        return waste_of(archive, prices or archive.prices, since, until, chosen)
