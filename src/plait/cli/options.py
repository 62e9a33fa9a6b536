"""What every command shares: the `Request` with settings, output and archive, and common options."""

import re
import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property, wraps
from inspect import get_annotations, signature
from itertools import chain
from pathlib import Path
from types import UnionType
from typing import TYPE_CHECKING, Any, Literal, TypeVar, Union, get_args, get_origin

import click

from plait.errors import SourceError
from plait.lazy import LazyModule

if TYPE_CHECKING:
    from plait import archive as facade
    from plait import settings as configuration
    from plait.archive import Archive, Session, StorePlace
    from plait.conversation.prices import Prices
    from plait.settings import Settings
    from plait.terminal import output as terminal
    from plait.terminal.output import Output
else:
    facade = LazyModule("plait.archive")
    configuration = LazyModule("plait.settings")
    terminal = LazyModule("plait.terminal.output")

F = TypeVar("F", bound=Callable[..., Any])
LARGE = 200_000_000
"""Bytes of logs from which on the index is recommended."""
AGENTS = "plait.agents"
GENERAL = {"roots", "is_demo", "colour", "no_pager", "jobs"} | {
    *("is_verbose", "is_debugging", "_click_default_help")
}
"""The parameters of every command, listed last in its help."""
OWN = "Options"
SECTIONS: dict[str, set[str]] = {
    OWN: set(),
    "Selection": {
        *("--project", "--since", "--until", "--agent", "--timezone", "--no-fold", "--no-index")
    },
    "Making changes": {"--dry-run", "--in-place", "--prove", "--yes", "--force"},
    "Output": {"--json", "--csv", "--ascii"},
}
"""The sections of help; the first has what belongs to none of the others."""
RANGE = re.compile(r"(?:; |(?<=\[))[^;\[\]]*x[<>][^;\[\]]*(?=\])")
"""The range of a number as click describes it."""


@dataclass
class Request:
    """What a command works with: settings, output and archive, each made when it is needed."""

    roots: tuple[str, ...] = ()
    colour: str | None = None
    has_pager: bool = True
    jobs: int | None = None
    is_folding: bool = True
    """Whether worktrees and sub-directories count as part of their repository's project."""
    agents: frozenset[str] | None = None
    """The coding agents whose sessions are wanted, all for None."""
    demo: str | None = None
    """The root with the example sessions, if `--demo` was given."""

    @cached_property
    def settings(self) -> "Settings":
        """The settings of this run."""
        return configuration.load_settings(self.roots, self.colour, self.has_pager, self.jobs)

    @cached_property
    def output(self) -> "Output":
        """Where results, notes and progress are written."""
        return terminal.Output(self.settings, self.root_options)

    @cached_property
    def archive(self) -> "Archive":
        """The sessions under the roots; a default root that does not exist is left out."""
        settings = self.settings
        roots = settings.roots
        if settings.is_default_root:
            roots = tuple(root for root in roots if root.exists())
        for root in roots:
            facade.check_log(root)
        return self._make_archive(roots)

    def _make_archive(self, roots: Iterable[Path], prices: "Prices | None" = None) -> "Archive":
        settings = self.settings
        places = self.store, settings.stars, settings.translations
        archive = facade.Archive(roots, None, prices, settings.jobs, *places)
        archive.is_folding, archive.agents = self.is_folding, self.agents
        return archive

    @property
    def root_options(self) -> list[str]:
        """The `--root` and `--demo` options to repeat in a suggested command."""
        options = (["--demo"] if root == self.demo else ["--root", root] for root in self.roots)
        return list(chain.from_iterable(options))

    @property
    def store(self) -> "StorePlace":
        """The backup store. Sessions of other machines count only if no root was named."""
        settings = self.settings
        return facade.StorePlace(settings.store, settings.unpack_folder, settings.is_default_root)

    @property
    def has_store(self) -> bool:
        """Whether anything was ever backed up."""
        return _exists(self.settings.store)

    @cached_property
    def prices(self) -> "Prices":
        """The prices in effect."""
        return configuration.load_prices(self.settings.prices)

    @cached_property
    def priced_archive(self) -> "Archive":
        """The same sessions, with the prices in effect."""
        return self._make_archive([root.path for root in self.archive.roots], self.prices)

    @property
    def indexed_archive(self) -> "Archive":
        """The same sessions, with the index of these roots."""
        self.archive.index = self.settings.index
        return self.archive

    @contextmanager
    def open_archive(self, *, no_index: bool) -> "Iterator[Archive]":
        """Yield the archive, answering from the index if there is one and it is wanted."""
        if no_index:
            yield self.archive
        elif _exists(self.settings.index):
            with self.indexed_archive as archive:
                yield archive
        else:
            if sys.stderr.isatty() and sum(file.size for file in self.archive.files) > LARGE:
                self.output.note("reading all logs; run `plait index` once to make this fast")
            yield self.archive

    @cached_property
    def starred(self) -> frozenset[str]:
        """The ids of the starred sessions; an unreadable file is noted, not an error."""
        if not _exists(self.settings.stars):
            return frozenset()

        try:
            return self.archive.stars.ids
        except SourceError as error:
            self.output.note(error.message)
            return frozenset()

    def session(self, name: str) -> "Session":
        """Return the session that a user names; relative names start at the current directory."""
        return self.archive.session(name, self.settings.directory)


