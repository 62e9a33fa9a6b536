"""Names that users type: which session, branch, turn or record they mean.

A name that matches none or several raises an error that lists the choices.
"""

import re
from collections.abc import Callable, Iterator, Sequence
from datetime import datetime
from pathlib import Path
from shlex import quote
from typing import TYPE_CHECKING

from plait.errors import AmbiguousSession, NoSuchSession, UserError
from plait.line import make_project_slug
from plait.record.prompts import collapse_whitespace
from plait.record.time import parse_time
from plait.sessions.discovery import LIST_SESSIONS, check_log
from plait.sessions.model import Facts, Session
from plait.view.text import shorten_to_width

if TYPE_CHECKING:
    from plait.conversation.model import Conversation, Conversations, Turn
    from plait.graph import SessionGraph
    from plait.sessions.open_session import OpenSession


LATEST = "latest"
LIST_PROJECTS = "`plait ls` lists your projects"
AGENT_PREFIX = "agent-"
MAX_LISTED = 6
AGENT_KINDS = ("agent", "service")
KINDS = ("trunk", "branch", "foreign", "agent", "service")
NUMBER = re.compile(r"-?\d{1,5}")
RECORD = re.compile(r"[0-9a-fA-F-]{6,36}")
"""A prefix of a record id long enough not to be typed by accident."""


# ---------------------------------------------------------------------- sessions and projects


def resolve_session(
    name: str,
    sessions: Sequence[Session],
    read_facts: Callable[[Session], Facts],
    directory: Path | None,
    project_of: Callable[[str], str] = str,
) -> Session:
    """Return the session with a name.

    A name is `.` for the newest of a directory, `latest` or `latest:PROJECT`, an id or its
    beginning, a title or a part of one.
    """
    if not sessions:
        raise NoSuchSession(f"no session '{name}': no sessions found")
    if not name.strip():
        raise NoSuchSession("the session name is empty", LIST_SESSIONS)
    if name == ".":
        slug = make_project_slug(str(directory.resolve())) if directory else None
        found = [session for session in sessions if session.project == slug]
        if not found:
            raise NoSuchSession(f"no session was started in '{directory}'", LIST_PROJECTS)
        return max(found, key=lambda session: session.modified)
    if name == LATEST or name.startswith(f"{LATEST}:"):
        project = name.partition(":")[2]
        found = [
            session for session in sessions if matches_project(session.project, project, project_of)
        ]
        if not found:
            raise NoSuchSession(f"no project named '{project}'", LIST_PROJECTS)
        return max(found, key=lambda session: session.modified)

    wanted = name.casefold()
    ids = [(session.id.casefold(), session) for session in sessions]
    found = [session for id_, session in ids if id_ == wanted]
    found = found or [session for id_, session in ids if id_.startswith(wanted)]
    if not found:
        titles = [((read_facts(session).title or "").casefold(), session) for session in sessions]
        found = [session for title, session in titles if title == wanted]
        found = found or [session for title, session in titles if wanted in title]
    if len(found) == 1:
        return found[0]
    if found:
        newest = sorted(found, key=lambda session: -session.modified)[:2]
        labels = [_format_label(read_facts(session)) for session in newest]
        if len(set(labels)) < len(labels):  # only their paths differ
            labels = [f"'{session.path}'" for session in newest]
        raise AmbiguousSession(
            f"'{name}' matches {len(found)} sessions", f"the newest are {' and '.join(labels)}"
        )
    check_log(Path(name))
    hint = _suggest_sessions(name, [read_facts(session) for session in sessions])
    raise NoSuchSession(f"no session named '{name}'", hint)


def matches_project(folder: str, name: str, project_of: Callable[[str], str] = str) -> bool:
    """Return whether a folder or its project matches a path, a slug, or a part of one."""
    wanted = make_project_slug(name).casefold()
    return wanted in folder.casefold() or wanted in project_of(folder).casefold()


def _suggest_sessions(name: str, facts: Sequence[Facts]) -> str:
    from difflib import get_close_matches

    names = {fact.session: fact for fact in facts} | {fact.title or "": fact for fact in facts}
    matches = get_close_matches(name, names, n=2, cutoff=0.5)
    labels = dict.fromkeys(_format_label(names[match]) for match in matches)
    return "closest: " + " and ".join(labels) if labels else LIST_SESSIONS


def _format_label(fact: Facts) -> str:
    parts = [f"'{fact.title[:40]}'" if fact.title else "", (fact.ended or "")[:10]]
    details = ", ".join(filter(None, parts))
    return f"{fact.session[:8]} ({details})" if details else fact.session[:8]


