"""How to resume a session in Claude Code: command, directory, warnings, what Claude will see.

A session stays in the project folder of the directory it was started in, even if it moved to
another one. Newer versions of Claude Code find it from anywhere by its id, older ones only from the
directory that the folder is named after, so the command uses that one.
"""

import shutil
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path, PurePosixPath, PureWindowsPath
from shlex import join, quote
from typing import TYPE_CHECKING, Literal, TypeAlias

from msgspec import Struct

from plait.errors import UserError
from plait.graph.client import Context, Reason, find_last_answer, list_contributions
from plait.graph.client import build_context as client_context
from plait.graph.client.context import align_reasons
from plait.graph.client.entries import Block, LeftOut
from plait.graph.model import PREVIEW
from plait.line import iter_lines, make_project_slug
from plait.line.files import fetch_missing
from plait.record import Record, Usage
from plait.record.prompts import collapse_whitespace
from plait.record.reader import read_if_exists
from plait.sessions.discovery import is_uuid
from plait.sessions.model import Session, SessionRef
from plait.sessions.names import NUMBER, resolve_turn
from plait.sessions.open_session import OpenSession, open_session
from plait.sources.base import SourceLog, load_source

if TYPE_CHECKING:
    from plait.conversation.next_prompt import NextPrompt


@dataclass(frozen=True)
class Resumption:
    """What Claude will see of a session, and what its last response says about its size."""

    context: "Context"
    usage: Usage | None
    """Usage of the last response on the chain; None if none is recorded."""
    answer: str | None
    """The record with that usage."""
    records: Sequence[Record] = field(default=(), repr=False)
    """All records it consists of."""
    size: int = 0
    sent: "Sequence[tuple[Record, list[Block]]] | None" = field(default=None, repr=False)
    """The records that another agent sends, each with the part that is sent."""

    @property
    def tokens(self) -> int | None:
        """The tokens in the context after the last response, including it."""
        return self.usage.in_context if self.usage else None

    @cached_property
    def contributions(self) -> "list[tuple[Record, list[Block]]]":
        """The records that are sent, each with the part that is sent."""
        if self.sent is not None:
            return [*self.sent]
        return list_contributions(self.records, self.size)

    @cached_property
    def next_prompt(self) -> "NextPrompt":
        """What the next prompt sends in Claude Code: tokens and price."""
        from plait.conversation.next_prompt import estimate_next_prompt

        return estimate_next_prompt(self.records, self.size, self.contributions)


def build_resumption(
    given: Session | OpenSession, as_: Literal["client", "sdk"] = "client"
) -> Resumption:
    """Return what the client sends when it resumes a session, or what the SDK returns."""
    session = given.session if isinstance(given, OpenSession) else given
    if session.origin is not None:
        return _build_agent_resumption(given, session, session.origin, as_)
    if session.file is None:
        raise UserError(
            f"session '{session.id}' has no log; only its agents' logs are left",
            f"`plait ls --long` shows the folder of '{session.id[:8]}'",
        )
    found = given if isinstance(given, OpenSession) else open_own_log(session)
    path = session.file.path
    if found.stamps.get(str(path)) is None:
        next(iter_lines(path), None)  # gone: raises
    records = found.client_records if as_ == "client" else found.records
    resumption = resume_records(records, session.file.size, as_)
    if as_ == "client":
        aligned = align_reasons(found.client_graph, found.id, resumption.context)
        return replace(resumption, context=aligned)
    return resumption


def _build_agent_resumption(
    given: Session | OpenSession,
    session: Session,
    origin: "SourceLog",
    as_: Literal["client", "sdk"],
) -> Resumption:
    """Return what another agent sends when it resumes a session, by its own rule."""
    if not Path(origin.path).exists():
        fetch_missing(Path(origin.path))
    hint = f"`plait show {session.id[:8]}` shows the conversation"
    if as_ == "sdk":
        raise UserError(f"the Python SDK does not read sessions of {session.agent}", hint)
    messages = load_source(origin.source).read_context(origin)
    if messages is None:
        sentence = f"Plait does not know what {session.agent} sends when it resumes this session"
        raise UserError(sentence, hint)
    found = given if isinstance(given, OpenSession) else open_own_log(session)
    places = {(item.path, line): item for item in messages[::-1] for line in item.lines}
    sent: dict[int, tuple[Record, list[Block]]] = {}
    chain: list[str] = []
    left_out: list[LeftOut] = []
    for record in found.records:
        if not record.uuid:
            continue
        fields = record.fields
        is_message = record.type in ("user", "assistant")
        message = places.get((fields.get("sourceFile"), fields.get("sourceLine", 0)))
        if record.is_sidechain:
            left_out.append(LeftOut(record.uuid, record.line, Reason.SIDECHAIN))
        elif message and (is_message or fields.get("subtype") == "informational"):
            chain.append(record.uuid)
            sent.setdefault(id(message), (record, message.content))
        else:
            reason = Reason.ABANDONED if is_message else Reason.SYSTEM
            left_out.append(LeftOut(record.uuid, record.line, reason))
    request = [(message.role, message.content) for message in messages]
    seen = Context(
        resumes=True,
        why_not=None,
        leaf=chain[-1] if chain else None,
        chain=tuple(chain),
        messages=request,
        request=request,
        left_out=tuple(left_out),
    )
    answer = find_last_answer(found.records, chain)
    usage = answer.message.usage if answer and answer.message else None
    aligned = align_reasons(found.graph, found.id, seen)
    uuid = answer.uuid if answer else None
    return Resumption(aligned, usage, uuid, found.records, sent=[*sent.values()])