class GroupedHelp(click.Command):
    """A command whose help lists its own options first, then shared ones by what they are for."""

    def __init__(self, *args: Any, **settings: Any) -> None:
        super().__init__(*args, **settings)
        params, self.params = self.params, []
        names: set[str] = set()
        for param in params:  # a general option yields to one of the command's own of that name
            if isinstance(param, click.Argument) or names.isdisjoint(param.opts):
                self.params.append(param)
                names.update(param.opts)

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        general: list[tuple[str, str]] = []
        sections: dict[str, list[tuple[str, str]]] = {name: [] for name in SECTIONS}
        for param in self.get_params(ctx):
            if (record := param.get_help_record(ctx)) and isinstance(param, click.Option):
                found = (name for name, options in SECTIONS.items() if options & {*param.opts})
                section = getattr(param, "section", None) or next(found, OWN)
                rows = general if param.name in GENERAL else sections[section]
                rows.append((record[0], RANGE.sub("", record[1]).removesuffix("[]").rstrip()))
        for heading, rows in sections.items():
            if rows:
                with formatter.section(heading):
                    formatter.write_dl(rows)
        if isinstance(self, click.Group):
            self.format_commands(ctx, formatter)
        with formatter.section("General options"):
            formatter.write_dl(general)

    def format_epilog(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the examples, one a line."""
        if self.epilog:
            with formatter.section("Examples"):
                for line in self.epilog.splitlines():
                    formatter.write_text(line)


class Option(click.Option):
    """An option that may be in another section of help than others of its name."""

    def __init__(self, *args: Any, section: str | None = None, **settings: Any) -> None:
        super().__init__(*args, **settings)
        self.section = section


class Declared:
    """An option or argument, declared as the default of a parameter, or in a group of options."""

    def __init__(
        self, kind: type[click.Parameter], names: tuple[str, ...], settings: dict[str, Any]
    ) -> None:
        self.kind, self.names, self.settings = kind, names, settings

    def build(self, name: str, hint: Any) -> click.Parameter:
        """Return the parameter for click; what the annotation says need not be said again.

        That is a flag for `bool`, a choice for a Literal, several values for a tuple, an argument
        that may be left out for `| None`.
        """
        settings = dict(self.settings)
        if get_origin(hint) in (Union, UnionType):
            hint, *_ = get_args(hint)
            if self.kind is click.Argument:
                settings.setdefault("required", False)
        if get_origin(hint) is tuple and ... in get_args(hint):
            hint, *_ = get_args(hint)
            settings |= {"nargs": -1} if self.kind is click.Argument else {"multiple": True}
        choices = get_args(hint) if get_origin(hint) is Literal else settings.pop("choices", ())
        if choices:
            settings["type"] = click.Choice(choices)
        if hint is bool:
            settings["is_flag"] = True
        elif hint in (int, float):
            kind = click.IntRange if hint is int else click.FloatRange
            least, most = settings.pop("least", None), settings.pop("most", None)
            settings.setdefault("type", kind(least, most))
            settings.setdefault("metavar", "N")
        return self.kind([*self.names, name], **settings)


def option(*names: str, **settings: Any) -> Any:
    """Declare an option: its names and the settings of `click.Option`.

    Also `choices`, the bounds `least` and `most`, and the `section` of help.
    """
    return Declared(Option, names, settings)


def argument(**settings: Any) -> Any:
    """Declare an argument, with the settings of `click.Argument`."""
    return Declared(click.Argument, (), settings)


class OptionGroup:
    """Options that several commands share, or that belong together: one value of typed fields."""

    def __init__(self, **values: Any) -> None:
        """Set the fields; an option that is not given is off, none or empty."""
        for name, hint in self.list_fields():
            empty = False if hint is bool else () if get_origin(hint) is tuple else None
            setattr(self, name, values.get(name, empty))

    @classmethod
    def list_fields(cls) -> list[tuple[str, Any]]:
        """Return the options' names and types, those of a base class first."""
        hints: dict[str, Any] = {}
        for base in reversed(cls.__mro__):
            hints |= get_annotations(base)
        return [pair for pair in hints.items() if isinstance(getattr(cls, pair[0]), Declared)]


def command(
    *options: Callable[[Any], Any], examples: str = "", cls: type[click.Command] = GroupedHelp
) -> Callable[[Callable[..., Any]], click.Command]:
    """Return a decorator that makes a function a command.

    The function gets the `Request` first, and declares its options as defaults of the others.
    """

    def decorate(function: Callable[..., Any]) -> click.Command:
        params: list[click.Parameter] = []
        groups: dict[str, type[OptionGroup]] = {}
        for name, parameter in [*signature(function).parameters.items()][1:]:
            hint = parameter.annotation
            if isinstance(parameter.default, Declared):
                params.append(parameter.default.build(name, hint))
            elif isinstance(hint, type) and issubclass(hint, OptionGroup):
                groups[name] = hint
                params += [getattr(hint, of).build(of, type_) for of, type_ in hint.list_fields()]

        @combine_options(*options, global_options)
        @wraps(function)
        def run(**values: Any) -> Any:
            for name, group in groups.items():
                values[name] = group(
                    **{field: values.pop(field) for field, _ in group.list_fields()}
                )
            return function(click.get_current_context().obj, **values)

        return click.command(cls=cls, params=params, epilog=examples)(run)

    return decorate


def combine_options(*options: Callable[[Any], Any]) -> Callable[[F], F]:
    """Return a decorator that adds several options, in this order."""

    def add(function: F) -> F:
        for option in reversed(options):
            function = option(function)
        return function

    return add


def global_options(function: F) -> F:
    """Add the options of every command; they may stand before or after its name."""

    @combine_options(
        click.option(
            "--root",
            "roots",
            metavar="DIR",
            multiple=True,
            help="Read logs from this config folder, projects folder, folder of logs or file. "
            "Repeatable.",
        ),
        click.option(
            "--demo", "is_demo", is_flag=True, help="Use the example sessions that come with Plait."
        ),
        click.option(
            "--colour",
            "--color",
            type=click.Choice(["auto", "always", "never"]),
            metavar="WHEN",
            help="Use colours: auto, always or never.",
        ),
        click.option("--no-pager", is_flag=True, help="Do not use a pager."),
        click.option(
            "--jobs",
            type=int,
            metavar="N",
            help="Processes for reading large archives; default: one per core, at most 8.",
        ),
        click.option(
            "--verbose", "is_verbose", is_flag=True, help="Print what is read, written and run."
        ),
        click.option(
            "--debug",
            "is_debugging",
            is_flag=True,
            help="Also write these messages to a redacted log file for bug reports.",
        ),
    )
    @wraps(function)
    def wrapped(
        *args: Any,
        roots: tuple[str, ...],
        is_demo: bool = False,
        is_verbose: bool = False,
        is_debugging: bool = False,
        colour: str | None,
        no_pager: bool,
        jobs: int | None,
        **kwargs: Any,
    ) -> Any:
        ctx = click.get_current_context()
        request, agents = ctx.find_object(Request) or Request(), ctx.meta.get(AGENTS)
        if is_verbose or is_debugging:
            from plait.cli.debug import start_recording

            file = configuration.read_state_folder() / "debug.log" if is_debugging else None
            start_recording(file, is_printing=is_verbose)
        demo = request.demo
        if is_demo:
            from plait.cli.demo import prepare_demo

            demo = str(prepare_demo(request.settings.cache))
            roots += (demo,)
        if roots or colour or no_pager or jobs is not None or agents is not None:
            request = Request(
                roots=request.roots + roots,
                colour=colour or request.colour,
                has_pager=request.has_pager and not no_pager,
                jobs=request.jobs if jobs is None else jobs,
                agents=agents,
                demo=demo,
            )
        ctx.obj = request
        return function(*args, **kwargs)

    return wrapped  # type: ignore[return-value]


def _exists(folder: Path) -> bool:
    try:
        return folder.exists()
    except OSError:
        return False