# ---------------------------------------------------------------------- branches


def resolve_conversation(conversations: "Conversations", name: str | None) -> "Conversation":
    """Return the conversation with a name; the active one without a name."""
    if name is None:
        return conversations.active
    matches = _match_names(conversations, name)
    if len(matches) == 1:
        return conversations.by_line[matches[0]]
    problem = (
        f"'{name}' matches {len(matches)} branches" if matches else f"no branch named '{name}'"
    )
    every_name = _list_names(conversations)
    names = matches or every_name
    if len(names) == 1:
        only = describe_conversation(conversations.by_line[names[0]])
        raise UserError(problem, f"the only one is {only}")
    parts = [
        f"{every_name.index(name) + 1}: {describe_conversation(conversations.by_line[name])}"
        for name in names[:MAX_LISTED]
    ]
    more = len(names) - len(parts)
    raise UserError(
        problem, f"the branches are {'; '.join(parts)}" + (f"; {more} more" if more else "")
    )


def _match_names(conversations: "Conversations", name: str) -> list[str]:
    names = _list_names(conversations)
    if name in conversations.by_line:
        return [name]
    if name.isdigit() and 1 <= int(name) <= len(names):
        return [names[int(name) - 1]]
    return [known for known in names if shorten_name(known).startswith(shorten_name(name))]


def _list_names(conversations: "Conversations") -> list[str]:
    """Return the ids of all conversations in the order of their numbers, the active one first."""
    others = [line for line in conversations.by_line.values() if line.id != conversations.main]
    others.sort(key=lambda line: KINDS.index(line.kind))
    return [conversations.main, *(line.id for line in others)]


def shorten_name(name: str) -> str:
    """Return the part of a conversation's id that distinguishes it from the others."""
    return name.rpartition("@")[2].rpartition("#")[2].removeprefix(AGENT_PREFIX)


def describe_conversation(conversation: "Conversation") -> str:
    """Return a conversation in a few words."""
    if conversation.kind == "trunk":
        return "the trunk"
    from plait.view.summaries import format_prompt

    label = format_prompt(conversation.label or conversation.title or "")
    words = shorten_to_width(collapse_whitespace(label), 32)
    name = f"{conversation.kind} {shorten_name(conversation.id)}"
    return f"{name} “{words}”" if words else name


def find_branch_start(opened: "OpenSession", record: str) -> str | None:
    """Return the first record of the branch that a record is on; None on the main line."""
    lines = (opened.graph.lines[name] for name in opened.by_line if name in opened.graph.lines)
    for line in lines:
        if line.kind == "branch" and record in line.nodes:
            return line.nodes[0]
    return None


# ---------------------------------------------------------------------- records and turns


def resolve_tip(opened: "OpenSession", name: str) -> str:
    """Return the last record of a named branch, or the named record."""
    if not _match_names(opened.conversations, name) and (record := resolve_record(opened, name)):
        return record
    conversation = resolve_conversation(opened.conversations, name)
    if conversation.kind in AGENT_KINDS:
        raise UserError(f"'{name}' is a sub-agent: a session cannot continue from one")
    return opened.graph.lines[conversation.id].nodes[-1]


def resolve_record(opened: "OpenSession", name: str) -> str | None:
    """Return the record of the session's own log with this id or prefix."""
    uuids = dict.fromkeys(record.uuid for record in opened.client_records if record.uuid)
    if name in uuids:
        return name
    if not RECORD.fullmatch(name):
        return None
    matches = [uuid for uuid in uuids if uuid.startswith(name.lower())]
    if len(matches) > 1:
        raise UserError(f"{len(matches)} records start with '{name}'", "type more of the id")
    return matches[0] if matches else None


def resolve_place(opened: "OpenSession", name: str | int | None, *, is_before: bool = False) -> str:
    """Return the record for a turn number, a record id or the words of a prompt.

    For a turn that is the last message that follows its prompt: notes shown in the turn may be
    attached elsewhere. With `is_before`, which means the place before the turn, it is its first
    message. Without a name it is the last message of the session.
    """
    text = "-1" if name is None else str(name).strip()
    if not NUMBER.fullmatch(text) and (record := resolve_record(opened, text)) is not None:
        return _find_first_record(opened, record) if is_before else record
    turn = (
        _find_turn_by_number(opened, int(text))
        if NUMBER.fullmatch(text)
        else _find_turn_by_prompt(opened, text)
    )
    records: list[str] = []
    from plait.conversation.model import (
        AssistantText,
        AssistantThinking,
        LateResult,
        OtherBlock,
        ToolCall,
        UserMessage,
    )

    messages = LateResult | ToolCall | AssistantText | OtherBlock | AssistantThinking
    for item in turn.items:
        is_prompt = isinstance(item, UserMessage) and item.kind != "summary"
        if item.uuid and (is_prompt or isinstance(item, messages)):
            records.append(item.uuid)
        if isinstance(item, ToolCall) and item.answered_by:
            records.append(item.answered_by)
    if not records:
        raise UserError(f"turn {turn.number} has no message: a session cannot continue from it")
    if is_before:
        return records[0]
    following = (uuid for uuid in reversed(records) if _follows(opened.graph, uuid, records[0]))
    return records[-1] if name is None else next(following, records[-1])