def resume_records(
    records: Sequence[Record], size: int, as_: Literal["client", "sdk"] = "client"
) -> Resumption:
    """Return what is sent for a file with these records and this size."""
    seen = client_context(records, size=size, as_=as_)
    answer = find_last_answer(records, seen.chain)
    usage = answer.message.usage if answer and answer.message else None
    return Resumption(seen, usage, answer.uuid if answer else None, records, size)


def context(session: SessionRef, as_: Literal["client", "sdk"] = "client") -> "Context":
    """Return what Claude will see when a session, or the session of a file, is resumed."""
    from plait.sessions.library import SessionLibrary

    if not isinstance(session, Session):
        session = SessionLibrary([session]).session_at(Path(session))
    return SessionLibrary([]).context(session, as_)


def open_own_log(session: Session) -> OpenSession:
    """Read the session's own file, which is all that a context depends on."""
    return OpenSession((session.file,) if session.file else (), session)


CLIENT = "claude"
# Measured with 2.1.325; that older ones do not is reported by users.
FROM_ANYWHERE = "only newer versions find the session from another directory"
BY_PATH = "only newer versions can resume it, by its path"
Code: TypeAlias = Literal[
    "live", "no directory", "gone", "elsewhere", "moved", "renamed", "no config"
]


class ResumeWarning(Struct, frozen=True):
    """Something to know before a session is resumed."""

    code: Code
    sentence: str


class RewindTarget(Struct, frozen=True):
    """The turn to go back to once the session is resumed."""

    turn: int
    turns: int
    uuid: str
    prompt: str | None
    """Its first words; None if it has none, for example an image."""
    is_in_reach: bool
    """Whether the context still contains it: a compaction or a fresh start may come later."""
    is_elsewhere: bool = False
    """Whether it is on another branch than the active one."""


class Resume(Struct, frozen=True):
    """How to resume a session."""

    session: str
    why_not: str | None
    """Why it cannot be resumed; None if it can."""
    directory: str | None
    """Where to run the client; None if no record says."""
    config: Path | None
    """The configuration folder to name; None if it is the client's default."""
    warnings: tuple[ResumeWarning, ...] = ()
    back: RewindTarget | None = None
    is_kept: bool = False
    """Whether it must be restored from the backup first."""
    agent_command: tuple[str, ...] = ()
    """The command that resumes it in another agent."""

    @property
    def command(self) -> tuple[str, ...]:
        """The client and its arguments."""
        return self.agent_command or (CLIENT, "--resume", self.session)

    @property
    def line(self) -> str:
        """What to type in a shell, quoted."""
        config = f"CLAUDE_CONFIG_DIR={quote(str(self.config))} " if self.config else ""
        place = f"cd {quote(self.directory)} && " if self.directory else ""
        return f"{place}{config}{join(self.command)}"

    def warning(self, *codes: Code) -> ResumeWarning | None:
        """Return the first warning of these kinds."""
        return next((warning for warning in self.warnings if warning.code in codes), None)


def plan_resume(
    session: Session, *, default: Path, is_live: bool = False, turn: int | str | None = None
) -> Resume:
    """Return how to resume a session, given the client's default folder.

    With a turn, also how to rewind to it.
    """
    if session.origin is not None:
        return _plan_agent_resume(session.id, session.origin)
    found: dict[str, None] = {}
    for record in read_if_exists(session.file.path) if session.file else ():
        cwd = record.cwd
        if (
            cwd
            and not record.is_sidechain
            and (PurePosixPath(cwd).is_absolute() or PureWindowsPath(cwd).is_absolute())
        ):
            found.pop(cwd, None)
            found[cwd] = None
    held = list(found)
    named = [item for item in held if make_project_slug(item) == session.project]
    directory = next(reversed(named or held), None)
    config = _find_other_config(session.config, default)
    if session.is_kept:
        why_not = "the session is only in the backup; restore it first"
    elif session.file is None:
        why_not = "the session has no log; only its agents' logs are left"
    elif not is_uuid(session.id):
        why_not = f"'{session.id}' is not a UUID, which Claude Code requires"
    else:
        why_not = None
    context = None if why_not else build_resumption(session).context
    if context is None or not context.resumes:
        why_not = context.why_not if context else why_not
        return Resume(session.id, why_not, directory, config, is_kept=session.is_kept)
    return Resume(
        session=session.id,
        why_not=None,
        directory=directory,
        config=config,
        warnings=tuple(_iter_warnings(session, directory, held[-1:], is_live=is_live)),
        back=_plan_rewind(session, context, turn) if turn is not None else None,
    )


