"""Options that several commands share, and the session that most of them take."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import click

from plait.cli.options import AGENTS, OptionGroup, Request, argument, option
from plait.errors import PlaitError, UserError
from plait.settings import load_redactor
from plait.terminal.text import safe_line

if TYPE_CHECKING:
    from click.shell_completion import CompletionItem

    from plait.redact import Redactor

MOST_OFFERED, MOST_SEARCHED = 30, 1000
"""Sessions that completion offers, and those whose titles it looks at."""


def complete_session(
    ctx: click.Context, param: click.Parameter, incomplete: str
) -> "list[CompletionItem]":
    """Offer the newest sessions whose id begins with what was typed, or whose title has it."""
    from click.shell_completion import CompletionItem as Item

    given = {**(ctx.parent.params if ctx.parent else {}), **ctx.params}
    roots, word = tuple(given.get("roots") or ()), incomplete.casefold()
    offers = [Item("latest", help="the newest session")] if "latest".startswith(word) else []
    try:
        if given.get("is_demo"):
            from plait.cli.demo import prepare_demo

            roots += (str(prepare_demo(Request().settings.cache)),)
        archive = Request(roots=roots).archive
        for session in list(reversed(archive.sessions))[:MOST_SEARCHED]:
            title = safe_line(archive.facts(session).title or "")
            if session.id.startswith(word) or word in title.casefold():
                offers.append(Item(session.id, help=title))
            if len(offers) > MOST_OFFERED:
                break
    except (PlaitError, OSError):
        return []  # a message would land in the command line
    return offers


def _set_agents(ctx: click.Context, _: click.Parameter, names: str | None) -> str | None:
    if names is None:
        return None
    from plait.sources.places import list_source_names

    wanted = frozenset(name.strip().casefold() for name in names.split(",") if name.strip())
    known = list_source_names()
    if unknown := sorted(wanted - {*known}):
        raise UserError(f"unknown agent '{unknown[0]}'", f"choose from {', '.join(known)}")
    ctx.meta[AGENTS] = wanted
    return names


session = argument(shell_complete=complete_session)
sessions = argument(metavar="[SESSION]...", shell_complete=complete_session)
name = argument(metavar="[SESSION|PROJECT]", shell_complete=complete_session)
names = argument(metavar="[SESSION|PROJECT]...", shell_complete=complete_session)
project = option("--project", metavar="NAME", help="Only projects with this in their name.")
agent = option(
    "--agent",
    metavar="LIST",
    callback=_set_agents,
    help="Only sessions of these coding agents: claude, codex, …",
)
timezone = option(
    "--timezone",
    "-z",
    metavar="ZONE",
    help="Time zone for days and hours, for example Europe/Rome or UTC.",
)
no_fold = option(
    "--no-fold",
    help="Count worktrees and sub-directories as projects of their own.",
)
no_index = option("--no-index", help="Read the logs instead of the index.")
as_json = option("--json", help="Print JSON.")
ascii_only = option("--ascii", help="Use plain ASCII characters only.")
is_dry = option("--dry-run", help="Show what would happen; change nothing.")
is_sure = option("-y", "--yes", help="Do not ask for confirmation.")
strict = option("--strict", help="Also replace values that may be secret.")
rules = option("--rules", metavar="FILE", help="A file with your own redaction rules.")


class Redaction(OptionGroup):
    """Whether and how what leaves this machine is redacted."""

    no_redact: bool = option("--no-redact", help="Do not redact secrets, names and paths.")
    strict: bool = strict
    rules: str | None = rules

    def load(self) -> "Redactor | None":
        """Return the redactor that was asked for; None for `--no-redact`."""
        if self.no_redact:
            return None
        return load_redactor(self.rules, strict=self.strict)


def install(ways: Sequence[str], help_: str) -> Any:
    """Declare `--install`, which makes a command run by itself in one of these ways."""
    return _declare_ways("--install", ways, ways, ways[0], help_)


def uninstall(ways: Sequence[str], help_: str) -> Any:
    """Declare `--uninstall`."""
    return _declare_ways("--uninstall", ways, [*ways, "all"], "all", help_)


def _declare_ways(
    name: str, ways: Sequence[str], choices: Sequence[str], default: str, help_: str
) -> Any:
    metavar = f"[{'|'.join(ways)}]"
    return option(
        name, metavar=metavar, choices=choices, is_flag=False, flag_value=default, help=help_
    )