def _follows(graph: "SessionGraph", uuid: str | None, first: str) -> bool:
    seen: set[str] = set()
    while uuid and uuid in graph.nodes and uuid not in seen:
        if uuid == first:
            return True
        seen.add(uuid)
        uuid = graph.edge_of(uuid).parent
    return False


def resolve_turn(opened: "OpenSession", name: str | int, branch: str | None = None) -> "Turn":
    """Return the turn with this number, record or prompt."""
    text = str(name).strip()
    if NUMBER.fullmatch(text):
        return _find_turn_by_number(opened, int(text), branch)
    record = resolve_record(opened, text)
    if record is None:
        return _find_turn_by_prompt(opened, text)
    for conversation in opened.conversations.by_line.values():
        for turn in conversation.turns:
            if turn.number and record in _iter_records(turn):
                return turn
    raise UserError(f"record '{record}' does not belong to a turn", _make_turns_hint(opened))


def _find_turn_by_number(opened: "OpenSession", number: int, branch: str | None = None) -> "Turn":
    conversation = resolve_conversation(opened.conversations, branch)
    turns = {turn.number: turn for turn in conversation.turns if turn.number}
    turn = turns.get(number if number >= 0 else len(turns) + 1 + number)
    if turn is None:
        count = f"{len(turns)} turn" + "s" * (len(turns) != 1)
        raise UserError(f"no turn {number}: the conversation has {count}", _make_turns_hint(opened))
    return turn


def _find_turn_by_prompt(opened: "OpenSession", words: str) -> "Turn":
    """Return the turn whose prompt equals, else begins with, else contains a text."""
    wanted = collapse_whitespace(words).casefold()
    conversations = opened.conversations
    active = conversations.active
    lines = [active, *(line for line in conversations.by_line.values() if line is not active)]
    prompts = [
        (collapse_whitespace(turn.prompt).casefold(), turn)
        for line in lines
        if line.kind not in AGENT_KINDS
        for turn in line.turns
        if turn.prompt and wanted
    ]
    for matches_prompt in (str.__eq__, str.startswith, str.__contains__):
        matches = [turn for prompt, turn in prompts if matches_prompt(prompt, wanted)]
        if len(matches) == 1:
            return matches[0]
        if matches:
            raise UserError(f"{len(matches)} prompts match '{words}'", _make_turns_hint(opened))
    raise UserError(f"no record, turn or prompt matches '{words}'", _make_turns_hint(opened))


def _make_turns_hint(opened: "OpenSession") -> str:
    name = quote(opened.session.id[:8])
    return f"`plait log {name}` shows the turns, `plait show {name} --raw` the records"


def _find_first_record(opened: "OpenSession", record: str) -> str:
    for conversation in opened.conversations.by_line.values():
        for turn in conversation.turns:
            if turn.number and record in (records := [*_iter_records(turn)]):
                return records[0]
    return record


def _iter_records(turn: "Turn") -> Iterator[str]:
    from plait.conversation.model import FoldedItems, ToolCall

    waiting = list(reversed(turn.items))
    while waiting:
        item = waiting.pop()
        if item.uuid:
            yield item.uuid
        if isinstance(item, ToolCall) and item.answered_by:
            yield item.answered_by
        if isinstance(item, FoldedItems):
            waiting += reversed(item.items)


def is_in_project(row: Facts, project: str, project_of: Callable[[str], str] = str) -> bool:
    """Return whether a session belongs to a project, by name, folder or directory."""
    directory = (row.cwd or "").casefold()
    return matches_project(row.project, project, project_of) or project.casefold() in directory


def is_in_period(row: Facts, start: datetime | None, end: datetime | None) -> bool:
    """Return whether a session overlaps a period."""
    started, ended = parse_time(row.started), parse_time(row.ended)
    if start and not (ended and ended >= start):
        return False
    return not end or bool(started and started < end)
