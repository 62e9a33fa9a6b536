"""Sessions that are open to rows of their responses, each counted once, and of what was wasted."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path

from plait.archive.accounting import Owned, again_cost, input_cost, main_of
from plait.archive.lake.reading import OpenUnit
from plait.archive.lake.turn_rows import Row, Standing
from plait.archive.losing import is_agent
from plait.archive.model import Session
from plait.archive.usage import (
    Counted,
    FileBills,
    abandoned,
    count,
    counted_files,
    counted_paths,
    left_on,
)
from plait.archive.wasting import wasted_of
from plait.conversation.account import PaidRequest
from plait.conversation.account.requests import UNNAMED, Held, Main
from plait.conversation.branching import may_branch
from plait.conversation.prices import Prices
from plait.conversation.stats.model import digest
from plait.conversation.usage import BilledResponse, Key
from plait.conversation.waste.losses import PaidFile, paid_in
from plait.line import LogFile
from plait.record.billing import bills_in
from plait.record.lineage import Sent, sent_in
from plait.record.prompt import is_warmup

NO_STANDING = (None, None, None)


class ResponseRows:
    """Counts the responses of sessions that share some, and makes rows of them by session."""

    def __init__(self, read: OpenUnit, prices: Prices) -> None:
        self._read, self._prices = read, prices
        sessions = read.unit.sessions
        self._counted: Counted = count(sessions, read=self._bills)
        self._owned = Owned(self._counted, sessions)
        self._paths = counted_paths(sessions)
        self._left = abandoned(sessions, self._counted.responses, read=self._left_in)
        self._accounts: dict[Path, PaidFile] = {}
        self._mains: dict[Path, Main] = {}
        self._by_session: dict[int, list[tuple[Key, BilledResponse]]] = {}
        for key, one in zip(self._counted.keys, self._counted.responses, strict=True):
            number = read.places[str(self._paths[one.file])]
            self._by_session.setdefault(number, []).append((key, one))

    def responses(self, session: int, standings: Mapping[str, Standing]) -> Iterator[Row]:
        """Yields the responses that are counted to a session, by its number."""
        paid = self._paid(session)
        for key, one in self._by_session.get(session, ()):
            standing = standings.get(one.uuid or "")
            request = paid.get((one.file, name_of(key)))
            yield self._row(_mark_of(name_of(key), one), one, standing, request)

    def waste(self, session: int) -> Iterator[Row]:
        """Yields what was paid for in vain in a session, by its number."""
        whole = self._read.unit.sessions[session]
        for file in counted_files(whole):
            billed = self._owned.of(file.path)
            marks = {id(one): _mark_of(name, one) for name, one in billed.items()}
            lost = self._owned.explained(self._account(whole, file).losses, whole.id)
            for loss, one, cost in wasted_of(billed, lost, self._prices, self._left):
                yield (
                    *(loss.kind, marks[id(one)], loss.uuid, _stamp(one), loss.entrypoint),
                    *(loss.subject or None, cost, cost * loss.certain),
                )

    def _row(
        self,
        mark: int,
        one: BilledResponse,
        standing: Standing | None,
        request: PaidRequest | None,
    ) -> Row:
        tokens, prices = one.tokens, self._prices
        branch, turn, agents = standing or NO_STANDING
        agent = self._read.shown(one.agent) if one.agent else None
        return (
            *(mark, one.uuid, branch, turn, one.kind, agent, agents, one.model, _stamp(one)),
            *(tokens.input, tokens.output, tokens.cache_write_5m, tokens.cache_write_1h),
            *(tokens.cache_read, tokens.web_searches, tokens.web_fetches),
            *(tokens.tier, tokens.speed, tokens.geo),
            *(prices.cost(one.model, tokens, one.time), one.logged, one.uuid in self._left),
            *self._again(one, request),
            input_cost(one, prices),
        )

    def _again(self, one: BilledResponse, request: PaidRequest | None) -> Row:
        if request is None or not request.again:
            return 0, None, None
        unit = self._prices.unit(one.model, one.tokens, one.time)
        return request.again, request.cause, again_cost(request, unit) if unit else None

    def _paid(self, session: int) -> dict[tuple[int, str], PaidRequest]:
        """Returns the requests of a session, by file and by what each is known by."""
        whole = self._read.unit.sessions[session]
        return {
            (one.file, paid.response): paid
            for file in counted_files(whole)
            for paid, one in self._owned.counted(file.path, self._account(whole, file).requests)
        }

    def _account(self, session: Session, file: LogFile) -> PaidFile:
        """Returns what the requests of a file took; they are looked at once."""
        known = self._accounts.get(file.path)
        if known is None:
            main = Held if file is session.file else self._main(session)
            known = paid_in(self._sent(file.path), is_agent=is_agent(file), main=main)
            self._accounts[file.path] = known
        return known

    def _main(self, session: Session) -> Main:
        return self._mains.setdefault(session.path, main_of(session, self._sent))

    def _sent(self, path: Path) -> Iterator[tuple[int, Sent]]:
        return sent_in(enumerate(self._read.shown_lines(path), 1))

    def _bills(self, files: Sequence[LogFile]) -> Iterator[FileBills]:
        for file in files:
            data = b"\n".join(self._read.shown_lines(file.path))
            errand = file.kind == "agent" and is_warmup(file.path)
            yield FileBills(bills_in([(data, len(data))]), errand)

    def _left_in(self, session: Session) -> Iterable[str]:
        path = session.file.path if session.file else session.path
        opened = self._read.alone[self._read.places[str(path)]]
        return left_on(opened.plain_graph.lines.values()) if may_branch(opened.records) else ()


def name_of(key: Key) -> str:
    """Returns what a response is known by in its file."""
    return key if isinstance(key, str) else f"{UNNAMED}{key[1]}"


def _mark_of(name: str, one: BilledResponse) -> int:
    """Returns what stands for a response; one that nothing names is known by its line."""
    return digest(f"{one.session} {one.file} {name}" if name.startswith(UNNAMED) else name)


def _stamp(one: BilledResponse) -> str | None:
    return one.time.isoformat() if one.time else None
