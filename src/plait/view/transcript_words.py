"""Agents, folds, compactions and branches to the line that names them in any transcript."""

from plait.conversation.model import Compacted, Conversation, Folded, Told, Turn
from plait.graph.paths import SPOKEN
from plait.view.amounts import many, time_in_words
from plait.view.plain_text import short, when
from plait.view.spending import lasting
from plait.view.tellings import FOLDED
from plait.view.wording import plain_words

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
    took = time_in_words(lasting(agent))
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
