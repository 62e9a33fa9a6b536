"""What a transcript says of itself: the header, the facts, the contents, the names of its parts."""

import json
from collections.abc import Callable, Collection, Iterator
from typing import TypeAlias

from plait.conversation.model import Compacted, Conversation, Folded, Left, Told, Turn
from plait.conversation.totals import Totals
from plait.graph.paths import SPOKEN
from plait.view.amounts import many, money_in_words, time_in_words, tokens_in_words
from plait.view.costs import working_time
from plait.view.passages.entries import FOLDED
from plait.view.text import clean, short, when
from plait.view.transcript.markdown_text import anchor, code, phrase
from plait.view.transcript.model import Heading, Manner, Transcript, seen_items
from plait.view.words import plain_words

THOUSAND = 1000
MOST = 100


def agent_words(agent: Conversation, *, is_called: bool = True) -> str:
    """Returns an agent in a line: what it was to do, how long that took."""
    if agent.kind in SPOKEN:
        return "Recovered from broken lines"
    name = agent.agent or agent.id.rpartition("#")[2]
    label = agent.label or agent.title or ""
    who = "Agent" if agent.kind == "agent" else "Service agent"
    is_lost = not is_called and agent.kind == "agent"
    first = f"{who} {name} (no call names it)" if is_lost else f"{who} {name}"
    words = f": {short(plain_words(label), MOST)}" if label else ""
    took = time_in_words(working_time(agent))
    return f"{first}{words}" + (f" · {took}" if took else "")


def fold_words(fold: Folded) -> str:
    """Returns folded records in a line: why they are, and what was said."""
    reason = FOLDED.get(fold.reason, fold.reason)
    told = next((one for one in fold.items if isinstance(one, Told) and one.text), None)
    return f"{reason}: {short(told.text, MOST) if told else many(len(fold.items), 'item')}"


def compaction_words(compacted: Compacted) -> str:
    """Returns the label of a compaction: how large the conversation was, and when."""
    label = short(compacted.text, MOST) or "Conversation compacted"
    size = compacted.pre_tokens
    if size and size > 0:
        label += f" ({size // THOUSAND}k tokens)" if size >= THOUSAND else f" ({size} tokens)"
    time = when(compacted.time)
    return f"{label} • {time}" if time else label


def turn_words(turn: Turn) -> str:
    """Returns what a turn is about: the words it was opened with."""
    opener = turn.opener
    if opener is None:
        return "(goes on)"
    if opener.kind == "command":
        return f"{opener.name or ''} {opener.arguments or ''}".strip() or opener.text
    if opener.kind == "bash":
        return f"! {opener.text}"
    if opener.text.strip():
        return opener.text
    return ", ".join(one.kind for one in opener.enclosures) or f"({opener.kind})"


def first_uuid(conversation: Conversation | None) -> str | None:
    """Returns the first record of a conversation that somebody typed."""
    if conversation is None:
        return None
    typed = (item for item in conversation.items() if isinstance(item, Told) and item.is_typed)
    return next((item.uuid for item in typed), None)


COMPACTED = "**Contains Compact Operation(s)** - Full conversation including compacted segments"
TITLE_LENGTH = 80
LinkTo: TypeAlias = Callable[[str, str | None], str]
"""The name of a transcript and an anchor in it to where a link leads."""


def heading(transcript: Transcript, link_to: LinkTo) -> Iterator[str]:
    """Yields the header and a table of facts."""
    yield "# CLAUDE CODE SESSION TRANSCRIPT"
    yield "\n".join(_header_lines(transcript.heading))
    rows = [f"| {name} | {value} |" for name, value in _facts_of(transcript, link_to) if value]
    yield "\n".join(["| | |", "|---|---|", *rows])


def _header_lines(head: Heading) -> Iterator[str]:
    yield f"Session ID: {phrase(head.session)}"
    yield f"Path: {head.path} of {head.of}"
    yield f"Status: {head.status}"
    if head.status == "ABANDONED" and head.fork_point:
        yield f"Fork Point: {phrase(head.fork_point)}"
    if head.compactions:
        yield COMPACTED
    yield f"Total Messages: {head.messages}"


def _facts_of(transcript: Transcript, link_to: LinkTo) -> Iterator[tuple[str, str]]:
    head, totals = transcript.heading, transcript.heading.totals
    yield "Title", phrase(head.title or "")
    yield "Project", phrase(head.project or "")
    yield "Directory", _cell_code(head.directory)
    yield "Git branch", _cell_code(head.branch)
    yield "Models", phrase(", ".join(head.models))
    yield "Claude Code", phrase(", ".join(head.versions))
    yield "Time", phrase(span(head))
    yield "Turns", phrase(counts(head))
    yield "Tokens", phrase(tokens(totals))
    yield "Cost", phrase(cost(totals))
    yield "Branch", _backlink(transcript, link_to)
    yield "Resume", _cell_code(head.resume)


def _cell_code(text: str | None) -> str:
    return code(clean(text)).replace("|", "\\|") if text else ""


def span(head: Heading) -> str:
    """Returns when a conversation took place."""
    first, last = when(head.started), when(head.ended)
    if not first:
        return ""
    return f"{first} UTC" if first == last else f"{first} to {last} UTC"


