"""Trim sessions, and check what is left.

Whatever goes, every prompt of a person that was sent is still sent, each call that is sent has its
result as before, and trimming once more changes nothing.
"""

from collections import Counter
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

from conformance.edits.model import Case, Edited, Faults, Operation, Trial
from conformance.edits.operations import content_of, messages_of, texts_of, words_of
from conformance.model import Json, Message, Resumed
from plait.edit.trim import TrimChoice

KEPT = 60
"""Characters that are left of results that are cut."""
NOTE = 400
"""How long what says that something was cut may be."""
MACHINE = (
    "<task-notification>",
    "<system-reminder>",
    "<local-command-std",
    "<bash-std",
    "[Request interrupted",
    "Caveat:",
)
THOUGHTS = frozenset({"thinking", "redacted_thinking"})
CALLS = frozenset({"tool_use", "server_tool_use", "mcp_tool_use"})
NOT_SENT = ("progress", "snapshots", "request_logs")

Claim = Callable[[Edited], Faults]


def trimmed(case: Case, claim: Claim, *, in_place: bool = False, **wanted: Any) -> Trial | None:
    """Return the trial that takes something out of a session; None where there is none of it."""
    choice = TrimChoice(**wanted)
    plan = case.archive.plan.trim(case.file.stem, choice=choice, in_place=in_place)
    return Trial(plan, partial(left, choice, claim)) if plan.steps else None


def left(choice: TrimChoice, claim: Claim, edited: Edited) -> Faults:
    """Yield what is wrong with a session that was trimmed."""
    before, after = edited.case.before.client, edited.after.client
    if before.resumes and not after.resumes:
        yield "it does not resume any more"
    yield from unasked(edited)
    if unpaired(after.messages) - unpaired(before.messages):
        yield "calls and results are not of each other"
    if not choice.calls:  # they are gone, and whoever names them is told so
        again = edited.case.archive.plan.trim(edited.plan.session, choice=choice)
        if again.steps:
            yield f"it would be trimmed again: {[one.reason for one in again.changes][:3]}"
    yield from claim(edited)


def unasked(edited: Edited) -> Faults:
    """Yield what somebody asked that was sent before the edit, and is not sent now."""
    asked = {words for entry in messages_of(edited.case.file) for words in typed(entry)}
    if missing := lost(asked, *both(edited)):
        yield f"what was asked is no longer sent: {sorted(missing)[:3]}"


def lost(asked: set[str], before: Resumed, after: Resumed) -> list[str]:
    """Return what was asked and sent before, and is not sent as often now."""
    said = [list(words_of(one.messages)) for one in (before, after)]
    gone = (Counter(said[0]) - Counter(said[1])).keys() & asked
    return [words for words in gone if among(words, said[1]) < among(words, said[0])]


def both(edited: Edited) -> tuple[Resumed, Resumed]:
    """Return what the client made of a session before and after an edit."""
    return edited.case.before.client, edited.after.client


def typed(entry: Json) -> Iterator[str]:
    """Yield the texts of an entry that a person may have typed."""
    if not entry.get("isMeta") and not entry.get("isCompactSummary"):
        yield from (words for words in texts_of(entry) if not words.startswith(MACHINE))


def among(words: str, texts: list[str]) -> int:
    """Return how often words are said in some texts: messages in a row may be sent as one."""
    return sum(text.count(words) for text in texts)


def unpaired(messages: list[Message]) -> Counter[str]:
    """Return the calls without a result of their own, and the results without a call."""
    calls = Counter(block.get("id", "") for block in sent(messages) if is_call(block))
    results = Counter(block["tool_use_id"] for block in sent(messages) if "tool_use_id" in block)
    return (calls - results) + (results - calls)


def sent(messages: list[Message]) -> Iterator[Json]:
    """Yield all blocks of some messages."""
    for _, blocks in messages:
        yield from blocks


def is_call(block: Json) -> bool:
    """Whether a block is a call of a tool."""
    return block.get("type") in CALLS


def calls_in(messages: list[Message]) -> set[str]:
    """Return the ids of the calls in some messages."""
    return {str(block.get("id")) for block in sent(messages) if is_call(block)}


def blocks_of(edited: Edited) -> Iterator[Json]:
    """Yield the blocks of the log that an edit left, agents apart."""
    for entry in messages_of(edited.file):
        yield from listed(entry)


def nothing_else(_: Edited) -> Faults:
    """Claims nothing beside what is true of all that is trimmed."""
    return ()


