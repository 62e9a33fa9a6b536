"""What fills the context of a session to lines on the screen, with what each preset would save."""

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from plait.archive import PresetEffect, Session, preset_effects, weighed
from plait.cli.options import Request
from plait.cli.output import Output
from plait.cli.text import clipped, columns, counted, number, safe_line, short, thousands, to_type
from plait.view.amounts import sums_in_words
from plait.view.context_fill import FillItem
from plait.view.edits import UNKNOWN, Size, saved_share

if TYPE_CHECKING:
    from rich.table import Table
    from rich.text import Text

    from plait.view.context_window import Weighed

NAMES = {
    "results": "results of tools",
    "reports": "reports of agents",
    "thinking": "thinking",
    "pictures": "pictures and documents",
    "reminders": "reminders and notes",
    "calls": "calls of tools",
    "answers": "answers",
    "prompts": "prompts and summaries",
    "rereads": "files read again, among the results",
}
MOST_NAMED = 3


def show_filled(request: Request, session: Session, *, as_json: bool) -> None:
    """Prints what fills a context, and what each preset would save; changes nothing."""
    archive = request.priced
    found = weighed(archive.open(session), session.id, request.prices)
    effects = list(preset_effects(archive, session))
    if as_json:
        fills = {"fills": found.fills, "presets": effects}
        told = {"session": session.id, "tokens": found.tokens, "window": found.window}
        request.output.json({**told, "estimated": found.estimated, **fills})
        return
    with request.output.paged():
        request.output.heading(request.archive.facts(session))
        _print_filled(request.output, found)
        _print_presets(request, session, effects)


def _print_filled(output: Output, found: "Weighed") -> None:
    if not found.fills:
        output.print(found.why_not or "nothing is sent")
        return
    output.print(", ".join(_totals(found)), style="bold")
    if found.next_prompt:
        output.print(found.next_prompt.sentence)
    output.print("")
    output.lines(_rows(found, output.width))
    output.print("")


def _totals(found: "Weighed") -> Iterator[str]:
    messages = counted(len(found.messages), "message")
    if found.tokens is None:
        yield f"about {thousands(found.estimated)} tokens in {messages}"
    else:
        yield f"{thousands(found.tokens)} tokens after the last answer"
        is_part = found.estimated < found.tokens
        yield f"about {thousands(found.estimated)} of them in {messages}" if is_part else messages


def _rows(found: "Weighed", width: int) -> Iterator["Text"]:
    from rich.text import Text

    most = max(len(number(one.count)) for one in found.fills)
    for one in found.fills:
        yield Text(f"{thousands(one.tokens):>6}  {number(one.count):>{most}}  {NAMES[one.kind]}")
        shown = one.largest[:MOST_NAMED] if one.kind in LISTED else ()
        yield from (_item_line(item, most + 8, width) for item in shown if item.tokens)


LISTED = ("results", "reports", "pictures", "reminders", "rereads")


def _item_line(item: FillItem, indent: int, width: int) -> "Text":
    from rich.text import Text

    facts = [f"{item.times} times"] if item.times > 1 else []
    facts += [f"turn {item.turn}"] if item.turn else []
    facts += [f"line {item.line}"] if item.line else []
    end = ", ".join(facts)
    start = f"{'':{indent}}{thousands(item.tokens):>6}  "
    room = width - len(start) - len(end) - 2
    words = fitting(safe_line(item.words), max(room, 8))
    gap = " " * max(room - columns(words), 0)
    return Text(f"{start}{words}{gap}  {end}", style="dim")


def fitting(words: str, room: int) -> str:
    """Returns words that fit; of a path its end stays, which tells it from others."""
    tool, _, about = words.rpartition(" ") if words.count(" ") < 2 else ("", "", "")
    if columns(words) <= room or not about or not words.isascii():
        return clipped(words, room)
    start = max(room // 4, len(tool) + 2)
    return (
        f"{words[:start]}…{words[start + 1 - room :]}" if start + 8 < room else clipped(words, room)
    )


def _print_presets(request: Request, session: Session, effects: Sequence[PresetEffect]) -> None:
    if not effects or all(one.after == one.before for one in effects):
        request.output.print("no preset would change anything")
        return
    request.output.print(_presets_table(effects))
    request.output.print("")
    line = f"`plait trim {to_type(short(session.id))} standard --dry-run`"
    request.output.say(f"{line} shows what would go", style="dim")


def _presets_table(effects: Sequence[PresetEffect]) -> "Table":
    from rich.table import Table
    from rich.text import Text

    table = Table.grid(*HEADINGS, padding=(0, 3, 0, 0))
    for column in table.columns[1:]:
        column.justify = "right"
    table.add_row(*(Text(one, style="dim") for one in HEADINGS))
    sizes = [effects[0].before, *(one.after for one in effects)]
    warm, cold = (
        sums_in_words([getattr(one.cost_usd, name, None) for one in sizes], UNKNOWN)
        for name in ("warm", "cold")
    )
    figures = list(zip(map(_tokens, sizes), warm, cold, strict=True))
    table.add_row(Text("now", style="dim"), *figures[0], "", "")
    for one, told in zip(effects, figures[1:], strict=True):
        table.add_row(one.preset, *told, _share(one), _paid_back(one.break_even_turns))
    return table


HEADINGS = ("", "tokens", "cache warm", "cache cold", "saved", "paid back after")


def _tokens(size: Size) -> str:
    return UNKNOWN if size.tokens is None else thousands(size.tokens)


def _share(one: PresetEffect) -> str:
    return saved_share(one.before, one.after) if one.before.tokens else UNKNOWN


def _paid_back(turns: float | None) -> str:
    return UNKNOWN if turns is None else f"{turns:.1f} turns" if turns else "at once"