def counts(head: Heading) -> str:
    """Returns how much was said and done, by agents too."""
    totals = head.totals
    parts = [many(head.turns, "turn"), many(totals.responses, "answer")]
    parts += [many(totals.calls, "call")] if totals.calls else []
    agents = totals.conversations - 1
    parts += [many(agents, "agent")] if agents > 0 else []
    took = time_in_words(totals.working_ms)
    return ", ".join(parts) + (f"; {took} at work" if took else "")


def tokens(totals: Totals) -> str:
    """Returns the tokens that were read and written."""
    if not totals.tokens.total:
        return ""
    read, cached = totals.tokens.total_input, totals.tokens.cache_read
    share = f" ({tokens_in_words(cached)} of them from the cache)" if cached else ""
    return f"{tokens_in_words(read)} in{share}, {tokens_in_words(totals.tokens.output)} out"


def cost(totals: Totals) -> str:
    """Returns what it cost by list prices, and what has no price."""
    if totals.cost_usd is None or not totals.tokens.total:
        return ""
    unpriced = ", ".join(totals.unpriced)
    if unpriced and not totals.cost_usd:
        return f"no price is known for {unpriced}"
    rest = f", without {unpriced}" if unpriced else ""
    return f"{money_in_words(totals.cost_usd)} by list prices{rest}"


def _backlink(transcript: Transcript, link_to: LinkTo) -> str:
    conversation = transcript.conversation
    above = transcript.by_line.get(conversation.parent or "")
    if above is None or not conversation.attachment or conversation.kind in ("agent", "service"):
        return ""
    at = f"message {code(clean(conversation.attachment))}"
    name = transcript.names.get(above.id)
    link = None
    if name and name != transcript.name:
        link = f"[{phrase(name)}]({link_to(name, conversation.attachment)})"
    if above.session == conversation.session:
        return f"leaves {link or 'the other path'} at {at}"
    session = f"session {phrase(above.session)}"
    return f"continues from {at} in {session}" + (f": {link}" if link else "")


def contents(transcript: Transcript, manner: Manner) -> Iterator[str]:
    """Yields the list of turns with their landmarks, folded."""
    turns = [turn for turn in transcript.conversation.turns if turn.number]
    if len(turns) < 2:
        return
    lines = [line for turn in turns for line in _content_lines(turn, manner, transcript.way)]
    yield f"<details>\n<summary>Contents: {many(len(turns), 'turn')}</summary>"
    yield "\n".join(lines)
    yield "</details>"


def _content_lines(turn: Turn, manner: Manner, way: Collection[str]) -> Iterator[str]:
    if not any(seen_items((item,), manner) for item in turn.items):
        return
    yield f"- [{turn.number} · {phrase(short(turn_words(turn), TITLE_LENGTH))}](#{turn_name(turn)})"
    for item in turn.items:
        if isinstance(item, Compacted):
            words = f"📦 {phrase(compaction_words(item))}"
            yield f"  - [{words}](#{anchor(item.uuid)})" if item.uuid else f"  - {words}"
        elif isinstance(item, Left) and item.to not in way:
            yield f"  - ↳ {phrase(short(item.label or item.to, TITLE_LENGTH))}"


def turn_name(turn: Turn) -> str:
    """Returns the anchor of a turn."""
    return f"turn-{turn.number}"


def agent_heading(transcript: Transcript, link_to: LinkTo) -> Iterator[str]:
    """Yields the header of an agent's own file."""
    head, agent = transcript.heading, transcript.conversation
    yield "# CLAUDE CODE AGENT TRANSCRIPT"
    yield f"Session ID: {phrase(head.session)}\nAgent: {phrase(agent_words(agent))}"
    above = transcript.names.get(agent.parent or "")
    rows = [
        ("Sent out by", f"[{phrase(above)}]({link_to(above, None)})" if above else ""),
        ("Time", phrase(span(head))),
        ("Turns", phrase(counts(head))),
        ("Tokens", phrase(tokens(head.totals))),
    ]
    yield "\n".join(["| | |", "|---|---|", *(f"| {name} | {v} |" for name, v in rows if v)])


def front_matter(transcript: Transcript) -> str:
    """Returns the facts as YAML, for programs that keep notes."""
    head = transcript.heading
    values: dict[str, object] = {
        "title": head.title or head.session,
        "session": head.session,
        "path": head.path,
        "of": head.of,
        "status": head.status.lower(),
        "project": head.project,
        "date": when(head.started)[:10] or None,
        "started": head.started,
        "ended": head.ended,
        "messages": head.messages,
        "models": list(head.models),
        "cost_usd": None if head.totals.cost_usd is None else round(head.totals.cost_usd, 4),
        "tags": ["claude-code"],
    }
    lines = [f"{name}: {json.dumps(_scrubbed(value))}" for name, value in values.items() if value]
    return "\n".join(["---", *lines, "---"])


def _scrubbed(value: object) -> object:
    if isinstance(value, list):
        return [_scrubbed(one) for one in value]
    return clean(value) if isinstance(value, str) else value
