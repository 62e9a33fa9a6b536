"""Sessions to pictures of their conversations, in letters: files, reviewed like code.

python -m tests.conversation.pictures          draw them anew
"""

from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

from plait.conversation.changes import changes_of, compactions_of, files_of
from plait.conversation.costs import Totals, list_descendant_agents, sum_conversations
from plait.conversation.model import Conversation, FoldedItems, Item, LateResult, ToolCall
from plait.conversation.patches import get_patch, get_proposed_patch
from plait.conversation.prices import Prices
from plait.conversation.prices.table import parse_price_file
from plait.conversation.questions import lists_of, plans_of, questions_of
from plait.conversation.statistics import Statistics
from plait.conversation.usage import BilledResponse, Ledger, Origin, RunKind
from plait.conversation.walk import DEPTHS, build_path, filter_visible, iter_calls
from plait.record.billing import make_bill
from plait.usage.spending import (
    BillingBlock,
    GroupBy,
    SpendingRow,
    build_billing_blocks,
    group_spending,
)
from tests.conversation.sketched import Talk, talk
from tests.graph.odd_drawings import ODD
from tests.graph.pictures import gallery, in_letters, part
from tests.graph.sketch import sources_of
from tests.pictured import short, told

PICTURES = Path(__file__).parent / "pictures"
TALKS = Path(__file__).parent / "talks"
PRICES = parse_price_file('["claude-*"]\ninput = 5.0\noutput = 25.0\n', "prices.toml")
BY: tuple[GroupBy, ...] = ("daily", "session", "model")
NOW = datetime(2026, 11, 2, 9, 30, tzinfo=UTC)
SPOKEN = frozenset(
    """commands compactions interrupted-and-cleared results-away a-response-in-two-places
    retracted-in-turn replayed queued-and-noticed loose agents-in-agents agents-on-a-branch
    sidechains structure-first calls-side-by-side three-files-in-a-row errors-between""".split()
)
UNTOLD = frozenset("uuid file line time input value items call result answered_in prompt".split())
LATE = frozenset("id request uuids usage".split())
TOUCHED = frozenset("path time call patch".split())
WHOLE = frozenset("id session project turns responses files".split())


def talks() -> dict[str, str]:
    """Return the drawings by name: the gallery, some odd sessions, and odd talks."""
    odd = {name: drawing for name, drawing in ODD.items() if name in SPOKEN}
    own = {file.stem: file.read_text(encoding="utf-8") for file in sorted(TALKS.glob("*.txt"))}
    return gallery() | odd | own


def _below(found: Talk, name: str, prices: Prices) -> Totals:
    """Return the totals of a conversation with all its agents."""
    names = [name, *list_descendant_agents(found.all, name)]
    return sum_conversations((found.all.by_line[line] for line in names), prices)


def picture(drawing: str) -> str:
    """Return all that is said of the conversations of a drawing's first session."""
    found = talk(drawing)
    prices = Prices(PRICES)
    lines = found.all.by_line
    billed = list(_billed(found))
    parts = [
        *((f"conversation {name}", _conversation(one)) for name, one in lines.items()),
        (
            "totals",
            (f"{name} {told(sum_conversations([one], prices))}" for name, one in lines.items()),
        ),
        ("below", (f"{name} {told(_below(found, name, prices))}" for name in lines)),
        ("ways", (_way(build_path(one, lines.get)) for one in lines.values())),
        ("statistics", _statistics(found)),
        ("billed", (told(one, frozenset({"project", "session"})) for one in billed)),
        *((by, map(_row, group_spending(billed, by, prices, UTC).rows)) for by in BY),
        ("blocks", (_block(one) for one in build_billing_blocks(billed, prices, NOW))),
    ]
    return in_letters("".join(part(name, given) for name, given in parts), found.names)


def _conversation(one: Conversation) -> Iterator[str]:
    yield told(one, WHOLE)
    yield from (f"response {told(response, LATE)}" for response in one.responses)
    for turn in one.turns:
        yield f"turn {told(turn, frozenset({'items', 'opener'}))}"
        yield from (f"  {line}" for item in turn.items for line in _item(item))
    for depth in DEPTHS:
        shown = filter_visible(one.items(), depth)
        yield f"{depth}: {' '.join(item.uuid or '·' for item in shown)}"
    for file in files_of(one):
        yield f"file {told(file, frozenset({'touches'}))}"
        yield from (f"  {told(touch, TOUCHED)}" for touch in file.touches)
    yield from (f"change {told(change)}" for change in changes_of(one))
    yield from (f"compaction {told(found)}" for found in compactions_of(one))
    yield from (f"list {told(state)}" for state in lists_of(one))
    yield from (f"question {told(question)}" for question in questions_of(one))
    yield from (f"plan {told(plan)}" for plan in plans_of(one))
    for _, called in iter_calls(one):
        yield from _patches(called)


def _item(item: Item) -> Iterator[str]:
    yield f"{item.uuid or '·'} {type(item).__name__} {told(item, UNTOLD)}".rstrip()
    if isinstance(item, LateResult) and item.result:
        yield f"  {told(item.result, frozenset({'detail'}))}"
    if isinstance(item, FoldedItems):
        yield from (f"  {line}" for one in item.items for line in _item(one))


def _patches(called: ToolCall) -> Iterator[str]:
    for name, patch in (("patch", get_patch(called)), ("proposed", get_proposed_patch(called))):
        if patch:
            yield f"{name} of {called.uuid} {told(patch)}"


def _way(one: Conversation) -> str:
    numbers = [f"{turn.number}:{turn.opener.uuid if turn.opener else '·'}" for turn in one.turns]
    return f"{one.id} {' '.join(numbers)} {len(one.responses)}"


def _statistics(found: Talk) -> Iterator[str]:
    statistics = Statistics(UTC)
    statistics.add(found.all)
    figures = statistics.figures()
    for name in figures.__struct_fields__:
        value = getattr(figures, name)
        if value:
            yield f"{name}: {short(value)}"


def _row(row: SpendingRow) -> str:
    parts = {"total": row.total, "agents": row.agents, "service": row.service, **row.models}
    sums = (f"{name}={one.responses}/{one.cost:.6g}" for name, one in parts.items())
    return f"{row.key} {' '.join(sums)} {told(row.total, frozenset({'responses', 'cost'}))}"


def _block(block: BillingBlock) -> str:
    gap = " gap" * block.is_gap + " active" * block.is_active
    rate = told(block.rate) if block.rate else ""
    left = f"{block.time_left(NOW)} {short(block.projected(NOW))}"
    return f"{block.start:%d %H:%M} to {block.end:%d %H:%M}{gap} {_row(block.row)} {rate} {left}"


def _billed(found: Talk) -> Iterator[BilledResponse]:
    ledger = Ledger()
    for source in sources_of(found.drawing):
        kind: RunKind = "agent" if source.file.agent else "main"
        origin = Origin(source.file.session or "", source.file.project, kind, source.file.agent)
        ledger.add(origin, [(one.line, make_bill(one.fields)) for one in source.records])
    return ledger.responses()


def main() -> None:
    """Draw all pictures anew."""
    PICTURES.mkdir(exist_ok=True)
    for name, drawing in talks().items():
        (PICTURES / f"{name}.txt").write_text(picture(drawing), encoding="utf-8")


if __name__ == "__main__":
    main()
