"""`plait trim`: removes what fills a session's context, or shows what does."""

import re
from collections.abc import Iterable, Sequence
from datetime import timedelta
from typing import Any

import click

from plait.archive import PresetEffect, Session, list_preset_effects, weigh_context
from plait.cli import shared
from plait.cli.edit import InPlaceOptions, run_plan
from plait.cli.options import OptionGroup, Request, argument, command, option
from plait.edit.cuts import PRESET_NAMES, TRIM_KINDS, TRIM_LIMITS, TRIM_TARGETS, WAYS, CustomPreset
from plait.edit.report import UNKNOWN, format_saved_share
from plait.edit.trim import find_preset, parse_custom_presets
from plait.errors import SessionIsLive, UserError
from plait.record.time_words import UNITS
from plait.terminal.output import make_text, select_fields
from plait.terminal.text import format_number, safe_line, shell_command, short_id
from plait.view.context import FillItem
from plait.view.formats import format_count, format_money_column, format_tokens
from plait.view.text import count_columns, shorten_to_width

AMOUNT = re.compile(r"(\d{1,9})([km]?)", re.IGNORECASE)
FACTORS = {"": 1, "k": 1000, "m": 1_000_000}
LABELS = {
    "results": "tool results",
    "reports": "agent reports",
    "thinking": "thinking",
    "pictures": "images and documents",
    "reminders": "reminders and notes",
    "calls": "tool calls",
    "answers": "answers",
    "prompts": "prompts and summaries",
    "rereads": "repeated file reads (part of the tool results)",
}
ITEMISED = ("results", "reports", "pictures", "reminders", "rereads")
MOST_ITEMS = 3


class Amount(click.ParamType[int]):
    """A number of characters: `800`, `10k`, `2m`."""

    name = "N"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> int:
        match = AMOUNT.fullmatch(str(value).strip())
        if not match:
            self.fail(f"'{value}' is not a number of characters: use 800, 10k or 2m", param, ctx)
        return int(match[1]) * FACTORS[match[2].lower()]


class Age(click.ParamType[timedelta]):
    """A length of time: `45m`, `12h`, `2d`, `3w`."""

    name = "AGE"

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> timedelta:
        text = str(value).strip()
        if not (text[:-1].isdecimal() and len(text) < 8 and text[-1] in UNITS):
            self.fail(f"'{value}' is not an age: use 45m, 12h, 2d or 3w", param, ctx)
        return timedelta(**{UNITS[text[-1]]: int(text[:-1])})


