"""Questions about one session to their answers."""

from collections.abc import Iterator
from pathlib import Path

from msgspec.structs import replace
from starlette.exceptions import HTTPException
from starlette.requests import Request

from plait.archive.rawlines import raw_lines
from plait.conversation.depth import visible
from plait.conversation.model import Turn
from plait.graph.model import Account as GraphAccount
from plait.graph.paths import paths as paths_in
from plait.line import Finding
from plait.record.account import Account
from plait.view.changed_files import ChangedFiles, FileStory
from plait.view.timeline import bars_of, began
from plait.view.transcript.json_form import builtins, without_data
from plait.web.api import model, questions
from plait.web.api.sessions import file_item, line_item
from plait.web.looks import Look, look_at

MOST_FINDINGS = 1000


def conversation(request: Request, asked: questions.Talk) -> dict[str, object]:
    """Returns turns of a conversation; a depth leaves out what it does not show."""
    look = look_at(request)
    line = look.line(asked.line)
    part = line.turns[asked.offset : asked.offset + asked.limit]
    turns = tuple(turn_of(turn, asked) for turn in part)
    responses = {str(at): line.responses[at] for turn in turns for at in turn.responses}
    found = model.Talk(line_item(line, look.told), len(line.turns), asked.offset, turns, responses)
    value = builtins(found)
    return value if asked.data else without_data(value)


def turn_of(turn: Turn, asked: questions.Talk) -> Turn:
    """Returns a turn with what a depth shows of it."""
    if asked.depth == "all" and asked.thinking:
        return turn
    items = visible(turn.items, asked.depth, thinking=asked.thinking)
    return replace(turn, items=tuple(items))


def tree(request: Request, asked: questions.Nothing) -> model.Tree:
    """Returns a session as it is drawn."""
    look = look_at(request)
    return model.Tree(tuple(look.opened.rows) if look.opened.told else ())


def paths(request: Request, asked: questions.Nothing) -> model.Ways:
    """Returns the ways through a session."""
    return model.Ways(paths_in(look_at(request).graph))


def context(request: Request, asked: questions.Sight) -> model.Sight:
    """Returns what Claude will see of a session; messages in full where they are asked for."""
    look = look_at(request)
    has_file = look.session.file is not None
    every = look.resumption.context.request if asked.limit and has_file else []
    part = every[asked.offset : asked.offset + asked.limit]
    messages = tuple(
        model.Message(number, role, tuple(blocks))
        for number, (role, blocks) in enumerate(part, asked.offset + 1)
    )
    return model.Sight(look.weighed, messages)


def timeline(request: Request, asked: questions.Span) -> model.InTime:
    """Returns a conversation in time."""
    look = look_at(request)
    line = look.line(asked.line)
    turns = [one for one in line.turns if one.number == asked.turn]
    if asked.turn is not None and not turns:
        raise HTTPException(404, "there is no such turn")
    bars = tuple(bar for turn in turns for bar in bars_of(line, turn, began(line)))
    return model.InTime(look.timeline(line.id), bars)


def files(request: Request, asked: questions.Touched) -> ChangedFiles:
    """Returns what a session did to files; patches where they are asked for."""
    found = look_at(request).files
    part = found.files[asked.offset : asked.offset + asked.limit]
    shown = part if asked.patches else tuple(without_patches(one) for one in part)
    return ChangedFiles(files=shown, turns=())


def without_patches(one: FileStory) -> FileStory:
    """Returns a file's story without what changed in it."""
    bare = (replace(each, touch=replace(each.touch, patch=None)) for each in one.handled)
    return replace(one, handled=tuple(bare))


def usage(request: Request, asked: questions.Part) -> model.Taken:
    """Returns what a session took, and its responses."""
    found = look_at(request).spent
    return model.Taken(
        total=found.total,
        by_who=found.by_who,
        by_model=found.by_model,
        offset=asked.offset,
        responses=found.responses[asked.offset : asked.offset + asked.limit],
    )


def raw(request: Request, asked: questions.Lines) -> model.RawLines:
    """Returns lines of a file as they lie."""
    look = look_at(request)
    found = look.survey(asked.file)
    numbers = [number for number in found.numbers(asked.type) if number >= asked.start]
    return model.RawLines(
        file=file_item(asked.file, look.file(asked.file)),
        total=len(found),
        types=found.counts,
        lines=tuple(raw_lines(found, numbers[: asked.limit])),
    )


def findings(request: Request, asked: questions.Nothing) -> model.Health:
    """Returns the account of a session's lines and nodes, and what is odd in them."""
    look = look_at(request)
    account = Account()
    for file in look.session.files:
        account.add_file(file.path)
    account.findings.extend(graph_findings(look))
    return health(account, look.graph.account)


def graph_findings(look: Look) -> Iterator[Finding]:
    """Yields what is odd in a graph, with the files it is about."""
    for one in look.graph.findings:
        path = None if one.file is None else Path(look.graph.files[one.file].path)
        yield Finding(one.code, one.sentence, path, one.line, one.uuid)


def health(account: Account, graph: GraphAccount) -> model.Health:
    """Returns an account as it is answered."""
    return model.Health(
        files=account.files,
        bytes=account.bytes,
        lines=account.lines,
        records=account.records,
        blank=account.blank,
        broken=account.broken,
        recovered=account.recovered,
        is_balanced=account.is_balanced,
        types=dict(account.types),
        versions=dict(account.versions),
        nodes=graph.nodes,
        inline=graph.inline,
        folded=sum(graph.folded.values()),
        tool_results=graph.tool_results,
        tool_results_orphaned=graph.tool_results_orphaned,
        is_graph_balanced=graph.balanced,
        findings=tuple(finding_item(one) for one in account.findings[:MOST_FINDINGS]),
        finding_count=len(account.findings),
    )


def finding_item(one: Finding) -> model.FindingItem:
    """Returns something odd as it is answered."""
    return model.FindingItem(
        code=one.code,
        sentence=one.sentence,
        file=str(one.path) if one.path else None,
        line=one.line,
        uuid=one.uuid,
    )
