"""What was paid for in vain to a page of findings, the dearest first, each with its evidence."""

from collections.abc import Mapping
from urllib.parse import quote

from msgspec.structs import replace

from plait.conversation.waste.findings import Evidence, Waste, WasteFinding
from plait.view.amounts import dotted, many, money_in_words
from plait.view.causes import WASTE, saving_in_words
from plait.view.forms import stamp_of
from plait.view.page.conversation.entries import clock
from plait.view.page.figures.charts import section, share_in_words, strip
from plait.view.page.figures.period import nothing_in, uncounted
from plait.view.page.figures.slices import Slice
from plait.view.page.lists.rows import ListedSession
from plait.view.page.markup import esc, session_address, with_code
from plait.view.text import shortened

LONGEST, MOST_SHOWN = 90, 5
NARROW = "\u202f"
"""A space that no line is broken at."""


def waste_figures(
    found: Waste | None, known: Mapping[str, ListedSession], base: Slice, *, is_counting: bool
) -> str:
    """Returns the findings with what all of them come to."""
    if found is None:
        return uncounted(is_counting=is_counting)
    counting = '<p class="state" data-counting="1">Counting …</p>' if is_counting else ""
    if not found.findings:
        words = "Nothing was paid for in vain, as far as the logs tell."
        return f"{nothing_in('waste', words, is_all=base.is_everything)}{counting}"
    told = "".join(_finding(one, known, base) for one in found.findings)
    return f'{_sums(found, base)}<div class="wasted" id="findings">{told}</div>{counting}'


def _sums(found: Waste, base: Slice) -> str:
    share = share_in_words(found.total_usd, found.input_usd)
    least = money_in_words(found.least_usd) if found.least_usd else "$0"
    things = sum(one.count for one in found.findings)
    sent = f"{money_in_words(found.input_usd)} in all"
    whole = _to(base, part="cost").link(money_in_words(found.total_usd), count=found.total_usd)
    many_things = _to(base).link(many(things, "thing"), count=things)
    return strip(
        (
            ("Could have been saved", whole, "at most"),
            ("Surely in vain", _to(base, part="least").link(least), "at least"),
            (
                "Of what was sent",
                _to(base, part="cost").link(share or "–"),
                _to(base, part="sent").link(sent, count=found.input_usd),
            ),
            ("Findings", f'<a class="fig" href="#findings">{len(found.findings)}</a>', many_things),
        )
    )


def _to(base: Slice, name: str = "", part: str = "") -> Slice:
    return replace(base, of="waste", name=name, part=part)


def _finding(one: WasteFinding, known: Mapping[str, ListedSession], base: Slice) -> str:
    what = WASTE[one.kind]
    ways = sorted(one.entrypoints.items(), key=lambda pair: -pair[1])
    held = dotted(*(f"{name} {money_in_words(cost)}" for name, cost in ways))
    by = f'<p class="held">{esc(held)}</p>' if len(ways) > 1 else ""
    rows = "".join(_evidence(thing, known) for thing in one.evidence[:MOST_SHOWN])
    rest = one.count - MOST_SHOWN
    to = _to(base, one.kind)
    more = f'<p class="onward">and {to.link(many(rest, "more thing"))}</p>' if rest > 0 else ""
    advice = one.advice[:1].upper() + one.advice[1:]
    saving = esc(saving_in_words(one.least_usd, one.cost_usd))
    cost = _to(base, one.kind, "cost").link(saving, count=one.cost_usd)
    note = f"{cost}, {to.link(f'{one.count}{NARROW}×', count=one.count)}"
    inner = f'<p class="advice">{with_code(advice)}.</p>{by}<ol class="short">{rows}</ol>{more}'
    return section(esc(what[:1].upper() + what[1:]), inner, note)


def _evidence(one: Evidence, known: Mapping[str, ListedSession]) -> str:
    session = known.get(one.session)
    title = shortened(session.words, LONGEST) if session else one.session
    place = session_address(one.session, "read") + (f"#{quote(one.uuid)}" if one.uuid else "")
    what = f"<small>{esc(shortened(one.about))}</small>" if one.about else ""
    when = stamp_of(one.time) if one.time else None
    return (
        f'<li><a class="fig cost" href="{esc(place)}">{money_in_words(one.cost_usd)}</a>'
        f'<a href="{esc(place)}">{esc(title)}{what}</a>'
        f'<span class="when">{clock(when)}</span></li>'
    )
