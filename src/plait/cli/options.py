"""Options that many commands share, to the settings, the archive and the index they mean."""

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property, wraps
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

if TYPE_CHECKING:
    from click.shell_completion import CompletionItem

    from plait.archive import Archive, Session, StorePlace
    from plait.cli.output import Output
    from plait.cli.settings import Settings
    from plait.conversation.prices import Prices


F = TypeVar("F", bound=Callable[..., Any])
LARGE = 200_000_000
"""Bytes of logs from which on it is said that an index makes this quicker."""
UNFOLDING = "plait.unfolding"
HINT = "reading all logs: `plait index` once, and this answers at once from then on"


@dataclass
class Request:
    """What every command gets: the settings, the screen and the archive, made when needed."""

    roots: tuple[str, ...] = ()
    colour: str | None = None
    has_pager: bool = True
    jobs: int | None = None
    is_folding: bool = True
    """Whether worktrees and sub-directories are of their repository's project."""

    @cached_property
    def settings(self) -> "Settings":
        """The settings of this run."""
        from plait.cli.settings import load_settings

        return load_settings(self.roots, self.colour, self.has_pager, self.jobs)

    @cached_property
    def output(self) -> "Output":
        """The screen."""
        from plait.cli.output import Output

        return Output(self.settings, self.roots)

    @cached_property
    def archive(self) -> "Archive":
        """The sessions under the roots; none where nobody named a root and there is none."""
        from plait.archive import Archive, check_log

        roots = self.settings.roots
        if self.settings.is_default_root:
            roots = tuple(root for root in roots if root.exists())
        for root in roots:
            check_log(root)
        settings = self.settings
        found = Archive(roots, jobs=settings.jobs, store=self.store, stars=settings.stars)
        found.is_folding = self.is_folding
        return found

    @property
    def root_options(self) -> list[str]:
        """What to add to a command so that it looks where this one does."""
        return [part for root in self.roots for part in ("--root", root)]

    @property
    def store(self) -> "StorePlace":
        """Where sessions are kept. Those of other machines are shown where no root is named."""
        from plait.archive import StorePlace

        settings = self.settings
        return StorePlace(settings.store, settings.shelf, settings.is_default_root)

    @property
    def has_store(self) -> bool:
        """Tells whether anything was ever kept."""
        return _is_there(self.settings.store)

    @cached_property
    def prices(self) -> "Prices":
        """The prices in force."""
        from plait.cli.settings import prices_with

        return prices_with(self.settings.prices)

    @cached_property
    def priced(self) -> "Archive":
        """The same sessions, with the prices in force."""
        from plait.archive import Archive

        roots = [root.path for root in self.archive.roots]
        settings = self.settings
        return Archive(roots, None, self.prices, settings.jobs, self.store, settings.stars)

    @property
    def indexed(self) -> "Archive":
        """The same sessions, with the index of these roots beside them."""
        self.archive.index = self.settings.index
        return self.archive

    @contextmanager
    def answering(self, *, no_index: bool) -> "Iterator[Archive]":
        """Gives the archive, answered by the index where there is one and it is wanted."""
        if no_index:
            yield self.archive
        elif _is_there(self.settings.index):
            with self.indexed as archive:
                yield archive
        else:
            if sys.stderr.isatty() and sum(file.size for file in self.archive.files) > LARGE:
                self.output.note(HINT)
            yield self.archive

    @cached_property
    def starred(self) -> frozenset[str]:
        """The ids of the sessions that are starred; a file that cannot be read is said."""
        if not _is_there(self.settings.stars):
            return frozenset()
        from plait.errors import SourceError

        try:
            return self.archive.stars.ids
        except SourceError as error:
            self.output.note(error.message)
            return frozenset()

    def session(self, name: str) -> "Session":
        """Returns the session that a user names, from where they stand."""
        return self.archive.session(name, self.settings.directory)


def grouped(*options: Callable[[F], F]) -> Callable[[F], F]:
    """Returns what adds several options, as they stand."""

    def add(function: F) -> F:
        for option in reversed(options):
            function = option(function)
        return function

    return add


_shared = grouped(
    click.option(
        "--root",
        "roots",
        metavar="DIR",
        multiple=True,
        help="Where to look: a config folder, a projects folder, any folder of logs. Repeatable.",
    ),
    click.option(
        "--colour",
        "--color",
        type=click.Choice(["auto", "always", "never"]),
        help="Colours in the output.",
    ),
    click.option("--no-pager", is_flag=True, help="Never page the output."),
    click.option(
        "--jobs",
        type=int,
        metavar="N",
        help="Processes that read where there is much to read; as many as cores, up to 8.",
    ),
)


def global_options(function: F) -> F:
    """Adds what every command knows; it may stand before or after the command."""

    @_shared
    @wraps(function)
    def wrapped(
        *args: Any,
        roots: tuple[str, ...],
        colour: str | None,
        no_pager: bool,
        jobs: int | None,
        **kwargs: Any,
    ) -> Any:
        ctx = click.get_current_context()
        request = ctx.find_object(Request) or Request()
        ctx.obj = Request(
            roots=request.roots + roots,
            colour=colour or request.colour,
            has_pager=request.has_pager and not no_pager,
            jobs=request.jobs if jobs is None else jobs,
            is_folding=not ctx.meta.get(UNFOLDING),
        )
        return function(*args, **kwargs)

    return wrapped  # type: ignore[return-value]


def _unfold(ctx: click.Context, _: click.Parameter, is_wanted: bool) -> None:
    ctx.meta[UNFOLDING] = is_wanted


fold_option = click.option(
    "--no-fold",
    is_flag=True,
    expose_value=False,
    callback=_unfold,
    help="Worktrees and sub-directories as projects of their own.",
)
json_option = click.option("--json", "as_json", is_flag=True, help="Print JSON.")


filter_options = grouped(
    click.option("--project", metavar="NAME", help="Only projects with this in their name."),
    click.option(
        "--since", metavar="TIME", help="Only what ended after: a day, a time, 7d, 12h, today."
    ),
    click.option("--until", metavar="TIME", help="Only what began before this day or time."),
)


def complete_session(
    ctx: click.Context, param: click.Parameter, incomplete: str
) -> "list[CompletionItem]":
    """Offers the newest sessions whose id begins with what was typed."""
    from click.shell_completion import CompletionItem as item  # noqa: N813

    request = Request(roots=tuple(ctx.params.get("roots") or ()))
    newest = [s for s in reversed(request.archive.sessions) if s.id.startswith(incomplete)][:30]
    offers = [item(s.id, help=request.archive.facts(s).title or "") for s in newest]
    if "latest".startswith(incomplete):
        offers.insert(0, item("latest", help="the newest session"))
    return offers


session_argument = click.argument("session", shell_complete=complete_session)
name_argument = click.argument(
    "name", metavar="[SESSION|PROJECT]", required=False, shell_complete=complete_session
)
names_argument = click.argument(
    "names", metavar="[SESSION|PROJECT]...", nargs=-1, shell_complete=complete_session
)
ascii_option = click.option(
    "--ascii", "ascii_only", is_flag=True, help="Draw with plain characters."
)
strict_option = click.option(
    "--strict", is_flag=True, help="Replace what only may be secret, too: rather a false alarm."
)
rules_option = click.option("--rules", metavar="FILE", help="Your own rules of what to replace.")
no_index_option = click.option(
    "--no-index", is_flag=True, help="Read the logs, whatever the index says."
)


def _is_there(folder: Path) -> bool:
    try:
        return folder.exists()
    except OSError:
        return False
