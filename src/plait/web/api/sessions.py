"""Questions about one session to their answers."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from msgspec.structs import replace
from starlette.exceptions import HTTPException

from plait.conversation.model import Conversation, Conversations, Turn
from plait.conversation.totals import totals_over
from plait.conversation.walk import visible
from plait.graph.model import SessionGraph
from plait.graph.paths import paths as paths_in
from plait.line import Finding, LogFile
from plait.record.account import Account
from plait.view.changed_files import ChangedFiles, FileStory
from plait.view.timeline import bars_of, began
from plait.view.transcript.json_form import builtins, without_data
from plait.web.answers import filled
from plait.web.api import model, questions
from plait.web.api.archive import health, session_item
from plait.web.requests import SessionRequest


def session(look: SessionRequest, asked: questions.Nothing) -> model.SessionFacts:
    """Returns a session with its conversations, its files and its totals."""
    state = look.library.now
    facts = state.facts.get(look.session.path) or state.archive.facts(look.session)
    told = look.opened.told
    lines = told.by_line.values() if told else ()
    return model.SessionFacts(
        session_item(look.name, facts),
        told.main if told else None,
        tuple(_line_item(one, told) for one in lines),
        tuple(_file_item(at, file) for at, file in enumerate(look.session.files)),
        totals_over(lines, look.library.prices),
    )


def _line_item(one: Conversation, told: Conversations | None) -> model.LineItem:
    is_main = told is not None and one.id == told.main
    turns, responses = len(one.turns), len(one.responses)
    return filled(model.LineItem, one, is_main=is_main, turns=turns, responses=responses)


def _file_item(number: int, file: LogFile) -> model.FileItem:
    return filled(model.FileItem, file, number=number, path=str(file.path))


def conversation(look: SessionRequest, asked: questions.Talk) -> Any:
    """Returns turns of a conversation; a depth leaves out what it does not show."""
    line = look.opened.line(asked.line)
    part = line.turns[asked.offset : asked.offset + asked.limit]
    turns = tuple(_turn_of(turn, asked) for turn in part)
    responses = {str(at): line.responses[at] for turn in turns for at in turn.responses}
    item = _line_item(line, look.opened.told)
    value = builtins(model.Talk(item, len(line.turns), asked.offset, turns, responses))
    return value if asked.data else without_data(value)


def _turn_of(turn: Turn, asked: questions.Talk) -> Turn:
    if asked.depth == "all" and asked.thinking:
        return turn
    items = visible(turn.items, asked.depth, thinking=asked.thinking)
    return replace(turn, items=tuple(items))


def tree(look: SessionRequest, asked: questions.Nothing) -> model.Tree:
    """Returns a session as it is drawn."""
    return model.Tree(tuple(look.opened.opened.rows) if look.opened.told else ())


def paths(look: SessionRequest, asked: questions.Nothing) -> model.Ways:
    """Returns the ways through a session."""
    return model.Ways(paths_in(look.opened.opened.graph))


def context(look: SessionRequest, asked: questions.Sight) -> model.Sight:
    """Returns what Claude will see of a session; messages in full where they are asked for."""
    has_file = look.session.file is not None
    every = look.opened.resumption.context.request if asked.limit and has_file else []
    part = every[asked.offset : asked.offset + asked.limit]
    messages = tuple(
        model.Message(number, role, tuple(blocks))
        for number, (role, blocks) in enumerate(part, asked.offset + 1)
    )
    return model.Sight(look.opened.weighed, messages)


def timeline(look: SessionRequest, asked: questions.Span) -> model.InTime:
    """Returns a conversation in time."""
    line = look.opened.line(asked.line)
    turns = [one for one in line.turns if one.number == asked.turn]
    if asked.turn is not None and not turns:
        raise HTTPException(404, "there is no such turn")
    bars = tuple(bar for turn in turns for bar in bars_of(line, turn, began(line)))
    return model.InTime(look.opened.timeline(line.id), bars)


def files(look: SessionRequest, asked: questions.Touched) -> ChangedFiles:
    """Returns what a session did to files; patches where they are asked for."""
    part = look.opened.files.files[asked.offset : asked.offset + asked.limit]
    shown = part if asked.patches else tuple(_without_patches(one) for one in part)
    return ChangedFiles(files=shown, turns=())


def _without_patches(one: FileStory) -> FileStory:
    bare = (replace(each, touch=replace(each.touch, patch=None)) for each in one.handled)
    return replace(one, handled=tuple(bare))


def usage(look: SessionRequest, asked: questions.Part) -> model.Taken:
    """Returns what a session took, and its responses."""
    found = look.opened.spent
    part = found.responses[asked.offset : asked.offset + asked.limit]
    return filled(model.Taken, found, offset=asked.offset, responses=part)


def raw(look: SessionRequest, asked: questions.Lines) -> model.RawLines:
    """Returns lines of a file as they lie."""
    found = look.survey(asked.file)
    numbers = [number for number in found.numbers(asked.type) if number >= asked.start]
    return model.RawLines(
        file=_file_item(asked.file, look.file(asked.file)),
        total=len(found),
        types=found.counts,
        lines=tuple(found.lines(numbers[: asked.limit])),
    )


def findings(look: SessionRequest, asked: questions.Nothing) -> model.Health:
    """Returns the account of a session's lines and nodes, and what is odd in them."""
    account, graph = Account(), look.opened.opened.graph
    for file in look.session.files:
        account.add_file(file.path)
    account.findings.extend(_graph_findings(graph))
    return health(account, graph.account)


def _graph_findings(graph: SessionGraph) -> Iterator[Finding]:
    for one in graph.findings:
        path = None if one.file is None else Path(graph.files[one.file].path)
        yield Finding(one.code, one.sentence, path, one.line, one.uuid)