def _plan_agent_resume(session: str, origin: "SourceLog") -> Resume:
    command = tuple(load_source(origin.source).resume_command(origin))
    return Resume(session, None, origin.cwd, None, agent_command=command)


def format_resume_command(session: Session, directory: str | None, default: Path | None) -> str:
    """Return the command line that resumes a session, given the client's default folder."""
    if session.origin is not None:
        return _plan_agent_resume(session.id, session.origin).line
    config = _find_other_config(session.config, default) if default else session.config
    return Resume(session.id, None, directory, config).line


def format_resume_at_turn(
    session: Session, roots: Sequence[Path], default: Path | None, program: str = "plait"
) -> str:
    """Return the command that resumes a session right before one of its turns.

    It works in any folder.
    """
    held = [root for root in roots if session.path.is_relative_to(root)]
    is_usual = default is not None and held[:1] == [default]
    where = [] if is_usual or session.is_kept else [str(root.absolute()) for root in held[:1]]
    restoring = ["--restore"] if session.is_kept else []
    looking = ["--root", *where] if where else []
    return f"{program} {join(['resume', session.id, *restoring, *looking, '--at'])}"


def _find_other_config(config: Path | None, default: Path) -> Path | None:
    if config is None or config.resolve() == default.resolve():
        return None
    return config.resolve()


def _iter_warnings(
    session: Session, directory: str | None, last: list[str], *, is_live: bool
) -> Iterable[ResumeWarning]:
    if is_live:
        yield ResumeWarning(
            "live",
            "Claude Code is already running this session; two processes would write to one log",
        )
    if directory is None:
        yield ResumeWarning("no directory", "no record contains the session's directory")
    else:
        is_there = _is_folder(directory)
        if not is_there:
            sentence = f"'{directory}' does not exist: {FROM_ANYWHERE}"
            yield ResumeWarning("gone", sentence)
        slug = make_project_slug(str(Path(directory).resolve()) if is_there else directory)
        if slug != session.project:
            yield ResumeWarning(
                "elsewhere",
                f"the session is stored in project folder '{session.project}', "
                f"but '{directory}' belongs to '{slug}': {FROM_ANYWHERE}",
            )
    if last and last[0] != directory:
        yield ResumeWarning(
            "moved",
            f"the last directory was '{last[0]}', but the project folder belongs to '{directory}'",
        )
    if session.path.stem != session.id:
        yield ResumeWarning(
            "renamed",
            f"the session's file is '{session.path.name}', not '{session.id}.jsonl': {BY_PATH}",
        )
    if session.config is None:
        sentence = f"the log is outside Claude Code's folders: {BY_PATH}"
        yield ResumeWarning("no config", sentence)


def _is_folder(directory: str) -> bool:
    try:
        return Path(directory).is_dir()
    except (OSError, ValueError):
        return False


def _plan_rewind(session: Session, context: "Context", name: int | str) -> RewindTarget:
    found = open_session(session)
    turns = [turn for turn in found.turns if turn.opener]
    if NUMBER.fullmatch(str(name)) and not 1 <= int(name) <= len(turns):
        count = f"{len(turns)} turn" + "s" * (len(turns) != 1)
        raise UserError(
            f"no turn {name}: the active conversation has {count}",
            f"`plait show {quote(session.id[:8])} --depth prompts` shows them",
        )
    turn = resolve_turn(found, name)
    if turn.opener is None:
        raise UserError(f"turn {turn.number} has no prompt to go back to")
    uuid = turn.opener.uuid or ""
    lost = {
        left_out.uuid
        for left_out in context.left_out
        if left_out.reason is Reason.BEFORE_COMPACTION
    }
    words = collapse_whitespace(turn.opener.text)[:PREVIEW] or None
    is_elsewhere = all(item.opener is not turn.opener for item in turns)
    is_in_reach = uuid in context.chain and uuid not in lost
    return RewindTarget(turn.number, len(turns), uuid, words, is_in_reach, is_elsewhere)


def client_command(resume: Resume, *, force: bool = False) -> list[str]:
    """Return the command that resumes a session now; fail where it should not be run."""
    if resume.why_not:
        hint = f"`plait resume {resume.session[:8]} --restore --run`"
        raise UserError(f"refusing to run: {resume.why_not}", *[hint] * resume.is_kept)
    if gone := resume.warning("gone", "no directory"):
        hints = [f"`{join(resume.command)}` may find the session from any directory"]
        if resume.directory:
            create = join(("mkdir", "-p", resume.directory))
            hints.insert(0, f"`{create}` recreates the directory")
        raise UserError(f"refusing to run: {gone.sentence}", *hints)
    live = resume.warning("live")
    if live and not force:
        raise UserError(f"refusing to run: {live.sentence}", "add `--force` to run it anyway")
    words = list(resume.command)
    if shutil.which(words[0]) is None:
        raise UserError(
            f"'{words[0]}' was not found in PATH", "leave out `--run` to print the command"
        )
    if resume.config:
        words = ["env", f"CLAUDE_CONFIG_DIR={resume.config}", *words]
    return words