def trim(case: Case) -> Trial | None:
    """The preset `standard`: what is sent is less, or what it takes was never sent."""
    return trimmed(case, nothing_else, preset="standard")


def extreme(case: Case) -> Trial | None:
    """The preset `extreme`, in place: prompts, and little else."""
    return trimmed(case, nothing_else, preset="extreme", in_place=True)


def removed(case: Case) -> Trial | None:
    """Some calls: they are gone with their results, and no other call is."""
    found = (one for entry in messages_of(case.file) for one in listed(entry) if is_call(one))
    ids = sorted({str(one["id"]) for one in found if one.get("id")})
    if not ids:
        return None
    some = tuple(one for one in ids if case.chance.random() < 0.5) or (ids[0],)
    return trimmed(case, partial(without_calls, some), calls=some)


def listed(entry: Json) -> list[Json]:
    """Return the blocks of an entry, none where it says nothing in blocks."""
    content = content_of(entry)
    return [one for one in content if isinstance(one, dict)] if isinstance(content, list) else []


def without_calls(gone: tuple[str, ...], edited: Edited) -> Faults:
    """Yield the calls that are still there, and those that should be."""
    had, has = (calls_in(one.messages) for one in both(edited))
    if kept := has & set(gone):
        yield f"calls are still sent: {sorted(kept)[:3]}"
    if lost := had - set(gone) - has:
        yield f"other calls are no longer sent: {sorted(lost)[:3]}"


def cut(case: Case) -> Trial | None:
    """All results cut to their first characters, in place: the calls are as they were."""
    return trimmed(case, short_results, tools=("*",), way="cut", keep=KEPT, in_place=True)


def emptied(case: Case) -> Trial | None:
    """All results emptied: the calls are as they were, and a line tells of each."""
    return trimmed(case, short_results, tools=("*",), way="empty")


def short_results(edited: Edited) -> Faults:
    """Yield the results that are still long, and the calls that are not what they were."""
    had, has = (calls_in(one.messages) for one in both(edited))
    if had != has:
        yield f"calls are not the same: {sorted(had ^ has)[:3]}"
    for block in sent(edited.after.client.messages):
        said = str(block.get("content", "")) if block.get("type") == "tool_result" else ""
        if len(said) > KEPT + NOTE and said not in str(edited.case.before.client.messages):
            yield f"a result of {len(said)} characters is left"


def unthinking(case: Case) -> Trial | None:
    """Without thoughts: none is left in the log, and words and calls are as they were."""
    return trimmed(case, without_thoughts, thinking=True)


def without_thoughts(edited: Edited) -> Faults:
    """Yield the thoughts that are left, and what else is gone."""
    if any(block.get("type") in THOUGHTS for block in blocks_of(edited)):
        yield "thoughts are left"
    said = [Counter(map(str, rest_of(one.messages))) for one in both(edited)]
    if said[0] != said[1]:
        yield f"more than thoughts went: {list((said[0] - said[1]).keys())[:2]}"


def rest_of(messages: list[Message]) -> Iterator[Json]:
    """Yield the blocks of some messages that are no thoughts."""
    return (block for block in sent(messages) if block.get("type") not in THOUGHTS)


def unpictured(case: Case) -> Trial | None:
    """Without pictures, in place: a text stands for each."""
    return trimmed(case, without_pictures, images=True, in_place=True)


def without_pictures(edited: Edited) -> Faults:
    """Yield the messages that are gone with their pictures."""
    had, has = (len(one.messages) for one in both(edited))
    if had != has:
        yield f"{had} messages became {has}"


def unnoted(case: Case) -> Trial | None:
    """Without what is never sent: the request is the same to the byte."""
    return trimmed(case, sends_the_same, **dict.fromkeys(NOT_SENT, True))


def sends_the_same(edited: Edited) -> Faults:
    """Yield whether the client sends anything else than before."""
    had, has = (one.messages for one in both(edited))
    if had != has:
        yield "what is sent is not the same"


def unrepeated(case: Case) -> Trial | None:
    """Without attachments, stale readings and repeated reminders, in place."""
    repeated = {"attachments": True, "rereads": True, "reminders": True}
    return trimmed(case, nothing_else, in_place=True, **repeated)


TRIMS: dict[str, Operation] = {
    "trim": trim,
    "extreme": extreme,
    "removed": removed,
    "cut": cut,
    "emptied": emptied,
    "unthinking": unthinking,
    "unpictured": unpictured,
    "unnoted": unnoted,
    "unrepeated": unrepeated,
}