class PresetName(click.Choice[str]):
    """A preset: a built-in one, or one of the configuration, which is looked up later."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> str:
        return str(value)


class CutOptions(OptionGroup):
    """What to remove, and how."""

    preset: str | None = argument(type=PresetName(PRESET_NAMES))
    tools: tuple[str, ...] = option(
        "--tool",
        metavar="NAME",
        help="Calls of this tool, or of all tools that match a pattern such as `mcp__x__*`.",
    )
    calls: tuple[str, ...] = option("--call", metavar="ID", help="The call with this id.")
    larger_than: int | None = option(
        "--larger-than", type=Amount(), help="Calls with more characters than this: 800, 10k."
    )
    older_than: timedelta | None = option(
        "--older-than", type=Age(), help="Only calls older than this: 12h, 2d."
    )
    except_last: int | None = option(
        "--except-last", least=0, metavar="N", help="Leave the last N turns unchanged."
    )
    way: str | None = option(
        "--way",
        choices=WAYS,
        help="Remove calls with their results, truncate results, or replace them with one line.",
    )
    keep: int | None = option(
        "--keep", least=0, metavar="N", help="How many characters of a truncated result to keep."
    )


@command(
    *(
        click.option(f"--{kind.replace('_', '-')}", is_flag=True, help=summary)
        for kind, summary in TRIM_KINDS.items()
    ),
    examples="plait trim latest\nplait trim latest standard --dry-run\n"
    "plait trim latest --tool Bash --larger-than 10k",
)
def trim_command(
    request: Request,
    session: str = shared.session,
    *,
    cuts: CutOptions,
    how: InPlaceOptions,
    **kinds: bool,
) -> None:
    """Remove what SESSION no longer needs, so that it fits into the context and costs less.

    Writes a new session and does not change the old one. Your prompts always stay. Without
    a preset or a selection: show what fills the context and what each preset would save.
    """
    custom = parse_custom_presets(request.settings.trim_presets)
    choices = vars(cuts) | kinds
    given = trim_choices(choices)
    default = request.settings.trim_preset
    if given is None and default and (how.in_place or how.is_sure or how.is_proved or how.is_dry):
        given = trim_choices({**choices, "preset": default})
    if given and "preset" in given:
        given["preset"] = find_preset(given["preset"], custom)
    source = request.session(session)
    if given is None:
        is_edit = how.in_place or how.is_sure or how.is_proved
        if is_edit or any(choices[name] for name in TRIM_LIMITS):
            raise UserError(
                "nothing selected to remove",
                "use a preset (`plait trim SESSION standard`) or select what to remove: "
                "`--tool Bash --larger-than 10k`",
                "`plait trim SESSION` shows what fills the context and what each preset would save",
            )
        print_context_fill(request, source, custom.values(), as_json=how.as_json)
        return
    plan = request.priced_archive.plan.trim(source, in_place=how.in_place, **given)
    try:
        run_plan(request, source, plan, how)
    except SessionIsLive as refusal:
        words = [cuts.preset] if cuts.preset else []
        fork = shell_command("plait", "trim", short_id(source.id), *words, *request.root_options)
        resume = shell_command("plait", "resume", "FORK", "--run", *request.root_options)
        raise SessionIsLive(
            refusal.message,
            f"trim a fork instead: `{fork}`{'' if words else ' with the same options'}, exit Claude "
            f"Code, and continue with `{resume}`, where FORK is the id that the first command prints",
            *refusal.hints,
        ) from None


def trim_choices(choices: dict[str, Any]) -> dict[str, Any] | None:
    """Return the arguments for `plan.trim`, or None if nothing to remove was named."""
    way, keep = choices["way"], choices["keep"]
    if keep is not None and way not in (None, "cut"):
        raise UserError("`--keep` sets the length of truncated results", "use it with `--way cut`")
    given = {name: value for name, value in choices.items() if value not in (None, (), False)}
    if not given.keys() & set(TRIM_TARGETS):
        return None
    if keep is not None:
        given["way"] = "cut"
    return given


def print_context_fill(
    request: Request, session: Session, custom: Iterable[CustomPreset] = (), *, as_json: bool
) -> None:
    """Print what fills the context of a session, and what each preset would save."""
    output, archive = request.output, request.priced_archive
    weighed = weigh_context(archive.open(session), session.id, request.prices)
    effects = list(list_preset_effects(archive, session, custom))
    if as_json:
        figures = select_fields(weighed, "tokens", "window", "estimated", "fills")
        output.json({"session": session.id, **figures, "presets": effects})
        return
    with output.paged():
        output.print_heading(request.archive.facts(session))
        if weighed.fills:
            messages = format_count(len(weighed.messages), "message")
            estimate = f"about {format_tokens(weighed.estimated)}"
            if weighed.tokens is None:
                total = f"{estimate} tokens in {messages}"
            else:
                total = f"{format_tokens(weighed.tokens)} tokens after the last answer, "
                is_part = weighed.estimated < weighed.tokens
                total += f"{estimate} of them in {messages}" if is_part else messages
            output.print(total, style="bold")
            if weighed.next_prompt:
                output.print(weighed.next_prompt.sentence)
            output.print("")
            width = max(len(format_number(fill.count)) for fill in weighed.fills)
            for fill in weighed.fills:
                count = format_number(fill.count)
                line = f"{format_tokens(fill.tokens):>6}  {count:>{width}}  {LABELS[fill.kind]}"
                output.print_lines([make_text(line)])
                items = fill.largest[:MOST_ITEMS] if fill.kind in ITEMISED else ()
                lines = (_format_item(item, width + 8, output.width) for item in items)
                output.print_lines(make_text(line, style="dim") for line in lines if line)
            output.print("")
        else:
            output.print(weighed.why_not or "nothing is sent")
        _print_presets(request, session, effects)


def _format_item(item: FillItem, indent: int, width: int) -> str:
    if not item.tokens:
        return ""
    facts = [f"{item.times} times"] if item.times > 1 else []
    facts += [f"turn {item.turn}"] if item.turn else []
    facts += [f"line {item.line}"] if item.line else []
    end = ", ".join(facts)
    start = f"{'':{indent}}{format_tokens(item.tokens):>6}  "
    room = width - len(start) - len(end) - 2
    words = clip_item(safe_line(item.words), max(room, 8))
    return f"{start}{words}{' ' * max(room - count_columns(words), 0)}  {end}"


def clip_item(words: str, room: int) -> str:
    """Shorten the name of an item; of a tool and a path, both ends of the path stay."""
    tool, _, path = words.rpartition(" ") if words.count(" ") < 2 else ("", "", "")
    start = max(room // 4, len(tool) + 2)
    if count_columns(words) <= room or not path or not words.isascii() or start + 8 >= room:
        return shorten_to_width(words, room)
    return f"{words[:start]}…{words[start + 1 - room :]}"


def _print_presets(request: Request, session: Session, effects: Sequence[PresetEffect]) -> None:
    output = request.output
    if not effects or all(effect.after == effect.before for effect in effects):
        output.print("no preset would change anything")
        return
    sizes = [effects[0].before, *(effect.after for effect in effects)]
    tokens = [UNKNOWN if size.tokens is None else format_tokens(size.tokens) for size in sizes]
    warm, cold = (
        format_money_column([getattr(size.cost_usd, name, None) for size in sizes], UNKNOWN)
        for name in ("warm", "cold")
    )
    headings = ("", "tokens", "cache warm", "cache cold", "saved", "break-even after")
    rows: list[Any] = [[make_text(name, style="dim") for name in headings]]
    rows.append((make_text("now", style="dim"), tokens[0], warm[0], cold[0], "", ""))
    for place, effect in enumerate(effects, 1):
        share = format_saved_share(effect.before, effect.after) if effect.before.tokens else UNKNOWN
        turns = effect.break_even_turns
        payback = UNKNOWN if turns is None else f"{turns:.1f} turns" if turns else "immediately"
        rows.append((effect.preset, tokens[place], warm[place], cold[place], share, payback))
    output.print_grid(rows, right=range(1, 6), gap=3)
    output.print("")
    line = f"`plait trim {shell_command(short_id(session.id))} standard --dry-run`"
    output.print_message(f"{line} shows what would be removed", style="dim")
